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
  EXPECT_STREQ(kernel::check(args), "ld_residual is smaller than a row of the residual");
}

TEST(Epilogue, AsksForItsPointers) {
  using kernel = gemm_kernel<with<vectors, epilogue::chain<epilogue::bias, epilogue::residual>>>;
  gemm_args args{.m = 64, .n = 64, .k = 64, .lda = 64, .ldb = 64, .ldc = 64};
  EXPECT_STREQ(kernel::check(args), "epilogue::bias needs args.bias, which is null");
  args.bias = &args;
  EXPECT_STREQ(kernel::check(args), "epilogue::residual needs args.residual, which is null");
  args.residual = &args;
  EXPECT_STREQ(kernel::check(args), "ld_residual is smaller than a row of the residual");
  args.ld_residual = 64;
  EXPECT_STREQ(kernel::check(args), nullptr);
  args.ld_residual = 65;
  EXPECT_NE(kernel::check(args), nullptr) << "half vectors";
}

}  // namespace
}  // namespace tilewright::testing_gemm
