// SPDX-License-Identifier: MIT
// own-epilogue: time of a GEMM with bias and gelu, the built-in functions against a function of one's own, in turns.
//   nvcc -x cu -std=c++20 -gencode=arch=compute_90a,code=sm_90a -I include benchmarks/gpu/own_epilogue.cu -o
//   own-epilogue
#include <tilewright/kernels/gemm/hopper/hopper_gemm_kernel.hpp>
#include <tilewright/launch/launch.hpp>
#include <tilewright/tilewright.hpp>

#include "../../tools/gpu/runtime.hpp"

#include <algorithm>
#include <cstdio>
#include <random>

namespace {

namespace tw = tilewright;
using tw::bfloat16_t, tw::index_t;
using enum tw::operand_major;

using base = tw::gemm_policy<tw::arch::sm90, bfloat16_t, k, k, 8, tw::wgmma_tile<bfloat16_t>(128, 256),
                             tw::warp_specialized_pipeline<>>;
struct built_in : base {
  using epilogue = tw::epilogue::chain<tw::epilogue::bias, tw::epilogue::activation<tw::activation::gelu>>;
};
struct bias_and_gelu {
  TILEWRIGHT_HD void operator()(auto& sums, const auto& at, const auto& args) const {
    const auto bias = at.along_n(static_cast<const bfloat16_t*>(args.bias));
    tw::tile_elementwise_inout([](float& x, bfloat16_t b) { x = tw::activate<tw::activation::gelu>(x + float(b)); },
                               sums, tw::along<1>(bias));
  }
};
struct own : base {
  using epilogue = bias_and_gelu;
};

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + std::ptrdiff_t(values.size() / 2), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main() {
  for (const index_t n : {2048, 4096, 8192}) {
    const std::size_t size = std::size_t(n) * std::size_t(n);
    std::vector<bfloat16_t> values(size);
    std::mt19937 random(1);
    std::normal_distribution<float> gaussian;
    for (bfloat16_t& x : values) x = bfloat16_t(gaussian(random));
    const gpu::buffer<bfloat16_t> a(values.data(), size), b(values.data(), size), c(size), c_own(size),
        bias(values.data(), std::size_t(n));
    tw::gemm_args args{
        .a = a.data(), .b = b.data(), .c = c.data(), .m = n, .n = n, .k = n, .lda = n, .ldb = n, .ldc = n};
    args.bias = bias.data();
    const tw::prepared_launch<tw::gemm_kernel<built_in>> first(args);
    args.c = c_own.data();
    const tw::prepared_launch<tw::gemm_kernel<own>> second(args);
    const int repeat = int(20e9 / double(n) * 1000 / double(n) / double(n)) + 5;
    std::vector<double> times[2], ratios;
    for (int round = 0; round < 21; ++round) {
      double seconds[2];
      for (const int which : {round % 2, 1 - round % 2}) {
        gpu::event begin, end;
        begin.record();
        for (int i = 0; i < repeat; ++i) {
          if (which == 0) {
            first({});
          } else {
            second({});
          }
        }
        end.record();
        seconds[which] = end.seconds_since(begin) / repeat;
      }
      for (const int which : {0, 1}) times[which].push_back(seconds[which]);
      ratios.push_back(seconds[1] / seconds[0]);
    }
    const bool same = c.download() == c_own.download();
    std::printf("%d^3: built-in %.2f us, own %.2f us, ratio %.4f, results %s\n", n, median(times[0]) * 1e6,
                median(times[1]) * 1e6, median(ratios), same ? "equal" : "DIFFER");
  }
}
