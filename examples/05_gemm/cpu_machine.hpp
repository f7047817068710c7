// SPDX-License-Identifier: MIT
// Runs the kernels on the CPU backend as one emulated target, GEMM_EMULATED_TARGET. Included by gemm.hip.
#pragma once

#include "emulated_targets.hpp"
#include "predicted_lines.hpp"

#include <tilewright/exec/host/launch.hpp>

#include <algorithm>
#include <chrono>

namespace gemm_example {

template <class Policy>
outcome run_on_cpu(const tw::gemm_args& args, std::size_t c_bytes, const run_options& options) {
  using kernel = tw::gemm_kernel<Policy>;
  if (const char* why = kernel::check(args)) throw refusal(why);
  const tw::grid_size grid = kernel::grid(args);
  const std::vector<char> initial_c(static_cast<const char*>(args.c), static_cast<const char*>(args.c) + c_bytes);
  outcome result;
  result.lds = predicted_lines<Policy>(args);
  for (int i = 0; i < options.repeat; ++i) {
    std::copy(initial_c.begin(), initial_c.end(), static_cast<char*>(args.c));
    tw::exec::launch_config config{.target = &Policy::arch::value,
                                   .grid = {grid.x, grid.y, grid.z},
                                   .block_size = kernel::block_size,
                                   .lds_bytes = kernel::lds_bytes};
    if (options.progress) {
      config.progress = [&](tw::long_index_t done, tw::long_index_t total) {
        options.progress((i + double(done) / double(total)) / options.repeat);
      };
    }
    const auto begin = std::chrono::steady_clock::now();
    const tw::exec::launch_report report = tw::exec::launch(config, [&] { kernel{}(args); });
    result.seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    for (lds_line& line : result.lds) line.counted_conflicts = 0;
    for (const tw::exec::lds_row& row : report.rows) {
      const std::string name = tw::arch::instruction_name(Policy::arch::value, row.op);
      for (lds_line& line : result.lds) {
        if (line.instruction == name) line.counted_conflicts = row.conflicts;
      }
    }
  }
  return result;
}

/// Runs a problem on the emulated target; emulated_targets.hpp declares it.
template <class Arch>
outcome run_emulated(const kernel_problem& problem, std::size_t c_bytes, const run_options& options) {
  outcome result;
  with_kernel_choice(problem, [&](auto choice) {
    result = run_on_cpu<policy<decltype(choice), Arch>>(problem.args, c_bytes, options);
    result.kernel = choice.name();
  });
  result.device = std::string("CPU emulating ") + Arch::value.name;
  return result;
}

// This file is compiled once for each emulated target.
template outcome run_emulated<tw::arch::GEMM_EMULATED_TARGET>(const kernel_problem&, std::size_t, const run_options&);

}  // namespace gemm_example
