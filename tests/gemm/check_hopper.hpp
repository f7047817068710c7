// SPDX-License-Identifier: MIT
// Runs Hopper GEMM kernels on the CPU backend and compares every bit of C with what it should be.
#pragma once

#include <tilewright/exec/host/launch.hpp>
#include <tilewright/exec/host/make_tensor_map.hpp>
#include <tilewright/gemm/hopper/hopper_kernel.hpp>
#include <tilewright/gemm/hopper/hopper_plan.hpp>

#include "check_gemm.hpp"

namespace tilewright::testing_gemm {

/// As gemm_case wants to see it.
template <class Policy>
struct hopper_case_policy : Policy {
  using b_element_type = typename Policy::element_type;
};

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
void expect_hopper(const problem& p, hopper_run run = {}) {
  SCOPED_TRACE(std::to_string(p.m) + " x " + std::to_string(p.n) + " x " + std::to_string(p.k));
  gemm_case<hopper_case_policy<Policy>> gemm(p);
  ASSERT_STREQ(hopper_check<Policy>(gemm.args), nullptr);
  const exec::launch_report report = run_hopper<Policy>(gemm.args, run);
  expect_result(gemm);
  EXPECT_EQ(report.totals.conflicts, 0);
}

}  // namespace tilewright::testing_gemm
