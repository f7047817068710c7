// SPDX-License-Identifier: MIT
// This library's GEMM kernels.
#include <tilewright/arch/current.hpp>
#include <tilewright/tilewright.hpp>

#include "contender.hpp"
#include "device.hpp"

namespace gpu_benchmark {
namespace {

namespace tw = tilewright;

template <class T, tw::operand_major BMajor>
using policy = tw::gemm_policy<tw::arch::sm90, T, tw::operand_major::k, BMajor, 8>;

template <class Policy>
TILEWRIGHT_GLOBAL TILEWRIGHT_BLOCK_SIZE(256) void gemm([[maybe_unused]] tw::gemm_args args) {
#if TILEWRIGHT_DEVICE_PASS
  tw::gemm_kernel<Policy>{}(args);
#endif
}

class tilewright_contender final : public contender {
 public:
  std::string name() const override { return "tilewright"; }
  std::string choice() const override { return "mma.sync"; }

  std::string prepare(const problem& p, const std::vector<operands>& sets) override {
    if (p.type == element::e4m3) return "fp8 has no kernel yet";
    if (p.m > INT32_MAX || p.n > INT32_MAX || p.k > INT32_MAX) return "lengths must be below 2^31";
    if (p.b_col_major)
      return p.type == element::f16 ? choose<tw::half_t, tw::operand_major::k>(p, sets)
                                    : choose<tw::bfloat16_t, tw::operand_major::k>(p, sets);
    return p.type == element::f16 ? choose<tw::half_t, tw::operand_major::mn>(p, sets)
                                  : choose<tw::bfloat16_t, tw::operand_major::mn>(p, sets);
  }

  void launch(std::size_t set, cudaStream_t stream) override { launch_(args_[set], stream); }

 private:
  template <class T, tw::operand_major BMajor>
  std::string choose(const problem& p, const std::vector<operands>& sets) {
    using kernel = tw::gemm_kernel<policy<T, BMajor>>;
    args_.clear();
    for (const operands& o : sets) {
      const auto m = tw::index_t(p.m), n = tw::index_t(p.n), k = tw::index_t(p.k);
      args_.push_back(
          {.a = o.a, .b = o.b, .c = o.c, .m = m, .n = n, .k = k, .lda = k, .ldb = p.b_col_major ? k : n, .ldc = n});
      if (const char* why = kernel::check(args_.back())) return why;
    }
    const auto entry = &gemm<policy<T, BMajor>>;
    check(cudaFuncSetAttribute(entry, cudaFuncAttributeMaxDynamicSharedMemorySize, kernel::lds_bytes),
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

std::unique_ptr<contender> make_tilewright_contender() { return std::make_unique<tilewright_contender>(); }

}  // namespace gpu_benchmark
