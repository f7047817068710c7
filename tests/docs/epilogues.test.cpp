// SPDX-License-Identifier: MIT
// What docs/epilogues.md shows.
#include <tilewright/kernels/gemm.hpp>
#include <tilewright/launch/launch.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace tw = tilewright;
using tw::half_t;
using enum tw::operand_major;

namespace {

// C = relu(alpha A B + bias), by functions of the library.
struct fused : tw::gemm_policy<tw::arch::gfx942, half_t, k, k, 8> {
  using epilogue =
      tw::epilogue::chain<tw::epilogue::alpha, tw::epilogue::bias, tw::epilogue::activation<tw::activation::relu>>;
};

// C(m, n) = A B(m, n) / norm(m) + offset, by a function of your own and arguments of your own.
struct normalise_args : tw::gemm_args {
  const float* norm = nullptr;  // m
  float offset = 0;
};
struct normalise {
  TILEWRIGHT_HD void operator()(auto& accumulators, const auto& at, const normalise_args& args) const {
    tw::tile_elementwise_inout([&](float& x, float norm) { x = x / norm + args.offset; }, accumulators,
                               tw::along<0>(at.along_m(args.norm)));
  }
  static constexpr const char* check(const normalise_args& args, const tw::vector_alignment&) {
    return args.norm ? nullptr : "normalise needs args.norm, which is null";
  }
};
template <class Base>
struct normalised : Base {
  using epilogue = normalise;
  using args_type = normalise_args;
};

// The same function in two pipelines.
using on_amd = tw::gemm_kernel<normalised<tw::gemm_policy<tw::arch::gfx942, half_t, k, k, 8>>>;
using on_hopper =
    tw::gemm_kernel<normalised<tw::gemm_policy<tw::arch::sm90, half_t, k, k, 8, tw::wgmma_tile<half_t>(128, 256),
                                               tw::warp_specialized_pipeline<>>>>;

struct problem {
  static constexpr int m = 72, n = 40, k = 64;
  std::vector<half_t> a = std::vector<half_t>(m * k, half_t(1)), b = std::vector<half_t>(n * k, half_t(2)),
                      c = std::vector<half_t>(m * n);
  std::vector<float> norm = std::vector<float>(m, 4.0f);

  template <class Args>
  Args args() {
    Args result;
    result.a = a.data();
    result.b = b.data();
    result.c = c.data();
    result.m = m;
    result.n = n;
    result.k = result.lda = result.ldb = k;
    result.ldc = n;
    return result;
  }
};

template <class Kernel>
void expect_normalised() {
  problem p;
  normalise_args args = p.args<normalise_args>();
  EXPECT_STREQ(Kernel::check(args), "normalise needs args.norm, which is null");
  args.norm = p.norm.data();
  args.offset = 0.5f;
  tw::launch<Kernel>(args);
  for (const half_t x : p.c) EXPECT_EQ(float(x), 32.5f);
}

TEST(Epilogues, OneFunctionInTwoPipelines) {
  expect_normalised<on_amd>();
  expect_normalised<on_hopper>();
}

TEST(Epilogues, FunctionsOfTheLibrary) {
  problem p;
  const std::vector<half_t> bias(problem::n, half_t(-200.0f));
  tw::gemm_args args = p.args<tw::gemm_args>();
  EXPECT_STREQ(tw::gemm_kernel<fused>::check(args), "epilogue::bias needs args.bias, which is null");
  args.bias = bias.data();
  args.alpha = 2;
  tw::launch<tw::gemm_kernel<fused>>(args);
  for (const half_t x : p.c) EXPECT_EQ(float(x), 56.0f);
}

}  // namespace
