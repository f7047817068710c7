// SPDX-License-Identifier: MIT
// This library's GEMM kernels for compute capability 8.0 and later: cp.async, ldmatrix and mma.sync.
#include <tilewright/core/arch/current.hpp>
#include <tilewright/kernels/gemm.hpp>

#include "contender.hpp"
#include "device.hpp"

namespace gpu_benchmark {
namespace {

namespace tw = tilewright;
using tw::operand_major;

template <class T, operand_major BMajor>
using policy = tw::gemm_128x256<tw::arch::sm90, T, operand_major::k, BMajor, 8>;

template <class Policy>
TILEWRIGHT_GLOBAL TILEWRIGHT_BLOCK_SIZE(
    tw::gemm_kernel<Policy>::block_size,
    tw::gemm_kernel<Policy>::blocks_at_once) void gemm([[maybe_unused]] tw::gemm_args args) {
#if TILEWRIGHT_DEVICE_PASS
  tw::gemm_kernel<Policy>{}(args);
#endif
}

class portable_contender final : public contender {
 public:
  std::string name() const override { return "portable"; }
  std::string choice() const override { return policy<tw::half_t, operand_major::k>::name; }

  std::string prepare(const problem& p, const std::vector<operands>& sets) override {
    if (p.a_col_major) return "this contender has kernels for a row-major A";
    if (p.type == element::e4m3) return "mma.sync kernels multiply 16-bit elements";
    if (p.m > INT32_MAX || p.n > INT32_MAX || p.k > INT32_MAX) return "lengths must be below 2^31";
    if (p.b_col_major)
      return p.type == element::f16 ? choose<tw::half_t, operand_major::k>(p, sets)
                                    : choose<tw::bfloat16_t, operand_major::k>(p, sets);
    return p.type == element::f16 ? choose<tw::half_t, operand_major::mn>(p, sets)
                                  : choose<tw::bfloat16_t, operand_major::mn>(p, sets);
  }

  void launch(std::size_t set, cudaStream_t stream) override { launch_(args_[set], stream); }

 private:
  template <class T, operand_major BMajor>
  std::string choose(const problem& p, const std::vector<operands>& sets) {
    using kernel = tw::gemm_kernel<policy<T, BMajor>>;
    args_.clear();
    for (const operands& o : sets) {
      const auto m = tw::index_t(p.m), n = tw::index_t(p.n), k = tw::index_t(p.k);
      args_.push_back(
          {.a = o.a, .b = o.b, .c = o.c, .m = m, .n = n, .k = k, .lda = k, .ldb = p.b_col_major ? k : n, .ldc = n});
      if (const char* why = kernel::check(args_.back())) return why;
    }
    check(
        cudaFuncSetAttribute(&gemm<policy<T, BMajor>>, cudaFuncAttributeMaxDynamicSharedMemorySize, kernel::lds_bytes),
        "asking for LDS");
    launch_ = [](const tw::gemm_args& args, cudaStream_t stream) {
      const tw::grid_size grid = kernel::grid(args);
      gemm<policy<T, BMajor>><<<dim3(unsigned(grid.x), unsigned(grid.y), unsigned(grid.z)), kernel::block_size,
                                kernel::lds_bytes, stream>>>(args);
      check(cudaGetLastError(), "launching the kernel");
    };
    return {};
  }

  std::vector<tw::gemm_args> args_;
  void (*launch_)(const tw::gemm_args&, cudaStream_t) = nullptr;
};

}  // namespace

std::unique_ptr<contender> make_portable_contender() { return std::make_unique<portable_contender>(); }

}  // namespace gpu_benchmark
