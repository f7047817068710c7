// SPDX-License-Identifier: MIT
// This library's GEMM kernels for compute capability 8.0 and later: cp.async, ldmatrix and mma.sync.
#include <tilewright/arch/current.hpp>
#include <tilewright/tilewright.hpp>

#include "contender.hpp"
#include "device.hpp"

namespace gpu_benchmark {
namespace {

namespace tw = tilewright;
using tw::operand_major;

template <class T, operand_major BMajor>
struct policy : tw::gemm_policy<tw::arch::sm90, T, operand_major::k, BMajor, 8,
                                tw::block_tile{128, 256, 64, 2, 4, tw::arch::matrix_op::mma_m16n8k16_x2},
                                tw::multi_stage_pipeline<4>> {
  // 132 blocks at once: as many rows of A as columns of B.
  static constexpr tw::grid_order order{.group_rows = 16};
};

template <class Policy>
__global__ __launch_bounds__(Policy::tile.block_size(),
                             256 / Policy::tile.block_size()) void gemm([[maybe_unused]] tw::gemm_args args) {
#if TILEWRIGHT_DEVICE_PASS
  tw::gemm_kernel<Policy>{}(args);
#endif
}

/// Matrix instructions on registers alone: the most that mma.sync can do.
__global__ void multiply_registers([[maybe_unused]] float* out, [[maybe_unused]] int rounds) {
#if TILEWRIGHT_DEVICE_PASS
  constexpr auto op = tw::arch::matrix_op::mma_m16n8k16_x2;
  tw::half_t a[8], b[8];
  float c[8][8] = {};
  for (int i = 0; i < 8; ++i) {
    a[i] = tw::half_t(float((threadIdx.x * 37 + i * 11) % 64) / 32 - 1);
    b[i] = tw::half_t(float((threadIdx.x * 53 + i * 29) % 64) / 32 - 1);
  }
  for (int round = 0; round < rounds; ++round) {
    tw::unroll<8>([&](auto i) { tw::exec::mma<op>(c[i], a, b); });
  }
  float sum = 0;
  for (const auto& registers : c) {
    for (const float x : registers) sum += x;
  }
  if (sum == 1234567) *out = sum;  // never: keeps the loop alive
#endif
}

class portable_contender final : public contender {
 public:
  std::string name() const override { return "portable"; }
  std::string choice() const override { return "mma.sync"; }

  std::string prepare(const problem& p, const std::vector<operands>& sets) override {
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

double mma_sync_tflops() {
  constexpr int threads = 256, blocks_per_multiprocessor = 8, rounds = 20000;
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, 0), "asking for the GPU's properties");
  const int blocks = properties.multiProcessorCount * blocks_per_multiprocessor;
  buffer out(sizeof(float));
  event begin, end;
  multiply_registers<<<blocks, threads>>>(static_cast<float*>(out.data()), rounds / 10);
  begin.record();
  multiply_registers<<<blocks, threads>>>(static_cast<float*>(out.data()), rounds);
  end.record();
  const double seconds = end.seconds_since(begin);
  check(cudaGetLastError(), "multiplying registers");
  return double(blocks) * (threads / 32) * rounds * 8 * (2.0 * 16 * 16 * 16) / seconds * 1e-12;
}

}  // namespace gpu_benchmark
