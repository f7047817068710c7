// SPDX-License-Identifier: MIT
// Runs the kernels on a GPU, through HIP or CUDA. Included by gemm.hip.
#pragma once

#include "gpu_runtime.hpp"
#include "predicted_lines.hpp"

#include <tilewright/arch/arch.hpp>

namespace gemm_example {

#if defined(__HIP__)
using gpu_arch_list =
    tw::tuple<tw::arch::gfx90a, tw::arch::gfx942, tw::arch::gfx950, tw::arch::gfx1100, tw::arch::gfx1201>;
#else
using gpu_arch_list = tw::tuple<tw::arch::sm80, tw::arch::sm90>;
#endif

/// The machine does not count LDS conflicts by itself: its counters need a profiler.
template <class Choice, class Arch>
outcome run_on_gpu(tw::gemm_args args, const problem& p, const run_options& options) {
  using kernel = tw::gemm_kernel<policy<Choice, Arch>>;
  if (const char* why = kernel::check(args)) throw refusal(why);
  const auto bytes = [](std::int64_t rows, std::int64_t cols) { return std::size_t(rows) * std::size_t(cols) * 2; };
  const bool swapped = p.c_order == order::col_major;
  gpu::buffer a(bytes(swapped ? p.n : p.m, p.k)), b(bytes(swapped ? p.m : p.n, p.k)), c(bytes(p.m, p.n));
  a.upload(args.a);
  b.upload(args.b);
  void* const host_c = args.c;
  args.a = a.data();
  args.b = b.data();
  args.c = c.data();

  const void* entry = reinterpret_cast<const void*>(&gemm<Choice>);
  const tw::grid_size grid = kernel::grid(args);
  std::size_t lds_bytes = 0;
#if !defined(__HIP__)
  lds_bytes = kernel::lds_bytes;
  gpu::check(cudaFuncSetAttribute(entry, cudaFuncAttributeMaxDynamicSharedMemorySize, int(lds_bytes)),
             "asking for LDS");
#endif
  void* kernel_args[] = {&args};
  outcome result;
  result.lds = predicted_lines<policy<Choice, Arch>>(args);
  gpu::event begin, end;
  for (int i = 0; i < options.repeat; ++i) {
    c.upload(host_c);
    begin.record();
    gpu::check(GEMM_GPU(LaunchKernel)(entry, dim3(unsigned(grid.x), unsigned(grid.y), unsigned(grid.z)),
                                      dim3(kernel::block_size), kernel_args, lds_bytes, nullptr),
               "launching the kernel");
    end.record();
    result.seconds.push_back(end.seconds_since(begin));
    gpu::check(GEMM_GPU(GetLastError)(), "running the kernel");
    if (options.progress) options.progress(double(i + 1) / options.repeat);
  }
  c.download(host_c);
  return result;
}

class gpu_backend final : public backend {
 public:
  outcome run(const problem& p, const std::uint16_t* a, const std::uint16_t* b, std::uint16_t* c,
              const run_options& options) override {
    const gpu::device_facts device = gpu::device();
    const kernel_problem k = kernel_problem_of(p, a, b, c);
    outcome result;
    bool found = false;
    const auto run_if_present = [&](auto arch) {
      using Arch = decltype(arch);
      if (found || !fits(device.target, Arch::value.name)) return;
      found = true;
      with_kernel_choice(k, [&](auto choice) {
        result = run_on_gpu<decltype(choice), Arch>(k.args, p, options);
        result.kernel = choice.name();
      });
    };
    tw::apply([&](auto... archs) { (run_if_present(archs), ...); }, gpu_arch_list{});
    if (!found) throw refusal("the program has no kernels for this GPU, " + device.name + " (" + device.target + ")");
    result.device = device.name + " (" + device.target + ")";
    return result;
  }

 private:
  /// The kernels for sm_80 run on every later NVIDIA GPU below sm_90, those for sm_90 on sm_90 only.
  static bool fits(const std::string& device, const std::string& target) {
    if (device == target) return true;
    return target == "sm_80" && (device == "sm_86" || device == "sm_87" || device == "sm_89");
  }
};

std::unique_ptr<backend> make_gpu_backend() { return std::make_unique<gpu_backend>(); }

}  // namespace gemm_example
