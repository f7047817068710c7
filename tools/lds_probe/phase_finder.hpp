// SPDX-License-Identifier: MIT
// Finds out from times alone which lanes an LDS instruction serves together and how many banks it sees.
#pragma once

#include <tilewright/core/lds/bank_conflicts.hpp>

#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace lds_probe {

using tilewright::index_t;
using tilewright::lds_addresses;
namespace arch = tilewright::arch;

/// Cycles of the LDS that one wave's instruction takes, for each pattern of addresses;
/// lanes with a negative one are inactive.
using stopwatch = std::function<std::vector<double>(const std::vector<lds_addresses>&)>;

/// What was found, or why nothing was.
struct finding {
  std::string problem;  // empty: everything below is consistent
  arch::lds_phases phases;
  index_t banks = 0;
  double unit = 0;               // clocks for each further word of a bank
  double clocks = 0;             // of an instruction without conflicts
  double worst_deviation = 0;    // of random patterns' times from what the row says, in units
  bool same_word_merges = true;  // lanes that touch one word cost as much as one lane
  /// Sets of lane bits, as masks, with this property: where lanes that differ in no other bit share an address, an
  /// instruction takes less than its phases one after another. With the words that it takes then.
  std::vector<std::pair<index_t, double>> merging;
};

/// Lanes as "0-3,20-23".
inline std::string lane_list(unsigned long long lanes) {
  std::string text;
  for (int first = 0; first < 64; ++first) {
    if (!(lanes >> first & 1)) continue;
    int last = first;
    while (last < 63 && lanes >> (last + 1) & 1) ++last;
    text += (text.empty() ? "" : ",") + std::to_string(first) + (last > first ? "-" + std::to_string(last) : "");
    first = last;
  }
  return text;
}

class phase_finder {
 public:
  /// Addresses are multiples of `pitch`: the bytes of a lane's access, rounded up to a power of two and to a bank's.
  /// needs_whole_wave: no lane may be inactive.
  phase_finder(index_t wave_size, index_t bytes, bool writes, bool needs_whole_wave, stopwatch time)
      : wave_(wave_size), bytes_(bytes), writes_(writes), needs_whole_wave_(needs_whole_wave), time_(std::move(time)) {
    while (pitch_ < bytes) pitch_ *= 2;
  }

  finding run() {
    try {
      find_unit();
      find_phases();
      find_banks();
      find_merging();
      check_random_patterns();
    } catch (const std::runtime_error& e) {
      found_.problem = e.what();
    }
    return found_;
  }

 private:
  // Far enough apart for the same bank whatever the number of banks, as long as it is a power of two up to 256.
  static constexpr index_t far = 1024;

  [[noreturn]] static void give_up(const std::string& why) { throw std::runtime_error(why); }

  lds_addresses each_lane(const std::function<index_t(index_t)>& address_of) const {
    lds_addresses pattern{};
    for (index_t lane = 0; lane < pattern.size(); ++lane) pattern[lane] = lane < wave_ ? address_of(lane) : -1;
    return pattern;
  }

  /// Lanes i and j at the given places and all others where they disturb neither: in one row of banks, in chunks whose
  /// numbers are no powers of two. Neighbours in any bit of the lane id differ, so that nothing looks like a broadcast.
  lds_addresses pair(index_t i, index_t j, index_t at_i, index_t at_j) const {
    constexpr index_t quiet[] = {3, 5, 6, 7};
    return each_lane([&](index_t lane) {
      if (lane == i) return at_i;
      if (lane == j) return at_j;
      return sparse_ ? -1 : quiet[(lane + (lane >> 2) + (lane >> 4)) & 3] * pitch_;
    });
  }

  void find_unit() {
    const auto one_bank = each_lane([](index_t lane) { return lane * far; });
    const auto one_word = each_lane([](index_t) { return 0; });
    const auto in_a_row = each_lane([&](index_t lane) { return lane * pitch_; });
    const std::vector<double> t = time_({one_bank, one_word, in_a_row});
    found_.unit = t[0] / wave_;
    found_.clocks = t[2];
    if (!(found_.unit > 0) || t[0] < 4 * t[2])
      give_up("all lanes in one bank take no longer than lanes in a row: the times do not show the LDS at work");
    found_.same_word_merges = t[1] < t[2] + found_.unit * 0.5;
    // Else the lanes that should not disturb do, and must be inactive.
    sparse_ = !found_.same_word_merges;
    if (sparse_ && needs_whole_wave_)
      give_up(
          "lanes that touch one word do not merge, and none may be inactive: no pair of lanes can be told from the "
          "others");
  }

  /// 0 or 1 word more than without a conflict.
  bool is_conflict(double slow, double quick, const std::string& what) const {
    const double words = (slow - quick) / found_.unit;
    if (std::fabs(words) < 0.3) return false;
    if (std::fabs(words - 1) < 0.3) return true;
    give_up(what + " costs " + std::to_string(words) + " words more than without a conflict, neither 0 nor 1");
  }

  void find_phases() {
    std::vector<lds_addresses> patterns;
    for (index_t i = 0; i < wave_; ++i) {
      for (index_t j = i + 1; j < wave_; ++j) {
        patterns.push_back(pair(i, j, far, 2 * far));
        patterns.push_back(pair(i, j, far, 2 * far + pitch_));
      }
    }
    const std::vector<double> t = time_(patterns);
    std::vector<unsigned long long> with(std::size_t(wave_), 0);
    std::size_t n = 0;
    for (index_t i = 0; i < wave_; ++i) {
      with[std::size_t(i)] |= 1ull << i;
      for (index_t j = i + 1; j < wave_; ++j, n += 2) {
        if (!is_conflict(t[n], t[n + 1], "lane " + std::to_string(i) + " with lane " + std::to_string(j))) continue;
        with[std::size_t(i)] |= 1ull << j;
        with[std::size_t(j)] |= 1ull << i;
      }
    }
    // Together-ness must be an equivalence, and the groups cosets of one subspace.
    for (index_t i = 0; i < wave_; ++i) {
      for (index_t j = 0; j < wave_; ++j) {
        if ((with[std::size_t(i)] >> j & 1) && with[std::size_t(i)] != with[std::size_t(j)])
          give_up("lane " + std::to_string(i) + " is served with " + lane_list(with[std::size_t(i)]) + ", but lane " +
                  std::to_string(j) + " with " + lane_list(with[std::size_t(j)]));
      }
    }
    arch::lds_phases& phases = found_.phases;
    phases.wave_size = wave_;
    index_t dimensions = 0;
    unsigned long long spanned = 1;
    const auto extend = [&](index_t bit) {
      phases.lane_bit[dimensions++] = bit;
      for (index_t lane = 0; lane < 64; ++lane) {
        if ((spanned >> lane & 1) && !(spanned >> (lane ^ bit) & 1)) spanned |= 1ull << (lane ^ bit);
      }
    };
    for (index_t lane = 1; lane < wave_; ++lane) {
      if ((with[0] >> lane & 1) && !(spanned >> lane & 1) && dimensions < 6) extend(lane);
    }
    phases.lanes_per_phase = 1 << dimensions;
    if (spanned != with[0]) give_up("lanes " + lane_list(with[0]) + " are served together, which is no subspace");
    for (index_t lane = 1; lane < 64 && dimensions < 6; lane *= 2) {
      if (!(spanned >> lane & 1)) extend(lane);
    }
    for (index_t phase = 0; phase < phases.num_phases(); ++phase) {
      const unsigned long long lanes = phases.lanes_of(phase);
      const index_t first = phases.lane_at_position(phase * phases.lanes_per_phase);
      if (with[std::size_t(first)] != lanes)
        give_up("lanes " + lane_list(with[std::size_t(first)]) +
                " are served together, but by the symmetry of the others " + lane_list(lanes) + " should be");
    }
    if (phases.lanes_per_phase == 1) give_up("no two lanes conflict: every lane seems to be served alone");
  }

  void find_banks() {
    const index_t other = found_.phases.lane_at_position(1);
    std::vector<lds_addresses> patterns{pair(0, other, far, 2 * far + pitch_)};
    std::vector<index_t> distances;
    for (index_t d = pitch_; d <= far; d *= 2) distances.push_back(d);
    for (const index_t d : distances) patterns.push_back(pair(0, other, far, far + d));
    const std::vector<double> t = time_(patterns);
    index_t row = 0;
    for (std::size_t n = 0; n < distances.size(); ++n) {
      const std::string what = "a distance of " + std::to_string(distances[n]) + " bytes";
      const bool conflict = is_conflict(t[n + 1], t[0], what);
      if (conflict && row == 0) row = distances[n];
      if (!conflict && row != 0) give_up(what + " is no conflict, but one of " + std::to_string(row) + " bytes is");
    }
    if (row == 0) give_up("no distance up to " + std::to_string(far) + " bytes is a conflict");
    found_.banks = row / arch::lds_bank_bytes;
  }

  /// Words that an instruction takes according to phases and banks.
  tilewright::lds_access_cost cost_of(const lds_addresses& pattern) const {
    return tilewright::lds_cost({found_.phases, found_.banks, arch::grade::measured_here, ""}, bytes_, writes_,
                                pattern);
  }

  void find_merging() {
    std::vector<lds_addresses> patterns;
    for (index_t mask = 1; mask < wave_ && found_.same_word_merges; ++mask) {
      patterns.push_back(each_lane([&](index_t lane) {
        index_t chunk = 0, bit_of_chunk = 1;
        for (index_t bit = 1; bit < wave_; bit *= 2) {
          if (mask & bit) continue;
          chunk += lane & bit ? bit_of_chunk : 0;
          bit_of_chunk *= 2;
        }
        return chunk * pitch_;
      }));
    }
    const std::vector<double> t = time_(patterns);
    for (std::size_t n = 0; n < patterns.size(); ++n) {
      const double words = t[n] / found_.unit;
      if (words < cost_of(patterns[n]).cycles - 0.5) found_.merging.emplace_back(index_t(n) + 1, words);
    }
  }

  /// Random patterns must take what the row says: more than pairs show.
  void check_random_patterns() {
    std::mt19937 random(1);
    std::vector<lds_addresses> patterns;
    std::vector<double> cycles;
    while (patterns.size() < 100) {
      const unsigned chunks = 2u << random() % 8, stride = 1u << random() % 4;
      const auto pattern =
          each_lane([&](index_t) { return index_t(random() % chunks * stride) * pitch_ % (16 * far); });
      const auto cost = cost_of(pattern);
      if (!found_.same_word_merges && cost.same_dword_writes > 0) continue;
      patterns.push_back(pattern);
      cycles.push_back(cost.cycles);
    }
    const std::vector<double> t = time_(patterns);
    std::size_t worst = 0, wrong = 0;
    const auto deviation = [&](std::size_t n) { return t[n] / found_.unit - cycles[n]; };
    for (std::size_t n = 0; n < patterns.size(); ++n) {
      if (std::fabs(deviation(n)) > std::fabs(deviation(worst))) worst = n;
      if (std::fabs(deviation(n)) > 0.5) ++wrong;
    }
    found_.worst_deviation = std::fabs(deviation(worst));
    if (wrong == 0) return;
    std::string addresses;
    for (index_t lane = 0; lane < wave_; ++lane) addresses += ' ' + std::to_string(patterns[worst][lane]);
    give_up(std::to_string(wrong) + " of " + std::to_string(patterns.size()) +
            " random patterns do not take what the phases and banks found say; the worst takes " +
            std::to_string(t[worst] / found_.unit) + " instead of " + std::to_string(index_t(cycles[worst])) +
            " words, its lanes are at bytes" + addresses);
  }

  index_t wave_, bytes_, pitch_ = arch::lds_bank_bytes;
  bool writes_, needs_whole_wave_, sparse_ = false;
  stopwatch time_;
  finding found_;
};

/// Whether a row of a target's table says the same. Phases are compared as sets of lanes.
inline bool agrees(const finding& found, const arch::lds_service& row) {
  if (found.banks != row.banks || found.phases.lanes_per_phase != row.phases.lanes_per_phase) return false;
  for (index_t i = 0; i < found.phases.num_phases(); ++i) {
    bool is_there = false;
    for (index_t j = 0; j < row.phases.num_phases(); ++j)
      is_there = is_there || found.phases.lanes_of(i) == row.phases.lanes_of(j);
    if (!is_there) return false;
  }
  return true;
}

}  // namespace lds_probe
