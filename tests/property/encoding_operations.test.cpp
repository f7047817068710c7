// SPDX-License-Identifier: MIT
// Random encodings reduced and sliced; random copies in patterns: against positions by definition.
#include "../core/distribution/naive_distribution.hpp"
#include "random_encoding.hpp"

#include <tilewright/compat/ck_tile/memory_access_analyzer.hpp>
#include <tilewright/core/distribution/distribution_pattern.hpp>
#include <tilewright/core/distribution/reduce_encoding.hpp>
#include <tilewright/core/distribution/slice_encoding.hpp>
#include <tilewright/viz/text.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace tilewright::property {
namespace {

// A thread that held elements of a row holds that row afterwards, and nothing else; the result owns every element.
TEST(RandomEncodings, ReducedKeepTheOtherCoordinates) {
  check_property([](tape& choices) -> std::string {
    const distribution_encoding e = make_random_encoding(choices, choices.between(1, 3), choices.between(1, 2));
    const index_t gone = choices.below(e.ndim_x());
    const std::string about = "without X" + std::to_string(gone) + ": " + to_string(e);
    if (check_reduce(e, array<index_t, 1>{{gone}}) != tilewright::detail::reduce_fault::none) {
      index_t factors = e.r.size();
      for (const auto& ids : e.p) {
        for (const rh_id id : ids) factors += id.major == gone + 1;
      }
      return factors > distribution_encoding::max_factors ? "" : "refused, " + about;
    }
    const distribution_encoding reduced = reduce(e, array<index_t, 1>{{gone}});
    if (!check_encoding(reduced).is_sound()) return "unsound, " + about + to_string(reduced);
    if (e.ndim_x() > 1) {
      const std::string fault = naive::ownership_fault(reduced);
      if (!fault.empty()) return fault + ", " + about;
    }
    std::string fault;
    naive::each_index(naive::partition_lengths(e), [&](const naive::indices& p) {
      std::set<naive::indices> before, after;
      naive::each_index(naive::y_lengths(e), [&](const naive::indices& y) {
        naive::indices x = naive::position(e, p, y);
        x.erase(x.begin() + gone);
        before.insert(x);
      });
      naive::each_index(naive::y_lengths(reduced),
                        [&](const naive::indices& y) { after.insert(naive::position(reduced, p, y)); });
      if (before != after) fault = "another thread's elements, " + about + to_string(reduced);
    });
    return fault;
  });
}

/// Whether every thread holds as many elements of [begins, ends), and these are a product of ranges of its y.
bool can_be_sliced(const distribution_encoding& e, const naive::indices& begins, const naive::indices& ends) {
  std::set<std::set<naive::indices>> held;  // which y, for each thread
  naive::each_index(naive::partition_lengths(e), [&](const naive::indices& p) {
    std::set<naive::indices> ys;
    naive::each_index(naive::y_lengths(e), [&](const naive::indices& y) {
      const naive::indices x = naive::position(e, p, y);
      bool inside = true;
      for (std::size_t d = 0; d < x.size(); ++d) inside = inside && begins[d] <= x[d] && x[d] < ends[d];
      if (inside) ys.insert(y);
    });
    held.insert(ys);
  });
  if (held.size() != 1 || held.begin()->empty()) return false;
  std::size_t box = 1;
  for (std::size_t d = 0; d < std::size_t(e.ndim_y()); ++d) {
    const auto by_digit = [d](const naive::indices& a, const naive::indices& b) { return a[d] < b[d]; };
    const auto [low, high] = std::minmax_element(held.begin()->begin(), held.begin()->end(), by_digit);
    box *= std::size_t((*high)[d] - (*low)[d] + 1);
  }
  return box == held.begin()->size();
}

TEST(RandomEncodings, SlicesHoldTheirElements) {
  check_property([](tape& choices) -> std::string {
    const distribution_encoding e = make_random_encoding(choices, 2, choices.between(1, 2));
    index_t elements = e.num_elements_per_thread();
    for (const index_t n : naive::partition_lengths(e)) elements *= n;
    if (elements > 3000) return "";
    array<index_t, 2> begins{}, ends{};
    for (index_t x = 0; x < 2; ++x) {
      // Mostly where a factor begins.
      index_t unit = 1;
      for (index_t i = choices.below(e.h[x].size() + 1); i < e.h[x].size(); ++i) unit *= e.h[x][i];
      begins[x] = choices.below(e.x_length(x) / unit) * unit;
      ends[x] = begins[x] + choices.between(1, (e.x_length(x) - begins[x]) / unit) * unit;
    }
    const naive::indices first(begins.begin(), begins.end()), last(ends.begin(), ends.end());
    const std::string about = to_string(begins) + " to " + to_string(ends) + " of " + to_string(e);
    const encoding_slice part = slice(e, begins, ends);
    if ((part.fault == slice_fault::none) != can_be_sliced(e, first, last))
      return "fault " + std::to_string(int(part.fault)) + ": " + about;
    if (part.fault != slice_fault::none) return "";
    if (!check_encoding(part.encoding).is_sound()) return "unsound: " + about;
    std::string fault;
    naive::each_index(naive::partition_lengths(e), [&](const naive::indices& p) {
      naive::each_index(naive::y_lengths(part.encoding), [&](const naive::indices& y) {
        naive::indices whole = y;
        for (std::size_t i = 0; i < y.size(); ++i) {
          whole[i] += part.y_begins[index_t(i)];
          if (part.y_lengths[index_t(i)] != part.encoding.y_length(index_t(i))) fault = "lengths: " + about;
        }
        naive::indices expected = naive::position(e, p, whole);
        for (std::size_t d = 0; d < expected.size(); ++d) expected[d] -= first[d];
        if (naive::position(part.encoding, p, y) != expected) fault = "position: " + about;
      });
    });
    if (part.encoding.x_length(0) != ends[0] - begins[0] || part.encoding.x_length(1) != ends[1] - begins[1])
      return "size: " + about;
    return fault;
  });
}

TEST(RandomCopies, InPatternsCoverTheTileInVectors) {
  check_property([](tape& choices) -> std::string {
    using enum tile_distribution_pattern;
    const auto pattern = choices.one_of<tile_distribution_pattern>({thread_raked, warp_raked, block_raked});
    const tile_copy_2d copy{.rows = choices.one_of<index_t>({16, 8, 32, 12, 1}),
                            .cols = choices.one_of<index_t>({16, 32, 8, 24, 64}),
                            .vector = choices.one_of<index_t>({4, 1, 2, 8, 3}),
                            .waves = choices.between(1, 4),
                            .wave_size = choices.one_of<index_t>({8, 16, 12}),
                            .wave_groups = choices.one_of<index_t>({1, 2})};
    const tilewright::detail::pattern_2d divided = divide_copy(copy);
    if (divided.fault != detail::pattern_fault::none) return "";
    const distribution_encoding e = make_pattern_encoding(pattern, copy, choices.chance(2));
    const std::string about = "pattern " + std::to_string(int(pattern)) + ", " + to_string(e);
    if (!check_encoding(e).is_sound()) return "unsound: " + about;
    if (e.x_length(0) != copy.rows || e.x_length(1) != copy.cols || e.p_length(0) != copy.waves ||
        e.p_length(1) != copy.wave_size)
      return "size: " + about;
    const std::string fault = naive::ownership_fault(e);
    if (!fault.empty()) return fault + ": " + about;
    // What makes the pattern: which rows one wave has, and one lane.
    const index_t share = copy.rows / divided.waves;
    std::string wrong;
    naive::each_index(naive::partition_lengths(e), [&](const naive::indices& p) {
      std::set<index_t> rows;
      naive::each_index(naive::y_lengths(e),
                        [&](const naive::indices& y) { rows.insert(naive::position(e, p, y)[0]); });
      const index_t wave = p[0] % divided.waves, spread = *rows.rbegin() - *rows.begin();
      const bool together = *rows.begin() >= wave * share && *rows.rbegin() < (wave + 1) * share;
      const index_t step = divided.repeat_y == 1 ? 0 : spread / (divided.repeat_y - 1);
      if (pattern != block_raked && !together) wrong = "a wave's rows are apart: " + about;
      if (divided.repeat_y == 1) return;
      const index_t wanted = pattern == thread_raked ? 1
                             : pattern == warp_raked ? divided.lanes_y
                                                     : copy.rows / divided.repeat_y;
      if (step != wanted) wrong = "a lane's rows are " + std::to_string(step) + " apart: " + about;
    });
    return wrong;
  });
}

// Cache lines counted with sets of bytes.
TEST(RandomEncodings, TouchTheLinesOfTheirBytes) {
  check_property([](tape& choices) -> std::string {
    const distribution_encoding e = make_random_encoding(choices, 2, choices.between(1, 2));
    index_t elements = e.num_elements_per_thread();
    for (const index_t n : naive::partition_lengths(e)) elements *= n;
    if (e.y.empty() || elements > 3000 || e.p_length(e.ndim_p() - 1) > 64) return "";
    const index_t row = e.x_length(1) + choices.one_of<index_t>({0, 1, 8, 100}),
                  element_bytes = choices.one_of<index_t>({2, 4});
    const array<long_index_t, 2> strides{{row, 1}};
    const detail::vector_choice v =
        tilewright::detail::choose_vector(e, multi_index<2>{{1, e.x_length(1)}}, element_bytes);
    const tilewright::detail::memory_access_cost cost =
        tilewright::detail::analyze_memory_access(e, v, strides, element_bytes, 64);
    tilewright::detail::memory_access_cost expected{.line_bytes = 64};
    const index_t lanes = e.p_length(e.ndim_p() - 1), waves = e.ndim_p() > 1 ? e.p_length(0) : 1;
    for (index_t wave = 0; wave < waves; ++wave) {
      naive::each_index(naive::y_lengths(e), [&](const naive::indices& y) {
        if (y[std::size_t(v.dim_y)] % v.length != 0) return;
        std::set<index_t> bytes, lines;
        for (index_t lane = 0; lane < lanes; ++lane) {
          const naive::indices x =
              naive::position(e, e.ndim_p() > 1 ? naive::indices{wave, lane} : naive::indices{lane}, y);
          for (index_t b = 0; b < v.length * element_bytes; ++b) {
            const index_t address = (x[0] * row + x[1]) * element_bytes + b;
            bytes.insert(address);
            lines.insert(address / 64);
          }
        }
        ++expected.wave_accesses;
        expected.lines += index_t(lines.size());
        expected.bytes += index_t(bytes.size());
        expected.fewest_lines += (index_t(bytes.size()) + 63) / 64;
      });
    }
    return cost == expected ? ""
                            : std::to_string(cost.lines) + " lines instead of " + std::to_string(expected.lines) +
                                  ": " + to_string(e);
  });
}

}  // namespace
}  // namespace tilewright::property
