// SPDX-License-Identifier: MIT
// Which tiles a program should link for a Hopper GPU, by time: kernels for all lengths and epilogues of many tiles race
// against the kernel that jit compiles for each GEMM, and sets of them are made greedily. What a set costs is the time
// of the kernel that a call takes among the set, which the model chooses.
//   linked_tiles [problems] [gate] [names of tiles]   without names: those of `candidates`
#include <tilewright/kernels/gemm/choice/gemm_choice.hpp>
#include <tilewright/kernels/gemm/choice/hopper_gemm_choice.hpp>

#include <cstdio>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string_view>

#include "gemm_race.hpp"

namespace {

using namespace gemm_race;
namespace tw = tilewright;

constexpr const char* candidates[] = {"64x8_swap",
                                      "64x16_swap",
                                      "64x24_swap",
                                      "64x32_swap",
                                      "64x40_swap",
                                      "64x64_swap",
                                      "64x80_swap",
                                      "64x88_swap",
                                      "64x112_swap",
                                      "64x136_swap",
                                      "64x192_swap_pp",
                                      "64x256_swap",
                                      "64x64",
                                      "64x64_b2_pp",
                                      "64x128_b2",
                                      "128x80",
                                      "128x80_a2_c1_swap",
                                      "128x96_b2",
                                      "128x104_a2_c1_swap",
                                      "128x104_swap",
                                      "128x112",
                                      "128x128_b2",
                                      "128x128_a2_swap_pp",
                                      "128x136_swap_pp",
                                      "128x152_swap_pp",
                                      "128x160_b2_pp",
                                      "128x160_a2_swap_pp",
                                      "128x176_b2_pp",
                                      "128x176_swap_pp",
                                      "128x192_pp",
                                      "128x192_swap_pp",
                                      "128x192_b2",
                                      "128x224_b2_swap",
                                      "128x240_a2_swap",
                                      "128x256",
                                      "128x256_a2",
                                      "128x256_b2",
                                      "192x128_a2_pp"};
constexpr const char* gate_candidates[] = {"64x64_pp",   "64x64",      "64x128_pp",  "64x128",     "64x192_pp",
                                           "64x256",     "128x64_pp",  "128x128",    "128x128_a2", "128x128_pp",
                                           "128x192",    "128x192_a2", "128x192_b2", "128x256",    "128x256_a2",
                                           "128x256_b2", "64x64_a4_pp"};

/// A problem, the time of jit's kernel for it, and of each tile the clocks that the model predicts and the time.
struct row {
  double exact;
  std::vector<double> clocks, us;
};

constexpr double never = std::numeric_limits<double>::infinity();

row time_all(const operands& memory, jit::gemm_problem p, const std::vector<tw::hopper_gemm_tile>& tiles) {
  memory.give(p.args);
  const std::string by_jit = jit::rank_gemm(p, "sm_90a").front().choice;
  row r{microseconds_of(p, by_jit, false), {}, {}};
  std::printf("%s exact %s %.2f |", name_of(p).c_str(), by_jit.c_str(), r.exact);
  tw::gemm_args both = p.args;
  if (p.has_gate) both.n *= 2;
  for (const tw::hopper_gemm_tile& tile : tiles) {
    tw::hopper_gemm_choice best{.clocks = never};
    tw::for_each_kernel_of(tw::array<tw::hopper_gemm_tile, 1>{{tile}}, both, {}, 132, p.has_gate ? 1 : 16,
                           [&](const tw::hopper_gemm_choice& c) {
                             if (c.clocks < best.clocks) best = c;
                           });
    r.clocks.push_back(best.clocks);
    r.us.push_back(best.clocks == never
                       ? never
                       : microseconds_of(p, tw::name_of(tw::gemm_choice{.tile = tile, .split_k = best.split_k}), true));
    std::printf(" %s/%d %.2f %.0f", tw::name_of(tile).c_str(), int(best.split_k), r.us.back(), best.clocks);
  }
  std::printf("\n");
  std::fflush(stdout);
  return r;
}

/// The mean over the problems of the logarithm of time over that of jit's kernel, if calls choose among a set.
double cost_of(const std::vector<row>& rows, const std::vector<std::size_t>& set, bool by_time) {
  double sum = 0;
  for (const row& r : rows) {
    double least = never, us = 1e6 * r.exact;
    for (const std::size_t t : set)
      if (const double key = by_time ? r.us[t] : r.clocks[t]; key < least) least = key, us = r.us[t];
    sum += std::log(us / r.exact);
  }
  return sum / double(rows.size());
}

/// Exchanges tiles of a set, and adds one, as long as that makes it cheaper.
void print_sets(const std::vector<row>& rows, const std::vector<tw::hopper_gemm_tile>& tiles, std::size_t most,
                bool by_time) {
  std::vector<std::size_t> set;
  const auto improve = [&](std::size_t j) {
    bool has_changed = false;
    double least = cost_of(rows, set, by_time);
    for (std::size_t t = 0; t < tiles.size(); ++t) {
      std::vector<std::size_t> other = set;
      other[j] = t;
      if (const double cost = cost_of(rows, other, by_time); cost < least - 1e-6)
        least = cost, set[j] = t, has_changed = true;
    }
    return has_changed;
  };
  while (set.size() < std::min(most, tiles.size())) {
    set.push_back(0);
    improve(set.size() - 1);
    for (bool has_changed = true; has_changed;) {
      has_changed = false;
      for (std::size_t j = 0; j < set.size(); ++j) has_changed = improve(j) || has_changed;
    }
    std::printf("%2zu tiles, %s: %.4f, by time %.4f:", set.size(), by_time ? "best" : "choice",
                std::exp(cost_of(rows, set, false)), std::exp(cost_of(rows, set, true)));
    for (const std::size_t t : set) std::printf(" %s", tw::name_of(tiles[t]).c_str());
    std::printf("\n");
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int count = argc > 1 ? std::atoi(argv[1]) : 48;
  const bool has_gate = argc > 2 && std::string_view(argv[2]) == "gate";
  std::vector<std::string> names(argv + std::min(argc, has_gate ? 3 : 2), argv + argc);
  if (names.empty() && has_gate) names.assign(std::begin(gate_candidates), std::end(gate_candidates));
  if (names.empty()) names.assign(std::begin(candidates), std::end(candidates));
  std::vector<tw::hopper_gemm_tile> tiles;
  for (const std::string& name : names)
    if (const std::optional<tw::gemm_choice> c = tw::choice_named(name)) tiles.push_back(c->tile);
  const operands memory;
  std::vector<row> rows;
  for (const jit::gemm_problem& p : random_gemms(count, has_gate)) rows.push_back(time_all(memory, p, tiles));
  print_sets(rows, tiles, 14, false);
  print_sets(rows, tiles, 14, true);
}
