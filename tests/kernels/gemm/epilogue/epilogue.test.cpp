// SPDX-License-Identifier: MIT
// Everything that an epilogue can do, alone and together.
#include "../check_gemm.hpp"

#include <tilewright/core/arch/arch.hpp>
#include <tilewright/kernels/gemm/two_products.hpp>

namespace tilewright::testing_gemm {
namespace {

using enum operand_major;
using vectors =
    gemm_policy<arch::gfx942, half_t, k, k, 8, block_tile{64, 64, 32, 2, 2, arch::matrix_op::mfma_32x32x8_x2}>;
using elements = gemm_policy<arch::gfx1201, bfloat16_t, k, mn, 1,
                             block_tile{32, 32, 32, 1, 1, arch::matrix_op::wmma_16x16x16_gfx12}>;

template <class Base, class Epilogue>
struct with : Base {
  using epilogue = Epilogue;
};
/// Between alpha and beta.
template <class... Fs>
using between = epilogue::chain<epilogue::alpha, Fs..., epilogue::beta>;

template <class... Fs>
void expect_epilogue() {
  using epilogue = between<Fs...>;
  expect_gemm<with<vectors, epilogue>>({.m = 40, .n = 72, .k = 48, .alpha = 0.5f, .batch = 2, .gap = 8});
  expect_gemm<with<vectors, epilogue>>({.m = 65, .n = 64, .k = 40, .beta = 2});
  expect_gemm<with<elements, epilogue>>({.m = 33, .n = 35, .k = 33, .alpha = 0.5f, .beta = -1, .gap = 1});
}

TEST(Epilogue, Scales) {
  expect_epilogue<epilogue::scale>();
  expect_epilogue<epilogue::row_scale, epilogue::column_scale>();
}
TEST(Epilogue, BiasAndRelu) { expect_epilogue<epilogue::bias, relu>(); }
TEST(Epilogue, ResidualAndSilu) { expect_epilogue<silu, epilogue::residual>(); }
TEST(Epilogue, Everything) {
  expect_epilogue<epilogue::scale, epilogue::row_scale, epilogue::column_scale, epilogue::bias, gelu,
                  epilogue::residual>();
}

/// The epilogue that gemm_args choose at run time does what the one chosen at compile time does, to the bit.
template <class Base, class... Fs>
void expect_same_from_args(const problem& p) {
  gemm_case<with<Base, between<Fs...>>> fixed(p);
  gemm_case<with<Base, epilogue::from_args>> flexible(p);
  gemm_args& args = flexible.args;
  if (!(std::is_same_v<Fs, epilogue::scale> || ...)) args.scale = nullptr;
  if (!(std::is_same_v<Fs, epilogue::row_scale> || ...)) args.row_scale = nullptr;
  if (!(std::is_same_v<Fs, epilogue::column_scale> || ...)) args.column_scale = nullptr;
  if (!(std::is_same_v<Fs, epilogue::bias> || ...)) args.bias = nullptr;
  if (!(std::is_same_v<Fs, epilogue::residual> || ...)) args.residual = nullptr;
  const auto names = [&]<activation Kind>(epilogue::activation<Kind>) { args.activation = Kind; };
  [[maybe_unused]] const auto name_activation = [&](auto f) {
    if constexpr (requires { names(f); }) names(f);
  };
  (name_activation(Fs{}), ...);
  const auto run = [](auto& gemm) {
    using policy = typename std::remove_reference_t<decltype(gemm)>::policy;
    using kernel = gemm_kernel<policy>;
    ASSERT_STREQ(kernel::check(gemm.args), nullptr);
    launch_blocks<policy>(kernel::grid(gemm.args), [&] { kernel{}(gemm.args); });
  };
  run(fixed);
  run(flexible);
  EXPECT_EQ(std::memcmp(fixed.c.data(), flexible.c.data(), fixed.c.size() * sizeof(fixed.c[0])), 0);
}

template <class... Fs>
void expect_same_from_args() {
  expect_same_from_args<vectors, Fs...>({.m = 40, .n = 72, .k = 48, .alpha = 0.5f, .batch = 2, .gap = 8});
  expect_same_from_args<elements, Fs...>({.m = 33, .n = 35, .k = 33, .alpha = 0.5f, .beta = -1, .gap = 1});
}

TEST(Epilogue, ChosenAtRunTime) {
  expect_same_from_args();
  expect_same_from_args<epilogue::scale, epilogue::bias, relu>();
  expect_same_from_args<epilogue::row_scale, gelu, epilogue::residual>();
  expect_same_from_args<epilogue::column_scale, silu>();
}

TEST(Epilogue, ChosenAtRunTimeHasACheckedResidual) {
  using kernel = gemm_kernel<with<vectors, epilogue::from_args>>;
  gemm_args args{.m = 64, .n = 64, .k = 64, .lda = 64, .ldb = 64, .ldc = 64};
  EXPECT_STREQ(kernel::check(args), nullptr);
  args.residual = &args;
  EXPECT_STREQ(kernel::check(args),
               "epilogue::residual: ld_residual is smaller than n; give the elements from row to row");
}

TEST(Epilogue, AsksForItsPointers) {
  using kernel = gemm_kernel<with<vectors, epilogue::chain<epilogue::bias, epilogue::residual>>>;
  gemm_args args{.m = 64, .n = 64, .k = 64, .lda = 64, .ldb = 64, .ldc = 64};
  EXPECT_STREQ(kernel::check(args), "epilogue::bias needs args.bias, which is null");
  alignas(16) static char memory[32];
  args.bias = memory + 8;
  EXPECT_STREQ(kernel::check(args),
               "epilogue::bias: args.bias must be aligned to the kernel's vector; use the kernel with vector 1");
  args.bias = memory;
  EXPECT_STREQ(kernel::check(args), "epilogue::residual needs args.residual, which is null");
  args.residual = memory;
  EXPECT_STREQ(kernel::check(args),
               "epilogue::residual: ld_residual is smaller than n; give the elements from row to row");
  args.ld_residual = 64;
  EXPECT_STREQ(kernel::check(args), nullptr);
  args.ld_residual = 65;
  EXPECT_NE(kernel::check(args), nullptr) << "half vectors";
}

/// Arguments, an epilogue and a check of one's own: x^2 + shift + row(m) + matrix(m, n).
struct own_args : gemm_args {
  float shift = 0;
  const float* row = nullptr;
};
struct own : vectors {
  using result_type = float;
  using args_type = own_args;
  static constexpr auto epilogue = [](auto& sums, const auto& at, const own_args& args) {
    const auto more = at.matrix(args.residual, args.ld_residual, args.batch_stride_residual);
    tile_elementwise_inout([&](float& x, float r, float y) { x = x * x + args.shift + r + y; }, sums,
                           along<0>(at.along_m(args.row)), more);
  };
};
struct plain : vectors {
  using result_type = float;
  using epilogue = tilewright::epilogue::none;
};

TEST(Epilogue, OfOnesOwn) {
  gemm_case<plain> sums({.m = 40, .n = 72, .k = 48, .alpha = 3, .batch = 2, .gap = 8});
  launch_blocks<plain>(gemm_kernel<plain>::grid(sums.args), [&] { gemm_kernel<plain>{}(sums.args); });
  expect_result(sums);  // alpha is not in the chain
  std::vector<float> c(sums.c.size(), -1);
  own_args args{sums.args, 5, sums.row_scale.data()};
  args.c = c.data();
  ASSERT_STREQ(gemm_kernel<own>::check(args), nullptr);
  launch_blocks<own>(gemm_kernel<own>::grid(args), [&] { gemm_kernel<own>{}(args); });
  for (index_t z = 0; z < args.batch; ++z) {
    for (index_t i = 0; i < args.m; ++i) {
      for (index_t j = 0; j < args.n; ++j) {
        const auto at = std::size_t(z * args.batch_stride_c + i * args.ldc + j);
        const float x = sums.c[at],
                    more = sums.residual[std::size_t(z * args.batch_stride_residual + i * args.ld_residual + j)];
        EXPECT_EQ(c[at], x * x + 5 + sums.row_scale[std::size_t(i)] + more) << z << ", " << i << ", " << j;
      }
    }
  }
}

/// A function may have a check; a chain asks each of its functions.
struct never {
  template <class Args>
  static constexpr const char* check(const Args&, const vector_alignment& guarantee) {
    return guarantee.vector == 8 ? "never" : nullptr;
  }
  void operator()(auto&, const auto&, const auto&) const {}
};
TEST(Epilogue, ChecksOfOnesOwn) {
  using kernel = gemm_kernel<with<vectors, epilogue::chain<epilogue::alpha, never>>>;
  EXPECT_STREQ(kernel::check({.m = 64, .n = 64, .k = 64, .lda = 64, .ldb = 64, .ldc = 64}), "never");
}

/// Two products, B contiguous along n, an old C; the first tile is the result of functions that take one.
struct difference {
  void operator()(auto& first, auto& second, const auto&, const auto&) const {
    tile_elementwise_inout([](float& x, float y) { x -= y; }, first, second);
  }
};
struct two_products
    : gemm_policy<arch::gfx942, half_t, k, mn, 8, block_tile{64, 64, 32, 2, 1, arch::matrix_op::mfma_32x32x8_x2}> {
  static constexpr index_t products = 2;
  using epilogue = tilewright::epilogue::chain<difference, tilewright::epilogue::alpha, tilewright::epilogue::beta>;
};

TEST(Epilogue, OfTwoProducts) {
  using kernel = gemm_kernel<two_products>;
  EXPECT_EQ(kernel::tile_n, 32);
  gemm_case<two_products> gemm({.m = 72, .n = 40, .k = 72, .alpha = 2, .beta = 0.5f, .gap = 8});
  const std::vector<half_t> old = gemm.c;
  gemm_args& args = gemm.args;
  std::vector<half_t> both(std::size_t(args.k * 96));  // row l: 40 of the first B, then 40 of the second
  for (std::size_t i = 0; i < both.size(); ++i) both[i] = half_t(float(int(i * 7 % 5) - 2));
  args.b = both.data();
  args.ldb = 96;
  args.product_stride_b = 44;
  EXPECT_NE(kernel::check(args), nullptr) << "half vectors";
  args.product_stride_b = -8;
  EXPECT_NE(kernel::check(args), nullptr);
  args.product_stride_b = 40;
  ASSERT_STREQ(kernel::check(args), nullptr);
  launch_blocks<two_products>(kernel::grid(args), [&] { kernel{}(args); });
  for (index_t i = 0; i < args.m; ++i) {
    for (index_t j = 0; j < args.n; ++j) {
      float sum = 0;
      for (index_t l = 0; l < args.k; ++l) {
        const half_t* row = &both[std::size_t(l * 96)];
        sum += float(gemm.a_at(0, i, l)) * (float(row[j]) - float(row[40 + j]));
      }
      const auto at = std::size_t(i * args.ldc + j);
      EXPECT_EQ(float(gemm.c[at]), float(half_t(2 * sum + 0.5f * float(old[at])))) << i << ", " << j;
    }
  }
}

}  // namespace
}  // namespace tilewright::testing_gemm
