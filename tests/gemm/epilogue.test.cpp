// SPDX-License-Identifier: MIT
// Everything that an epilogue can do, alone and together.
#include "check_gemm.hpp"

#include <tilewright/arch/arch.hpp>

namespace tilewright::testing_gemm {
namespace {

using enum operand_major;
using vectors =
    gemm_policy<arch::gfx942, half_t, k, k, 8, block_tile{64, 64, 32, 2, 2, arch::matrix_op::mfma_32x32x8_x2}>;
using elements = gemm_policy<arch::gfx1201, bfloat16_t, k, mn, 1,
                             block_tile{32, 32, 32, 1, 1, arch::matrix_op::wmma_16x16x16_gfx12}>;

template <class Base, epilogue_options Options>
struct with : Base {
  static constexpr epilogue_options epilogue = Options;
};

template <epilogue_options Options>
void expect_epilogue() {
  expect_gemm<with<vectors, Options>>({.m = 40, .n = 72, .k = 48, .alpha = 0.5f, .batch = 2, .gap = 8});
  expect_gemm<with<vectors, Options>>({.m = 65, .n = 64, .k = 40, .beta = 2});
  expect_gemm<with<elements, Options>>({.m = 33, .n = 35, .k = 33, .alpha = 0.5f, .beta = -1, .gap = 1});
}

TEST(Epilogue, Scales) {
  expect_epilogue<epilogue_options{.scale = true}>();
  expect_epilogue<epilogue_options{.row_scale = true, .column_scale = true}>();
}
TEST(Epilogue, BiasAndRelu) { expect_epilogue<epilogue_options{.bias = true, .activation = activation::relu}>(); }
TEST(Epilogue, ResidualAndSilu) {
  expect_epilogue<epilogue_options{.activation = activation::silu, .residual = true}>();
}
TEST(Epilogue, Everything) {
  expect_epilogue<epilogue_options{.scale = true,
                                   .row_scale = true,
                                   .column_scale = true,
                                   .bias = true,
                                   .activation = activation::gelu,
                                   .residual = true}>();
}

/// The epilogue that gemm_args choose at run time does what the one chosen at compile time does, to the bit.
template <class Base, epilogue_options Options>
void expect_same_from_args(const problem& p) {
  gemm_case<with<Base, Options>> fixed(p);
  gemm_case<with<Base, epilogue_options{.from_args = true}>> flexible(p);
  gemm_args& args = flexible.args;
  if (!Options.scale) args.scale = nullptr;
  if (!Options.row_scale) args.row_scale = nullptr;
  if (!Options.column_scale) args.column_scale = nullptr;
  if (!Options.bias) args.bias = nullptr;
  if (!Options.residual) args.residual = nullptr;
  args.activation = Options.activation;
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

template <epilogue_options Options>
void expect_same_from_args() {
  expect_same_from_args<vectors, Options>({.m = 40, .n = 72, .k = 48, .alpha = 0.5f, .batch = 2, .gap = 8});
  expect_same_from_args<elements, Options>({.m = 33, .n = 35, .k = 33, .alpha = 0.5f, .beta = -1, .gap = 1});
}

TEST(Epilogue, ChosenAtRunTime) {
  expect_same_from_args<epilogue_options{}>();
  expect_same_from_args<epilogue_options{.scale = true, .bias = true, .activation = activation::relu}>();
  expect_same_from_args<epilogue_options{.row_scale = true, .activation = activation::gelu, .residual = true}>();
  expect_same_from_args<epilogue_options{.column_scale = true, .activation = activation::silu}>();
}

TEST(Epilogue, ChosenAtRunTimeHasACheckedResidual) {
  using kernel = gemm_kernel<with<vectors, epilogue_options{.from_args = true}>>;
  gemm_args args{.m = 64, .n = 64, .k = 64, .lda = 64, .ldb = 64, .ldc = 64};
  EXPECT_STREQ(kernel::check(args), nullptr);
  args.residual = &args;
  EXPECT_STREQ(kernel::check(args), "ld_residual is smaller than a row of the residual");
}

TEST(Epilogue, AsksForItsPointers) {
  using kernel = gemm_kernel<with<vectors, epilogue_options{.bias = true, .residual = true}>>;
  gemm_args args{.m = 64, .n = 64, .k = 64, .lda = 64, .ldb = 64, .ldc = 64};
  const std::string null =
      "the epilogue needs a pointer that is null: scale, row_scale, column_scale, bias or residual";
  EXPECT_EQ(kernel::check(args), null);
  args.bias = &args;
  EXPECT_EQ(kernel::check(args), null);
  args.residual = &args;
  EXPECT_STREQ(kernel::check(args), "ld_residual is smaller than a row of the residual");
  args.ld_residual = 64;
  EXPECT_STREQ(kernel::check(args), nullptr);
  args.ld_residual = 65;
  EXPECT_NE(kernel::check(args), nullptr) << "half vectors";
}

}  // namespace
}  // namespace tilewright::testing_gemm
