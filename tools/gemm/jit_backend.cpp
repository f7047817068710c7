// SPDX-License-Identifier: MIT
// A machine whose kernels are compiled for each problem: a library that the program loads for --jit.
#include <chrono>
#include <list>

#include <tilewright/core/arch/arch.hpp>
#include <tilewright/jit/compiler.hpp>
#include <tilewright/jit/gemm.hpp>
#include <tilewright/kernels/gemm/hopper/hopper_gemm_plan.hpp>
#include <tilewright/kernels/gemm/split_k.hpp>

#include "formatted.hpp"
#include "kernel_entry.hpp"

namespace gemm_program {
namespace {

namespace jit = tilewright::jit;

jit::element element_for(element type) {
  switch (type) {
    case element::f16: return jit::element::f16;
    case element::bf16: return jit::element::bf16;
    case element::f32: return jit::element::f32;
    case element::e4m3:
    case element::e4m3fnuz: return jit::element::fp8;
    case element::e5m2:
    case element::e5m2fnuz: return jit::element::bf8;
    case element::i8: return jit::element::i8;
    case element::i32: break;
  }
  return jit::element::i32;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

class jit_backend final : public backend {
 public:
  tw::arch::fp8_kind fp8() const override {
    const std::string name = target();
    return tw::arch::find_target(name.ends_with('a') && name.starts_with("sm_") ? "sm_90" : name.c_str())->fp8;
  }
  std::string target() const override { return compiler_.target(); }

  void require(const problem& p, const kernel_request& request) override {
    if (request.grid_order) throw refusal("--grid-order cannot be combined with --jit");
    kernel_problem_of(p);
  }

  outcome run(const problem& p, const operands& data, const run_options& options) override try {
    kernel_problem given = kernel_problem_of(p, data);
    tw::gemm_args& args = given.args;
    args.split_k = tw::index_t(options.kernel.split_k);
    std::list<jit::buffer> buffers;
    const auto move_to_gpu = [&]<class T>(const T*& pointer, std::int64_t bytes) {
      if (!pointer) return;
      buffers.push_back(compiler_.allocate(std::size_t(bytes)));
      buffers.back().upload(pointer);
      pointer = static_cast<const T*>(buffers.back().data());
    };
    const std::int64_t bytes = bytes_of(p.type), result_bytes = bytes_of(p.result);
    move_to_gpu(args.a, args.batch_stride_a * args.batch * bytes);
    move_to_gpu(args.b, args.batch_stride_b * args.batch * bytes);
    move_to_gpu(args.scale, sizeof(float));
    move_to_gpu(args.row_scale, args.m * std::int64_t{4});
    move_to_gpu(args.column_scale, args.n * std::int64_t{4});
    move_to_gpu(args.bias, args.n * result_bytes);
    move_to_gpu(args.residual, args.batch_stride_residual * args.batch * result_bytes);
    const jit::buffer c = compiler_.allocate(std::size_t(args.batch_stride_c * args.batch * result_bytes));
    args.c = c.data();
    const jit::buffer workspace = workspace_for(args);
    args.workspace = workspace.data();

    const auto start = std::chrono::steady_clock::now();
    const jit::kernel kernel = compiler_.load(jit::gemm({.type = element_for(p.type),
                                                         .result = element_for(p.result),
                                                         .a_along_k = given.a_major == tw::operand_major::k,
                                                         .b_along_k = given.b_major == tw::operand_major::k,
                                                         .args = args,
                                                         .policy = options.kernel.policy.value_or("")}));
    outcome result;
    result.device = target() + ", kernels compiled for the problem";
    result.kernel = kernel.name();
    result.reason =
        "compiled for these lengths, or found in the cache, in " + formatted("%.3f s", seconds_since(start));
    const jit::bound_kernel launch = kernel.bind(args);
    for (int i = 0; i < options.repeat; ++i) {
      c.upload(data.c);
      const auto begin = std::chrono::steady_clock::now();
      launch();
      compiler_.synchronize();
      result.seconds.push_back(seconds_since(begin));
      if (options.progress) options.progress(double(i + 1) / options.repeat);
    }
    c.download(data.c);
    return result;
  } catch (const jit::error& e) {
    throw refusal(e.what());
  }

 private:
  jit::buffer workspace_for(const tw::gemm_args& args) {
    const std::vector<char> zeros(args.split_k > 1       ? std::size_t(tw::workspace_bytes(args))
                                  : target() == "sm_90a" ? std::size_t(tw::hopper_gemm_workspace::bytes)
                                                         : 16);
    jit::buffer memory = compiler_.allocate(zeros.size());
    memory.upload(zeros.data());
    return memory;
  }

  jit::compiler compiler_;
};

}  // namespace

/// What the program looks up in this library.
extern "C" [[gnu::visibility("default")]] backend* make_gemm_jit_backend() {
  try {
    return new jit_backend;
  } catch (const jit::error& e) {
    throw refusal(e.what());
  }
}

}  // namespace gemm_program
