// SPDX-License-Identifier: MIT
// The GPU backend, through HIP or CUDA.
#include <tilewright/core/arch/arch.hpp>
#include <tilewright/kernels/gemm/split_k.hpp>

#include "../gpu/runtime.hpp"
#include "hopper_kernels.hpp"
#include "kernel_entry.hpp"

namespace gemm_program {
namespace {

/// The kernels for sm_80 run on every later NVIDIA GPU below sm_90, those for sm_90 on sm_90 only.
kernel_list kernels_on(const std::string& device) {
#if defined(__HIP_PLATFORM_AMD__)
  kernel_list kernels;
  tw::arch::amd_targets::with(device.c_str(), [&]<class Arch>() { kernels = kernels_for<Arch>(); });
  return kernels;
#else
  if (device == "sm_90") return kernels_for<tw::arch::sm90>();
  if (device == "sm_80" || device == "sm_86" || device == "sm_87" || device == "sm_89")
    return kernels_for<tw::arch::sm80>();
  return {};
#endif
}

class gpu_backend final : public backend {
 public:
  gpu_backend() {
    try {
      device_ = gpu::device();
    } catch (const gpu::unusable& error) {
      throw refusal(std::string(error.what()) + "; use --device host to run on the CPU");
    }
    kernels_ = kernels_on(device_.target);
    if (kernels_.empty())
      throw refusal("the program has no kernels for this GPU, " + device_.name + " (" + device_.target + ")");
#if !defined(__HIP_PLATFORM_AMD__)
    if (device_.target == "sm_90") hopper_ = all_hopper_products();
#endif
  }

  tw::arch::fp8_kind fp8() const override {
    return hopper_.empty() ? kernels_.front().target->fp8 : tw::arch::fp8_kind::ocp;
  }
  std::string target() const override { return device_.target; }

  void require(const problem& p, const kernel_request& request) override {
    kernel_problem problem = kernel_problem_of(p);
    if (!choose_hopper_kernel(hopper_, problem, request, device_.SMs).product)
      choose_kernel(kernels_, problem, request);
  }

  outcome run(const problem& p, const operands& data, const run_options& options) override try {
    kernel_problem problem = kernel_problem_of(p, data);
    const hopper_choice hopper = choose_hopper_kernel(hopper_, problem, options.kernel, device_.SMs);
    chosen_kernel portable{};
    if (!hopper.product) {
      portable = choose_kernel(kernels_, problem, options.kernel);
      if (!hopper.reason.empty()) portable.reason += "; not one of the Hopper kernels: " + hopper.reason;
    }
    outcome result =
        hopper.product ? run(p, data, problem, hopper, options) : run(p, data, problem, *portable.kernel, options);
    result.reason = hopper.product ? hopper.reason : portable.reason;
    result.device = device_.name + " (" + device_.target + ")";
    return result;
  } catch (const gpu::unusable& error) {
    throw refusal(error.what());
  }

 private:
  using bytes = gpu::buffer<char>;

  /// Copies what a pointer of the arguments points to, if anything, to the GPU, and lets it point there.
  struct moved {
    template <class T>
    moved(const T*& pointer, std::int64_t elements, std::int64_t bytes_of_one)
        : copy(reinterpret_cast<const char*>(pointer), static_cast<std::size_t>(elements * bytes_of_one)) {
      pointer = reinterpret_cast<const T*>(copy.data());
    }
    bytes copy;
  };

  /// What the arguments point to, on the GPU.
  struct on_device {
    on_device(const problem& p, tw::gemm_args& args)
        : a(args.a, args.batch_stride_a * args.batch, bytes_of(p.type)),
          b(args.b, args.batch_stride_b * args.batch, bytes_of(p.type)),
          c(static_cast<std::size_t>(args.batch_stride_c * args.batch * bytes_of(p.result))),
          scale(args.scale, 1, sizeof(float)),
          row_scale(args.row_scale, args.m, sizeof(float)),
          column_scale(args.column_scale, args.n, sizeof(float)),
          bias(args.bias, args.n, bytes_of(p.result)),
          residual(args.residual, args.batch_stride_residual * args.batch, bytes_of(p.result)) {
      args.c = c.data();
    }
    moved a, b;
    bytes c;
    moved scale, row_scale, column_scale, bias, residual;
  };

  /// Times work that computes C from what is on the device, and brings C back.
  static outcome repeat(on_device& device, char* host_c, const run_options& options,
                        const std::function<void()>& work) {
    outcome result;
    gpu::event begin, end;
    for (int i = 0; i < options.repeat; ++i) {
      device.c.upload(host_c);
      begin.record();
      work();
      end.record();
      result.seconds.push_back(end.seconds_since(begin));
      gpu::check(TILEWRIGHT_GPU(GetLastError)(), "running the kernel");
      if (options.progress) options.progress(double(i + 1) / options.repeat);
    }
    device.c.download(host_c);
    return result;
  }

  static outcome run(const problem& p, const operands& data, kernel_problem& problem, const kernel_entry& kernel,
                     const run_options& options) {
    tw::gemm_args& args = problem.args;
    on_device device(p, args);
    const std::vector<char> zeros(kernel.splits_k() ? static_cast<std::size_t>(tw::workspace_bytes(args)) : 0);
    bytes workspace(zeros.size());
    workspace.upload(zeros.data());
    args.workspace = workspace.data();
    outcome result = repeat(device, static_cast<char*>(data.c), options, [&] { kernel.launch(args); });
    result.kernel = kernel.name();
    result.lds = predicted_lds(kernel, args);
    return result;
  }

  static outcome run(const problem& p, const operands& data, kernel_problem& problem, const hopper_choice& chosen,
                     const run_options& options) {
    on_device device(p, problem.args);
    outcome result =
        repeat(device, static_cast<char*>(data.c), options, chosen.product->prepare(problem.args, chosen.kernel));
    result.kernel = chosen.name();
    return result;
  }

  gpu::device_facts device_;
  kernel_list kernels_;
  std::vector<hopper_product> hopper_;
};

}  // namespace

std::unique_ptr<backend> make_gpu_backend() { return std::make_unique<gpu_backend>(); }

}  // namespace gemm_program
