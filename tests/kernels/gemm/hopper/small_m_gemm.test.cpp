// SPDX-License-Identifier: MIT
// Products of few rows, and copies to other leading dimensions, on the CPU emulator.
#include <tilewright/kernels/gemm/choice/hopper_gemm_choice.hpp>
#include <tilewright/kernels/gemm/hopper/aligned_operands.hpp>
#include <tilewright/kernels/gemm/hopper/repitch.hpp>
#include <tilewright/kernels/gemm/hopper/small_m_gemm.hpp>

#include "check_hopper_gemm.hpp"

namespace tilewright::testing_gemm {
namespace {

using enum operand_major;

/// `resident` blocks at the same time: with many, k is split.
template <class Policy>
void expect_small_m(const problem& p, index_t resident) {
  SCOPED_TRACE(std::to_string(p.m) + " x " + std::to_string(p.n) + " x " + std::to_string(p.k));
  gemm_case<Policy> gemm(p);
  using size = hopper_gemm_workspace;
  std::vector<float> workspace(size::bytes / sizeof(float), __builtin_nanf(""));
  std::fill_n(workspace.begin(), size::num_counters, 0.0f);
  gemm.args.workspace = workspace.data();
  launch<small_m_gemm<Policy>>(gemm.args,
                               {.workers = 1, .resident_clusters = resident, .check_lds = emulator::lds_checks::on});
  expect_result(gemm);
  EXPECT_EQ(std::count(workspace.begin(), workspace.begin() + size::num_counters, 0.0f), size::num_counters);
}

TEST(FewRows, BothAlongK) {
  using policy = small_m_policy<half_t, k, k, 8, 8>;
  expect_small_m<policy>({.m = 5, .n = 136, .k = 600, .alpha = 0.5f, .batch = 2, .gap = 8}, 1);
  expect_small_m<policy>({.m = 16, .n = 64, .k = 2048, .beta = 2}, 12);
  expect_small_m<policy>({.m = 1, .n = 4, .k = 8}, 12);
}
TEST(FewRows, BAlongNWithEpilogue) {
  using policy = small_m_policy<bfloat16_t, k, mn, 8, 8, bfloat16_t, every_part>;
  expect_small_m<policy>({.m = 16, .n = 72, .k = 1100 / 8 * 8, .alpha = 2, .beta = 1, .batch = 2, .gap = 8}, 12);
}
TEST(FewRows, RowsThatStartAnywhere) {
  using policy = small_m_policy<half_t, mn, mn, 1, 1>;
  expect_small_m<policy>({.m = 3, .n = 131, .k = 601, .beta = 1, .gap = 3}, 12);
}

TEST(FewRows, PassesInExploredSchedules) {
  using policy = small_m_policy<half_t, k, k, 8, 8>;
  testing_schedules::expect_in_explored_schedules(
      [] { expect_small_m<policy>({.m = 5, .n = 64, .k = 1024, .beta = 2}, 4); });
}

TEST(FewRows, RefusesWhatItCannotDo) {
  using policy = small_m_policy<half_t, k, mn, 8, 8>;
  using kernel = small_m_gemm<policy>;
  alignas(16) static char memory[1 << 15];
  const gemm_args good{
      .a = memory, .b = memory, .c = memory + (1 << 14), .m = 16, .n = 64, .k = 64, .lda = 64, .ldb = 64, .ldc = 64};
  EXPECT_EQ(kernel::check(good), nullptr);
  gemm_args g = good;
  g.m = 17;
  EXPECT_STREQ(kernel::check(g), "small_m_gemm computes up to 16 rows of C; use another kernel");
  g = good;
  g.split_k = 2;
  EXPECT_STREQ(kernel::check(g), "small_m_gemm does not split k into equal parts: set split_k to 1");
  const char* const vectors =
      "small_m_gemm moves whole vectors: pointers, contiguous lengths, leading dimensions and batch strides must be "
      "multiples of its vectors; use the policy with vectors of 1";
  for (index_t gemm_args::* const ld : {&gemm_args::lda, &gemm_args::ldb}) {
    g = good;
    g.*ld += 4;
    EXPECT_STREQ(kernel::check(g), vectors);
  }
  g = good;
  g.ldc += 2;
  EXPECT_STREQ(kernel::check(g), vectors);
  g = good;
  g.b = memory + 8;
  EXPECT_STREQ(kernel::check(g), vectors);
}

/// What a plan asks before it copies operands: of those it copies, and with the size of their elements.
TEST(Repitch, RefusesWhatAGridOrOffsetsCannotReach) {
  using copies = tilewright::detail::aligned_operands<gemm_operation<fp8_ocp_t, k, k, bfloat16_t>>;
  gemm_args g{.m = 64, .n = 64, .k = 1001, .lda = 1001, .ldb = 1001, .ldc = 65, .batch = 65535};
  EXPECT_EQ(copies(g).check_copies(), nullptr);
  g.batch = 70000;
  EXPECT_STREQ(copies(g).check_copies(), "the batch has more than 65535 matrices");
  g.lda = g.ldb = 1024, g.ldc = 64;
  EXPECT_EQ(copies(g).check_copies(), nullptr) << "nothing is copied";
  const char* const far = "a leading dimension is so large that a block would need offsets of 2 GiB or more";
  g.batch = 1, g.ldb = (1 << 27) + 1;
  EXPECT_EQ(copies(g).check_copies(), nullptr);
  g.ldb = (1 << 28) + 1;
  EXPECT_STREQ(copies(g).check_copies(), far);
  g.ldb = 1024, g.ldc = (1 << 27) + 1;
  EXPECT_STREQ(copies(g).check_copies(), far);
  // Scales of more columns than fit in 2 GiB.
  const float scales[2] = {};
  using scaled = tilewright::detail::aligned_operands<gemm_operation<fp8_ocp_t, k, k, bfloat16_t, epilogue::from_args>>;
  g = {.m = 64, .n = (1 << 30) + 8, .k = 64, .lda = 64, .ldb = 64, .ldc = (1 << 30) + 8, .column_scale = scales + 1};
  EXPECT_STREQ(scaled(g).check_copies(), far);
  EXPECT_GT(scaled(g).bytes(), 0);
}

TEST(Repitch, CopiesRowsAndNothingElse) {
  const index_t rows = 9, cols = 515, batch = 2;
  for (const index_t gap : {1, 5}) {
    const repitch_args shape{.rows = rows,
                             .cols = cols,
                             .from_ld = cols + gap,
                             .to_ld = 520,
                             .batch = batch,
                             .from_batch_stride = rows * (cols + gap) + 3,
                             .to_batch_stride = rows * 520};
    std::vector<half_t> from(std::size_t(batch * shape.from_batch_stride)),
        to(std::size_t(batch * shape.to_batch_stride), half_t(-1.0f)), expected = to;
    for (std::size_t i = 0; i < from.size(); ++i) from[i] = half_t(float(i % 1000));
    for (index_t z = 0; z < batch; ++z) {
      for (index_t r = 0; r < rows; ++r) {
        for (index_t c = 0; c < cols; ++c)
          expected[std::size_t(z * shape.to_batch_stride + r * 520 + c)] =
              from[std::size_t(z * shape.from_batch_stride + r * shape.from_ld + c)];
      }
    }
    repitch_args args = shape;
    args.from = from.data();
    args.to = to.data();
    launch<repitch<half_t>>(args, {.emulate = arch::sm90::value});
    EXPECT_EQ(std::memcmp(to.data(), expected.data(), to.size() * sizeof(half_t)), 0);
  }
}

}  // namespace
}  // namespace tilewright::testing_gemm
