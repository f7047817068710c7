// SPDX-License-Identifier: MIT
// The CPU emulator: runs the kernels as the target that the user names.
#include <dlfcn.h>

#include <algorithm>
#include <chrono>

#include <tilewright/core/arch/arch.hpp>
#include <tilewright/kernels/gemm/split_k.hpp>

#include "kernel_entry.hpp"

namespace gemm_program {
namespace {

/// Adds the kernels of a library in the program's folder; false if it is not there.
bool add_kernels_of(const std::string& name, kernel_list& list) {
  void* const library = dlopen(("lib" + name + ".so").c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) return false;
  reinterpret_cast<void (*)(kernel_list&)>(dlsym(library, "add_gemm_kernels"))(list);
  return true;
}

[[noreturn]] void refuse_missing(const std::string& target) {
  const std::string error = dlerror();
  throw refusal("the kernels for " + target + " are not built: ./dev gemm with the same options, or the target gemm_" +
                target + ", builds them (" + error + ")");
}

class cpu_emulator final : public backend {
 public:
  explicit cpu_emulator(const std::string& target) : target_(tw::arch::find_target(target.c_str())) {
    if (!target_) {
      std::string names;
      for (const std::string& name : emulated_targets()) names += (names.empty() ? "" : ", ") + name;
      throw refusal("there is no target '" + target + "'; the CPU emulator emulates " + names);
    }
    // The library of few kernels is built in a fraction of the time.
    has_all_ = add_kernels_of("gemm_" + target, kernels_);
    if (!has_all_ && !add_kernels_of("gemm_" + target + "_first", kernels_)) refuse_missing(target);
  }

  tw::arch::fp8_kind fp8() const override { return target_->fp8; }
  std::string target() const override { return target_->name; }

  void require(const problem& p, const kernel_request& request) override {
    kernel_problem problem = kernel_problem_of(p);
    try {
      choose_kernel(kernels_, problem, request);
    } catch (const refusal& error) {
      if (has_all_) throw;
      throw refusal("of the kernels for " + target() +
                    " only a few are built: ./dev gemm with the same options, or the " + "target gemm_" + target() +
                    ", builds the others (here: " + error.what() + ")");
    }
  }

  outcome run(const problem& p, const operands& data, const run_options& options) override {
    kernel_problem problem = kernel_problem_of(p, data);
    const chosen_kernel choice = choose_kernel(kernels_, problem, options.kernel);
    const kernel_entry& kernel = *choice.kernel;
    tw::gemm_args& args = problem.args;
    std::vector<char> workspace(kernel.splits_k() ? static_cast<std::size_t>(tw::workspace_bytes(args)) : 0);
    args.workspace = workspace.data();

    const std::size_t c_bytes = static_cast<std::size_t>(args.batch_stride_c * p.batch * bytes_of(p.result));
    auto* const c = static_cast<char*>(data.c);
    const bool restores_c = p.beta != 0 && options.repeat > 1;
    const std::vector<char> initial_c(c, c + (restores_c ? c_bytes : 0));
    outcome result;
    result.device = std::string("CPU emulating ") + target_->name;
    result.kernel = kernel.name();
    result.reason = choice.reason;
    result.lds = predicted_lds(kernel, args);
    for (int i = 0; i < options.repeat; ++i) {
      std::copy(initial_c.begin(), initial_c.end(), c);
      for (lds_conflicts& known : result.lds) known.counted_conflicts = 0;
      const auto begin = std::chrono::steady_clock::now();
      kernel.run_on_cpu(args, result.lds, [&](double fraction) {
        if (options.progress) options.progress((i + fraction) / options.repeat);
      });
      result.seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
    return result;
  }

 private:
  const tw::arch::target* target_ = nullptr;
  kernel_list kernels_;
  bool has_all_ = false;
};

}  // namespace

std::unique_ptr<backend> make_jit_backend() {
  void* const library = dlopen("libgemm_jit.so", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    throw refusal(
        std::string("the library for --jit is not built: ./dev gemm --jit, or the target gemm_jit, builds it (") +
        dlerror() + ")");
  return std::unique_ptr<backend>(reinterpret_cast<backend* (*)()>(dlsym(library, "make_gemm_jit_backend"))());
}

std::unique_ptr<backend> make_cpu_emulator(const std::string& target) { return std::make_unique<cpu_emulator>(target); }

kernel_list emulated_kernels(const std::string& target) {
  kernel_list list;
  if (!add_kernels_of("gemm_" + target, list)) refuse_missing(target);
  return list;
}

std::vector<std::string> emulated_targets() {
  std::vector<std::string> names;
  for (const tw::arch::target* target : tw::arch::all_targets) names.push_back(target->name);
  return names;
}

}  // namespace gemm_program
