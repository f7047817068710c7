// SPDX-License-Identifier: MIT
// GEMM kernels for gfx950 with operands whose columns are contiguous: they stay so in LDS,
// and transposing reads exchange elements.
#include "check_gemm.hpp"

#include <tilewright/core/arch/arch.hpp>
#include <tilewright/kernels/gemm/lds_prediction.hpp>
#include <tilewright/kernels/gemm/named_policies.hpp>

namespace tilewright::testing_gemm {
namespace {

using enum arch::matrix_op;
using enum operand_major;
using target = arch::gfx950;

/// No instruction meets another one in a bank, and each is as wide as it can be.
template <class Policy>
void expect_no_conflicts() {
  static_assert(require_conflict_free_gemm<Policy>());
  constexpr gemm_lds_prediction p = predict_lds<Policy>();
  constexpr auto transposing = arch::transposing_read_op(sizeof(typename Policy::element_type));
  EXPECT_EQ(p.a_read.op, Policy::a_major == mn ? transposing : arch::lds_op::read_b128);
  EXPECT_EQ(p.b_read.op, Policy::b_major == mn ? transposing : arch::lds_op::read_b128);
  EXPECT_EQ(p.a_write.op, arch::lds_op::write_b128);
  EXPECT_EQ(p.b_write.op, arch::lds_op::write_b128);
}

TEST(GemmTransposingReads, NamedPoliciesAreFreeOfConflicts) {
  apply([]<class... Ps>(Ps...) { (expect_no_conflicts<Ps>(), ...); }, named_policies<target, half_t, mn, mn, 8>());
  expect_no_conflicts<gemm_128x128<target, fp8_ocp_t, mn, mn, 16>>();
  expect_no_conflicts<gemm_256x256<target, fp8_ocp_t, k, mn, 16>>();
}

TEST(GemmTransposingReads, OfSixteenBits) {
  expect_all_gemms<gemm_policy<target, half_t, mn, mn, 8, block_tile{64, 64, 64, 2, 2, mfma_32x32x16}>>();
  expect_all_gemms<gemm_policy<target, bfloat16_t, k, mn, 1, block_tile{64, 64, 64, 2, 2, mfma_32x32x8_x2}>>();
  expect_all_gemms<gemm_policy<target, half_t, mn, k, 8, block_tile{64, 64, 64, 2, 2, mfma_16x16x32}>>();
}

TEST(GemmTransposingReads, OfEightBits) {
  expect_all_gemms<gemm_policy<target, fp8_ocp_t, mn, mn, 16, block_tile{64, 64, 128, 2, 2, mfma_32x32x64_b8}>>();
  expect_gemm<gemm_policy<target, int8_t, mn, k, 16, block_tile{64, 64, 64, 2, 2, mfma_32x32x32_b8}>>(
      {.m = 80, .n = 48, .k = 176, .alpha = 3, .beta = -2, .batch = 2, .gap = 16});
}

TEST(GemmTransposingReads, BehindCopiesWithoutRegisters) {
  using policy =
      gemm_policy<target, half_t, mn, mn, 8, block_tile{64, 64, 64, 2, 2, mfma_32x32x16}, multi_stage_pipeline<3>>;
  static_assert(policy::wave_copy_bytes == 16);
  expect_no_conflicts<policy>();
  expect_all_gemms<policy>();
}

TEST(GemmTransposingReads, SaveTheTransposingWrites) {
  // Both take the same LDS clocks; what is saved is the exchange of elements between registers.
  constexpr gemm_lds_prediction columns = predict_lds<gemm_128x128<target, half_t, mn, mn, 8>>(),
                                rows = predict_lds<gemm_128x128<target, half_t, k, k, 8>>();
  EXPECT_EQ(columns.a_read.clocks + columns.b_read.clocks, rows.a_read.clocks + rows.b_read.clocks);
  EXPECT_EQ(columns.a_write.cycles + columns.b_write.cycles, rows.a_write.cycles + rows.b_write.cycles);
}

}  // namespace
}  // namespace tilewright::testing_gemm
