// SPDX-License-Identifier: MIT
// The CPU backend: runs the kernels as the target that the user names.
#include <algorithm>
#include <chrono>

#include <tilewright/arch/arch.hpp>
#include <tilewright/emulator/launch.hpp>
#include <tilewright/gemm/split_k.hpp>
#include <tilewright/util/tuple.hpp>

#include "kernel_entry.hpp"

namespace gemm_program {
namespace {

/// For each, kernels.hip is compiled once.
using emulated_arch_list = tw::tuple<tw::arch::gfx90a, tw::arch::gfx942, tw::arch::gfx950, tw::arch::gfx1100,
                                     tw::arch::gfx1201, tw::arch::sm80, tw::arch::sm90>;

class cpu_backend final : public backend {
 public:
  explicit cpu_backend(const std::string& target) {
    tw::apply(
        [&](auto... archs) {
          const auto take_if_named = [&]<class Arch>(Arch) {
            if (target != Arch::value.name) return;
            target_ = &Arch::value;
            kernels_ = kernels_for<on_cpu, Arch>();
          };
          (take_if_named(archs), ...);
        },
        emulated_arch_list{});
    if (target_) return;
    std::string names;
    for (const std::string& name : emulated_targets()) names += (names.empty() ? "" : ", ") + name;
    throw refusal("there is no target '" + target + "'; the CPU backend emulates " + names);
  }

  tw::arch::fp8_kind fp8() const override { return target_->fp8; }
  std::string target() const override { return target_->name; }

  outcome run(const problem& p, const operands& data, const run_options& options) override {
    kernel_problem problem = kernel_problem_of(p, data);
    const chosen_kernel choice = choose_kernel(kernels_, problem, options.kernel);
    const kernel_entry& kernel = *choice.kernel;
    tw::gemm_args& args = problem.args;
    std::vector<char> workspace(kernel.splits_k ? static_cast<std::size_t>(tw::workspace_bytes(args)) : 0);
    args.workspace = workspace.data();

    const std::size_t c_bytes = static_cast<std::size_t>(args.batch_stride_c * p.batch * bytes_of(p.result));
    const std::vector<char> initial_c(static_cast<const char*>(data.c), static_cast<const char*>(data.c) + c_bytes);
    outcome result;
    result.device = std::string("CPU emulating ") + target_->name;
    result.kernel = kernel.name();
    result.reason = choice.reason;
    result.lds = predicted_lds(kernel, args);
    for (int i = 0; i < options.repeat; ++i) {
      std::copy(initial_c.begin(), initial_c.end(), static_cast<char*>(data.c));
      for (lds_conflicts& known : result.lds) known.counted_conflicts = 0;
      const auto begin = std::chrono::steady_clock::now();
      launch(kernel.product, args, result.lds, [&](double fraction) {
        if (options.progress) options.progress((i + fraction) / options.repeat);
      });
      if (kernel.reduction.grid) launch(kernel.reduction, args, result.lds, {});
      result.seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
    return result;
  }

 private:
  void launch(const kernel_launch& what, const tw::gemm_args& args, std::vector<lds_conflicts>& conflicts,
              const std::function<void(double)>& progress) const {
    const tw::grid_size grid = what.grid(args);
    tw::emulator::launch_config config{.target = target_,
                                       .grid = {grid.x, grid.y, grid.z},
                                       .block_size = what.block_size,
                                       .lds_bytes = what.lds_bytes};
    if (progress)
      config.progress = [&](tw::long_index_t done, tw::long_index_t total) { progress(double(done) / double(total)); };
    const tw::emulator::launch_report report = tw::emulator::launch(config, [&] { what.body(args); });
    for (const tw::emulator::lds_op_counts& counts : report.by_op) {
      const std::string name = tw::arch::instruction_name(*target_, counts.op);
      for (lds_conflicts& known : conflicts) {
        if (known.instruction == name) known.counted_conflicts += counts.conflicts;
      }
    }
  }

  const tw::arch::target* target_ = nullptr;
  kernel_list kernels_;
};

}  // namespace

std::unique_ptr<backend> make_cpu_backend(const std::string& target) { return std::make_unique<cpu_backend>(target); }

std::vector<std::string> emulated_targets() {
  std::vector<std::string> names;
  tw::apply([&](auto... archs) { (names.push_back(decltype(archs)::value.name), ...); }, emulated_arch_list{});
  return names;
}

}  // namespace gemm_program
