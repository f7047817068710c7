// SPDX-License-Identifier: MIT
// Runs kernels of warp_specialized_pipeline on the CPU emulator and compares every bit of C with what it should be.
#pragma once

#include <tilewright/kernels/gemm/choice/hopper_gemm_choice.hpp>
#include <tilewright/kernels/gemm/hopper/hopper_gemm_kernel.hpp>
#include <tilewright/launch/launch.hpp>

#include <algorithm>

#include "../../explored.hpp"
#include "../check_gemm.hpp"

namespace tilewright::testing_gemm {

/// What gemm_case wants to know of a policy; the same for all tiles.
template <class T, operand_major AMajor, operand_major BMajor, class Result, class Epilogue>
struct hopper_operand_types {
  using element_type = T;
  using b_element_type = T;
  using result_type = Result;
  static constexpr operand_major a_major = AMajor, b_major = BMajor;
  using epilogue = Epilogue;
};
template <class Policy>
using hopper_gemm_case = gemm_case<hopper_operand_types<typename Policy::element_type, Policy::a_major, Policy::b_major,
                                                        typename Policy::result_type, typename Policy::epilogue>>;

/// A launch with a workspace of its own.
template <class Policy>
emulator::launch_report launch_hopper_gemm(typename Policy::args_type args, const launch_options& options = {}) {
  using size = hopper_gemm_workspace;
  // Not a number, so that a part that is read before it was written is seen in the result.
  std::vector<float> workspace(size::bytes / sizeof(float), __builtin_nanf(""));
  std::fill_n(workspace.begin(), size::num_counters, 0.0f);
  args.workspace = workspace.data();
  const emulator::launch_report report = launch<gemm_kernel<Policy>>(args, options);
  EXPECT_EQ(std::count(workspace.begin(), workspace.begin() + size::num_counters, 0.0f), size::num_counters);
  return report;
}

template <class Policy>
emulator::launch_report expect_hopper_gemm(const problem& p, launch_options options = {.workers = 1}) {
  SCOPED_TRACE(std::to_string(p.m) + " x " + std::to_string(p.n) + " x " + std::to_string(p.k));
  hopper_gemm_case<Policy> gemm(p);
  options.check_lds = emulator::lds_checks::on;
  const emulator::launch_report report = launch_hopper_gemm<Policy>(gemm.args, options);
  expect_result(gemm);
  EXPECT_EQ(report.totals.conflicts, 0);
  return report;
}

/// A small problem in many schedules.
template <class Policy>
void explore_hopper_gemm(const problem& p, index_t resident = 1) {
  testing_schedules::expect_in_explored_schedules(
      [&] { expect_hopper_gemm<Policy>(p, {.resident_clusters = resident}); });
}

/// Several tiles with edges for each of two clusters, batches, padded rows, and k that ends within a stage.
template <class Policy>
void expect_edges(float alpha, float beta) {
  constexpr hopper_gemm_tile t = hopper_gemm_block<Policy>::tile;
  const index_t unit = 16 / index_t(sizeof(typename Policy::element_type));
  const index_t m = t.m * t.cluster_m + 8, n = t.n + 24 - t.n % 16;
  expect_hopper_gemm<Policy>({.m = t.swap_ab ? n : m,
                              .n = t.swap_ab ? m : n,
                              .k = 2 * Policy::tile.k + unit,
                              .alpha = alpha,
                              .beta = beta,
                              .batch = 2,
                              .gap = unit});
}

/// The last round of tiles is split along k. Returns how many tails a helper has; 0 if shares cross tiles.
template <class Policy>
index_t expect_split(const problem& p, index_t resident) {
  constexpr hopper_gemm_tile t = hopper_gemm_block<Policy>::tile;
  const stream_k_schedule schedule = tilewright::detail::make_stream_k_schedule(
      tilewright::detail::hopper_tile_order(tilewright::detail::in_order_of(t, gemm_args{.m = p.m, .n = p.n}), t,
                                            resident),
      ceil_div(p.k, Policy::tile.k), resident, index_t(hopper_gemm_workspace::num_floats / (t.m * t.n * t.cluster())),
      tilewright::detail::split_cost_of(t));
  EXPECT_GT(schedule.max_splits(), 1);
  for (const int workers : {1, 3}) expect_hopper_gemm<Policy>(p, {.workers = workers, .resident_clusters = resident});
  return schedule.heads_per_worker();
}

/// One tile for all kinds of operands, with everything in one of them that an epilogue may do.
template <index_t Tile>
void expect_tile() {
  using enum operand_major;
  constexpr hopper_gemm_tile t = hopper_gemm_tiles[Tile];
  using T = std::conditional_t<Tile % 2 == 0, half_t, bfloat16_t>;
  using Other = std::conditional_t<Tile % 2 == 1, half_t, bfloat16_t>;
  SCOPED_TRACE(std::to_string(t.m) + " x " + std::to_string(t.n));
  expect_edges<gemm_hopper<T, Tile % 3 == 0 ? mn : k, k, t>>(0.5f, 0);
  expect_edges<gemm_hopper<Other, Tile % 3 == 1 ? mn : k, mn, t, Other,
                           std::conditional_t<Tile % 4 == 0, epilogue::from_args, epilogue::alpha_beta>>>(1, 2);
  expect_edges<gemm_hopper<fp8_ocp_t, k, k, t, bfloat16_t,
                           std::conditional_t<Tile % 4 == 1, epilogue::from_args, epilogue::alpha_beta>>>(2, 0.5f);
}

}  // namespace tilewright::testing_gemm
