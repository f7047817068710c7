// SPDX-License-Identifier: MIT
// Runs Hopper GEMM kernels on the CPU backend and compares every bit of C with what it should be.
#pragma once

#include <tilewright/exec/host/launch.hpp>
#include <tilewright/exec/host/make_tensor_map.hpp>
#include <tilewright/gemm/hopper/hopper_kernel.hpp>
#include <tilewright/gemm/hopper/hopper_plan.hpp>

#include "check_gemm.hpp"

namespace tilewright::testing_gemm {

/// What gemm_case wants to know of a policy; the same for all tiles.
template <class T, operand_major AMajor, operand_major BMajor, class Result, epilogue_options Epilogue>
struct hopper_operand_types {
  using element_type = T;
  using b_element_type = T;
  using result_type = Result;
  static constexpr operand_major a_major = AMajor, b_major = BMajor;
  static constexpr epilogue_options epilogue = Epilogue;
};
template <class Policy>
using hopper_case = gemm_case<hopper_operand_types<typename Policy::element_type, Policy::a_major, Policy::b_major,
                                                   typename Policy::result_type, Policy::epilogue>>;

struct hopper_run {
  index_t resident = 2;  // clusters at the same time: what the work is shared among
  int workers = 1;
};

/// Kernel is hopper_gemm, or one with a mistake.
template <class Policy, template <class> class Kernel = hopper_gemm>
exec::launch_report run_hopper(const gemm_args& args, hopper_run run = {}) {
  static constexpr hopper_tile tile = Policy::tile;
  static constexpr hopper_lds lds = Policy::lds;
  // NaN, so that a part that is read before it was written is seen in the result.
  std::vector<float> parts(std::size_t(2 * run.resident * tile.cluster() * tile.m * tile.n), __builtin_nanf(""));
  std::vector<unsigned> counters(std::size_t(run.resident * tile.cluster() * tile.consumers));
  const hopper_plan plan =
      plan_hopper<Policy>(args, run.resident, {long_index_t(parts.size()), index_t(counters.size())});
  hopper_args kernel_args{};
  kernel_args.gemm = args;
  kernel_args.schedule = plan.schedule;
  kernel_args.parts = parts.data();
  kernel_args.counters = counters.data();
  exec::make_tensor_map(kernel_args.a, plan.a);
  exec::make_tensor_map(kernel_args.b, plan.b);
  exec::make_tensor_map(kernel_args.c, plan.c);
  const exec::launch_report report =
      exec::launch({.target = &arch::sm90::value,
                    .grid = {plan.blocks},
                    .cluster = tile.cluster(),
                    .block_size = tile.block_size(),
                    .lds_bytes = lds.bytes(),
                    .workers = run.workers,
                    .check_lds = exec::lds_checks::on},
                   [&] {
                     const exec::lds_pointer p = exec::lds_allocate<lds.bytes()>();
                     Kernel<Policy>{kernel_args, p, {exec::lds_address(p), exec::block_of_cluster()}}();
                   });
  for (const unsigned counter : counters) EXPECT_EQ(counter, 0u);
  return report;
}

template <class Policy>
exec::launch_report expect_hopper(const problem& p, hopper_run run = {}) {
  SCOPED_TRACE(std::to_string(p.m) + " x " + std::to_string(p.n) + " x " + std::to_string(p.k));
  hopper_case<Policy> gemm(p);
  EXPECT_STREQ(hopper_check<Policy>(gemm.args), nullptr);
  const exec::launch_report report = run_hopper<Policy>(gemm.args, run);
  expect_result(gemm);
  EXPECT_EQ(report.totals.conflicts, 0);
  return report;
}

/// Several tiles with edges for each of two clusters, batches, padded rows, and k that ends within a stage.
template <class Policy>
void expect_edges(float alpha, float beta) {
  constexpr hopper_tile t = Policy::tile;
  const index_t unit = 16 / index_t(sizeof(typename Policy::element_type));
  expect_hopper<Policy>({.m = t.m * t.share_b + 8,
                         .n = t.n + 24 - t.n % 16,
                         .k = 2 * Policy::tile_k + unit,
                         .alpha = alpha,
                         .beta = beta,
                         .batch = 2,
                         .gap = unit});
}

/// One tile for all kinds of operands, with everything in one of them that an epilogue may do.
template <index_t Tile>
void expect_tile() {
  using enum operand_major;
  constexpr hopper_tile t = hopper_tiles[Tile];
  using T = std::conditional_t<Tile % 2 == 0, half_t, bfloat16_t>;
  using Other = std::conditional_t<Tile % 2 == 1, half_t, bfloat16_t>;
  constexpr epilogue_options from_args{.from_args = true};
  SCOPED_TRACE(std::to_string(t.m) + " x " + std::to_string(t.n));
  expect_edges<hopper_policy<T, k, k, t>>(0.5f, 0);
  expect_edges<hopper_policy<Other, k, mn, t, Other, Tile % 4 == 0 ? from_args : epilogue_options{}>>(1, 2);
  expect_edges<hopper_policy<fp8_ocp_t, k, k, t, bfloat16_t, Tile % 4 == 1 ? from_args : epilogue_options{}>>(2, 0.5f);
}

}  // namespace tilewright::testing_gemm
