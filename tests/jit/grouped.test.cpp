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

TEST_F(JitGrouped, BlocksHaveScales) {
  using tilewright::fp8_fnuz_t;
  constexpr index_t rows = 70, n = 48, k = 256, groups = 2, ends[] = {33, 64};
  auto a = array<fp8_fnuz_t>(rows * k, 5), b = array<fp8_fnuz_t>(groups * n * k, 7);
  auto c = array<half_t>(rows * n, 11);
  const std::vector<half_t> before = c.host;
  auto on_ends = array_of<index_t>({ends[0], ends[1]});
  std::vector<float> factors(rows * 2);
  for (std::size_t i = 0; i < factors.size(); ++i) factors[i] = 0.25f * float(i % 5 + 1);
  auto a_scales = array_of<float>(factors), b_scales = array_of<float>({1, 0.5f, 0.125f, 2});
  jit::block_scaled_problem p{.result = jit::element::f16};
  p.args.m = rows, p.args.n = n, p.args.k = k, p.args.lda = p.args.ldb = k, p.args.ldc = n;
  p.args.batch_stride_b = n * k, p.args.groups = groups, p.args.ends = on_ends.data();
  p.args.row_stride_a_scales = 2, p.args.k_stride_a_scales = 1;
  p.args.ld_b_scales = 2, p.args.batch_stride_b_scales = 2;
  const jit::kernel kernel = compiler->load(jit::block_scaled_gemm(p));
  EXPECT_EQ(kernel.name(), "block_scaled_gemm_rows_16x32_ahead4_v16_fp8_ak_bk_to_f16");
  tilewright::block_scaled_args args = p.args;
  args.a = a.data(), args.b = b.data(), args.c = c.data();
  EXPECT_NE(sentence_of([&] { kernel(args); }).find("scales"), std::string::npos);
  args.a_scales = a_scales.data(), args.b_scales = b_scales.data();
  kernel(args);
  c.download();
  for (index_t r = 0; r < rows; ++r) {
    const index_t g = r < ends[0] ? 0 : 1;
    for (index_t col = 0; col < n; ++col) {
      double sum = 0;
      for (index_t x = 0; x < k; ++x)
        sum += double(factors[std::size_t(r * 2 + x / 128)]) * double(b_scales.host[std::size_t(g * 2 + x / 128)]) *
               a.value(r * k + x) * b.value((g * n + col) * k + x);
      const double wanted = r < ends[1] ? sum : double(float(before[std::size_t(r * n + col)]));
      ASSERT_NEAR(c.value(r * n + col), wanted, 0.002 * std::abs(wanted) + 0.02) << r << ", " << col;
    }
  }
  // On Hopper with a tile of the family, where C is bf16; also without groups.
  p.result = jit::element::bf16;
  EXPECT_EQ(jit::block_scaled_gemm(p)("sm_90a").name.substr(0, 30), "block_scaled_gemm_rows_hopper_");
  p.args.groups = 0, p.args.ends = nullptr;
  EXPECT_EQ(jit::block_scaled_gemm(p)("sm_90a").name.substr(0, 25), "block_scaled_gemm_hopper_");
}

TEST_F(JitGrouped, OneBlockScaledProblemWithSplitK) {
  using tilewright::fp8_fnuz_t;
  constexpr index_t m = 5, n = 144, k = 640, splits = 3, k_blocks = 5;
  auto a = array<fp8_fnuz_t>(m * k, 5), b = array<fp8_fnuz_t>(n * k, 7);
  auto c = array<bfloat16_t>(m * n, 11);
  std::vector<float> of_a(m * k_blocks), of_b(2 * k_blocks);
  for (std::size_t i = 0; i < of_a.size(); ++i) of_a[i] = 0.25f * float(i % 7 + 1);
  for (std::size_t i = 0; i < of_b.size(); ++i) of_b[i] = 0.5f * float(i % 3 + 1);
  auto a_scales = array_of<float>(of_a), b_scales = array_of<float>(of_b);
  jit::block_scaled_problem p;
  p.args = {};
  p.args.m = m, p.args.n = n, p.args.k = k, p.args.lda = p.args.ldb = k, p.args.ldc = n, p.args.split_k = splits;
  p.args.row_stride_a_scales = k_blocks, p.args.k_stride_a_scales = 1, p.args.ld_b_scales = k_blocks;
  const jit::kernel kernel = compiler->load(jit::block_scaled_gemm(p));
  EXPECT_EQ(kernel.name(), "block_scaled_gemm_split_16x32_ahead4_v16_fp8_ak_bk_to_bf16");
  tilewright::block_scaled_args args = p.args;
  args.a = a.data(), args.b = b.data(), args.c = c.data();
  args.a_scales = a_scales.data(), args.b_scales = b_scales.data();
  EXPECT_NE(sentence_of([&] { kernel(args); }).find("split_k needs a workspace"), std::string::npos);
  const jit::buffer workspace = on_gpu(std::vector<float>(1024 + splits * m * n));
  args.workspace = workspace.data();
  const auto expect_right = [&] {
    c.download();
    for (index_t r = 0; r < m; ++r)
      for (index_t col = 0; col < n; ++col) {
        double sum = 0;
        for (index_t x = 0; x < k; ++x)
          sum += double(of_a[std::size_t(r * k_blocks + x / 128)]) *
                 double(of_b[std::size_t(col / 128 * k_blocks + x / 128)]) * a.value(r * k + x) * b.value(col * k + x);
        ASSERT_NEAR(c.value(r * n + col), sum, 0.01 * std::abs(sum) + 0.02) << r << ", " << col;
      }
  };
  kernel(args);
  expect_right();
  // Four blocks for five tiles of 32 columns, so that all share the last one.
  p.stream_k = true, p.args.split_k = args.split_k = 4;
  const jit::kernel sharing = compiler->load(jit::block_scaled_gemm(p));
  EXPECT_EQ(sharing.name(), "block_scaled_gemm_stream_k_16x32_ahead4_v16_fp8_ak_bk_to_bf16");
  args.workspace = nullptr;
  EXPECT_NE(sentence_of([&] { sharing(args); }).find("stream-K needs a workspace"), std::string::npos);
  const jit::buffer partial_sums = on_gpu(std::vector<float>(1024 + (4 + 1) * 16 * 32));
  args.workspace = partial_sums.data();
  std::vector<bfloat16_t> nothing(c.host.size());
  c.memory.upload(nothing.data());
  sharing(args);
  expect_right();
  p.stream_k = false;
  p.args.split_k = 1, p.args.m = 4096, p.args.n = 4096, p.args.ldc = 4096;
  EXPECT_EQ(jit::block_scaled_gemm(p)("gfx950").name.substr(0, 34), "block_scaled_gemm_256x128x2_v16_fp");
}

TEST_F(JitGrouped, TheTileFollowsTheGroups) {
  jit::grouped_problem p;
  p.args.m = 512, p.args.n = 4096, p.args.k = 2048, p.args.lda = p.args.ldb = 2048, p.args.ldc = 4096;
  p.args.groups = 64, p.args.batch_stride_b = 4096ll * 2048;
  p.args.ends = static_cast<const index_t*>(jit::given_later());
  EXPECT_EQ(jit::grouped_gemm(p)("gfx942").name, "grouped_gemm_rows_64x64_v8_f16_ak_bk_to_f16");
  // Eight rows in a group: 128 columns of C are wgmma's rows.
  const std::string few = jit::grouped_gemm(p)("sm_90a").name;
  EXPECT_NE(few.find("_swap"), std::string::npos) << few;
  p.args.m = 500;
  EXPECT_EQ(jit::grouped_gemm(p)("sm_90a").name, few) << "one kernel for about as many rows";
  p.for_all_lengths = true;  // as in archives: one of grouped_tiles
  EXPECT_EQ(jit::grouped_gemm(p)("sm_90a").name, "grouped_gemm_rows_hopper_128x256_b2_f16_ak_bk_to_f16");
  p.for_all_lengths = false;
  p.args.groups = 2, p.args.m = 32768;
  EXPECT_EQ(jit::grouped_gemm(p)("gfx942").name, "grouped_gemm_rows_128x128_v8_f16_ak_bk_to_f16");
  const std::string many = jit::grouped_gemm(p)("sm_90a").name;
  EXPECT_EQ(many.find("grouped_gemm_rows_hopper_"), 0u) << many;
  EXPECT_NE(many, few);
  jit::grouped_problem of_k = p;
  of_k.groups = group_kind::k, of_k.a_along_k = of_k.b_along_k = false;
  of_k.args.lda = 32768, of_k.args.ldb = 4096, of_k.args.batch_stride_c = 32768ll * 4096;
  EXPECT_EQ(jit::grouped_gemm(of_k)("gfx942").name, "grouped_gemm_k_128x128_v8_f16_am_bn_to_f16");
  EXPECT_EQ(jit::grouped_gemm(of_k)("sm_90a").name, "grouped_gemm_k_hopper_128x256_b2_f16_am_bn_to_f16");
  p.args.lda = 2047;
  EXPECT_EQ(sentence_of([&] { (void)jit::grouped_gemm(p)("gfx942"); }),
            "jit: grouped_gemm: lda is smaller than a row of A (a column, if A is column-major)");
}

}  // namespace
