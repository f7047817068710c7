// SPDX-License-Identifier: MIT
// Runs Hopper GEMM kernels on the CPU backend.
#pragma once

#include <tilewright/emulator/launch.hpp>
#include <tilewright/exec/host/make_tensor_map.hpp>
#include <tilewright/gemm/hopper/hopper_kernel.hpp>
#include <tilewright/gemm/hopper/hopper_plan.hpp>

#include <string>
#include <vector>

namespace tilewright {

/// How to run a Hopper kernel on the CPU.
struct hopper_cpu_options {
  index_t resident = 2;  // clusters that share the work, as if a GPU ran so many at the same time
  int workers = 0;       // clusters that the CPU runs at a time; 0: one for each of its threads
  emulator::lds_checks check_lds = emulator::lds_checks::from_environment;
};

/// C = alpha A B + beta C by the kernel of a hopper_policy, in memory of the CPU; Kernel is one like hopper_gemm.
/// Throws a fault where hopper_check refuses the arguments, and as emulator::launch does.
template <class Policy, template <class> class Kernel = hopper_gemm>
emulator::launch_report launch_hopper_on_cpu(const gemm_args& gemm, hopper_cpu_options options = {}) {
  static constexpr hopper_tile tile = Policy::tile;
  static constexpr hopper_lds lds = Policy::lds;
  if (const char* const refused = hopper_check<Policy>(gemm)) throw emulator::fault(std::string("hopper: ") + refused);
  const index_t blocks = options.resident * tile.cluster();
  // Not a number, so that a part that is read before it was written is seen in the result.
  std::vector<float> parts(std::size_t(2 * blocks) * std::size_t(tile.m * tile.n), __builtin_nanf(""));
  std::vector<unsigned> counters(std::size_t(blocks * tile.consumers));
  const hopper_plan plan =
      plan_hopper<Policy>(gemm, options.resident, {long_index_t(parts.size()), index_t(counters.size())});
  hopper_args args{};
  args.gemm = gemm;
  args.schedule = plan.schedule;
  args.parts = parts.data();
  args.counters = counters.data();
  exec::make_tensor_map(args.a, plan.a);
  exec::make_tensor_map(args.b, plan.b);
  exec::make_tensor_map(args.c, plan.c);
  const emulator::launch_report report =
      emulator::launch({.target = &arch::sm90::value,
                        .grid = {plan.blocks},
                        .cluster = tile.cluster(),
                        .block_size = tile.block_size(),
                        .lds_bytes = lds.bytes(),
                        .workers = options.workers,
                        .check_lds = options.check_lds},
                       [&] {
                         const exec::lds_pointer p = exec::lds_allocate<lds.bytes()>();
                         Kernel<Policy>{args, p, {exec::lds_address(p), exec::block_of_cluster()}}();
                       });
  for (const unsigned counter : counters) {
    if (counter != 0) throw emulator::fault("hopper: a counter of parts is not 0 after the launch");
  }
  return report;
}

}  // namespace tilewright
