// SPDX-License-Identifier: MIT
#include <tilewright/jit/grouped.hpp>

#include <tilewright/jit/given_later.hpp>

#include "emulated.hpp"

namespace {

using tilewright::group_kind;

class JitGrouped : public Emulated {};

TEST_F(JitGrouped, RowsWithAnOddStrideAndABias) {
  constexpr index_t rows = 90, n = 41, k = 33, groups = 4, ends[] = {7, 7, 60, 85};
  auto a = array(rows * k, 5), b = array(groups * n * k, 7), bias = array(n, 3), c = array(rows * n, 11);
  const std::vector<half_t> before = c.host;
  auto on_ends = array_of<index_t>({ends[0], ends[1], ends[2], ends[3]});
  jit::grouped_problem p{.b_along_k = false};
  p.args.m = rows, p.args.n = n, p.args.k = k, p.args.lda = k, p.args.ldb = n, p.args.ldc = n;
  p.args.batch_stride_b = n * k, p.args.groups = groups, p.args.alpha = 0.5f;
  p.args.bias = bias.data(), p.args.ends = on_ends.data();
  const jit::kernel kernel = compiler->load(jit::grouped_gemm(p));
  EXPECT_EQ(kernel.name(), "grouped_gemm_rows_128x128_v1_f16_ak_bn_to_f16_epilogue");
  tilewright::grouped_args args = p.args;
  EXPECT_EQ(sentence_of([&] { kernel(args); }), "jit: " + kernel.name() + ": a pointer is null: a, b or c");
  args.a = a.data(), args.b = b.data(), args.c = c.data();
  kernel(args);
  c.download();
  for (index_t r = 0, g = 0; r < rows; ++r) {
    while (g < groups && r >= ends[g]) ++g;
    for (index_t col = 0; col < n; ++col) {
      double sum = 0;
      for (index_t x = 0; g < groups && x < k; ++x) sum += a.value(r * k + x) * b.value(g * n * k + x * n + col);
      const double wanted = g < groups ? 0.5 * sum + bias.value(col) : double(float(before[std::size_t(r * n + col)]));
      ASSERT_NEAR(c.value(r * n + col), wanted, 0.02) << r << ", " << col;
    }
  }
  args.counts = on_ends.data();
  EXPECT_EQ(sentence_of([&] { kernel(args); }), "jit: " + kernel.name() + ": groups need either ends or counts");
}

TEST_F(JitGrouped, DividesK) {
  constexpr index_t m = 40, n = 24, groups = 3, slot = 20, counts[] = {20, 0, 13};
  auto a = array<bfloat16_t>(groups * slot * m, 5), b = array<bfloat16_t>(groups * slot * n, 7),
       c = array<bfloat16_t>(groups * m * n, 3);
  auto on_counts = array_of<index_t>({counts[0], counts[1], counts[2]});
  jit::grouped_problem p{.type = jit::element::bf16,
                         .result = jit::element::bf16,
                         .a_along_k = false,
                         .b_along_k = false,
                         .groups = group_kind::k};
  p.args.a = a.data(), p.args.b = b.data(), p.args.c = c.data(), p.args.counts = on_counts.data();
  p.args.m = m, p.args.n = n, p.args.k = groups * slot, p.args.lda = m, p.args.ldb = n, p.args.ldc = n;
  p.args.groups = groups, p.args.slot_rows = slot, p.args.batch_stride_c = m * n;
  const jit::kernel kernel = compiler->load(jit::grouped_gemm(p));
  kernel(p.args);
  c.download();
  for (index_t g = 0; g < groups; ++g)
    for (index_t r = 0; r < m; r += 3)
      for (index_t col = 0; col < n; ++col) {
        double sum = 0;
        for (index_t x = g * slot; x < g * slot + counts[g]; ++x) sum += a.value(x * m + r) * b.value(x * n + col);
        ASSERT_NEAR(c.value((g * m + r) * n + col), sum, 0.01 * std::abs(sum) + 0.01) << g << ": " << r << ", " << col;
      }
}

TEST_F(JitGrouped, TheTileFollowsTheGroups) {
  jit::grouped_problem p;
  p.args.m = 512, p.args.n = 4096, p.args.k = 2048, p.args.lda = p.args.ldb = 2048, p.args.ldc = 4096;
  p.args.groups = 64, p.args.batch_stride_b = 4096ll * 2048;
  p.args.ends = static_cast<const index_t*>(jit::given_later());
  EXPECT_EQ(jit::grouped_gemm(p)("gfx942").name, "grouped_gemm_rows_64x64_v8_f16_ak_bk_to_f16");
  EXPECT_EQ(jit::grouped_gemm(p)("sm_90a").name, "grouped_gemm_rows_hopper_0_f16_ak_bk_to_f16");
  p.args.groups = 2, p.args.m = 32768;
  EXPECT_EQ(jit::grouped_gemm(p)("gfx942").name, "grouped_gemm_rows_128x128_v8_f16_ak_bk_to_f16");
  EXPECT_EQ(jit::grouped_gemm(p)("sm_90a").name, "grouped_gemm_rows_hopper_1_f16_ak_bk_to_f16");
  jit::grouped_problem of_k = p;
  of_k.groups = group_kind::k, of_k.a_along_k = of_k.b_along_k = false;
  of_k.args.lda = 32768, of_k.args.ldb = 4096, of_k.args.batch_stride_c = 32768ll * 4096;
  EXPECT_EQ(jit::grouped_gemm(of_k)("gfx942").name, "grouped_gemm_k_128x128_v8_f16_am_bn_to_f16");
  EXPECT_EQ(jit::grouped_gemm(of_k)("sm_90a").name, "grouped_gemm_k_hopper_1_f16_am_bn_to_f16");
  p.args.lda = 2047;
  EXPECT_EQ(sentence_of([&] { (void)jit::grouped_gemm(p)("gfx942"); }),
            "jit: grouped_gemm: lda is smaller than a row of A (a column, if A is column-major)");
}

}  // namespace
