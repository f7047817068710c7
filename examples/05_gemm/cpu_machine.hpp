// SPDX-License-Identifier: MIT
// Runs the kernels on the CPU backend, which emulates the target that the user names. Included by gemm.hip.
#pragma once

#include <tilewright/exec/host/launch.hpp>

#include <algorithm>
#include <chrono>
#include <map>

namespace gemm_example {

// gemm.hip is compiled once for each emulated target, or once for all.
#ifdef GEMM_EMULATED_TARGET
using emulated_arch_list = tw::tuple<tw::arch::GEMM_EMULATED_TARGET>;
#else
using emulated_arch_list = tw::tuple<tw::arch::gfx90a, tw::arch::gfx942, tw::arch::gfx950, tw::arch::gfx1100, tw::arch::gfx1201, tw::arch::sm80>;
#endif

/// Extra cycles that a launch will spend in LDS, by instruction.
template <class Policy>
std::vector<lds_line> predicted_lines(const tw::gemm_args& args) {
  const tw::gemm_lds_prediction p = tw::predict_lds<Policy>();
  const tw::long_index_t times = tw::num_block_k_tiles<Policy>(args);
  std::map<tw::arch::lds_op, lds_line> lines;
  for (const tw::lds_access_analysis* access : {&p.a_write, &p.b_write, &p.a_read, &p.b_read}) {
    lds_line& line = lines[access->op];
    line.instruction = tw::arch::instruction_name(Policy::arch::value, access->op);
    line.executions += times * access->executions;
    line.predicted_conflicts += times * access->conflicts;
  }
  std::vector<lds_line> result;
  for (auto& [op, line] : lines) result.push_back(line);
  return result;
}

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
    tw::exec::launch_config config{.target = &Policy::arch::value, .grid = {grid.x, grid.y, grid.z}, .block_size = kernel::block_size, .lds_bytes = kernel::lds_bytes};
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

class cpu_backend final : public backend {
 public:
  outcome run(const problem& p, const std::uint16_t* a, const std::uint16_t* b, std::uint16_t* c, const run_options& options) override {
    const kernel_problem k = kernel_problem_of(p, a, b, c);
    outcome result;
    bool found = false;
    tw::apply([&](auto... archs) { (..., run_if_named<decltype(archs)>(k, std::size_t(p.m) * std::size_t(p.n) * 2, options, result, found)); }, emulated_arch_list{});
    if (!found) {
      std::string names;
      for (const std::string& name : emulated_targets()) names += (names.empty() ? "" : ", ") + name;
      throw refusal("there is no target '" + options.target + "'; the CPU backend emulates " + names);
    }
    return result;
  }

 private:
  template <class Arch>
  static void run_if_named(const kernel_problem& k, std::size_t c_bytes, const run_options& options, outcome& result, bool& found) {
    if (options.target != Arch::value.name) return;
    found = true;
    with_kernel_choice(k, [&](auto choice) {
      result = run_on_cpu<policy<decltype(choice), Arch>>(k.args, c_bytes, options);
      result.kernel = choice.name();
    });
    result.device = std::string("CPU emulating ") + Arch::value.name;
  }
};

std::unique_ptr<backend> make_cpu_backend() { return std::make_unique<cpu_backend>(); }

std::vector<std::string> emulated_targets() {
  std::vector<std::string> names;
  tw::apply([&](auto... archs) { (names.push_back(decltype(archs)::value.name), ...); }, emulated_arch_list{});
  return names;
}

}  // namespace gemm_example
