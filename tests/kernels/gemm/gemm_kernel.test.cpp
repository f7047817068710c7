// SPDX-License-Identifier: MIT
// What a GEMM kernel accepts and refuses, and the error of its result for real numbers.
#include "check_gemm.hpp"

#include <tilewright/core/arch/arch.hpp>

#include <cmath>

namespace tilewright::testing_gemm {
namespace {

using enum operand_major;
using vectors = gemm_kernel<gemm_policy<arch::gfx942, half_t, k, mn, 8>>;
using elements = gemm_kernel<gemm_policy<arch::gfx942, half_t, mn, k, 1>>;

constexpr gemm_args good{.m = 64, .n = 72, .k = 80, .lda = 80, .ldb = 80, .ldc = 72};

/// check() of `good` with a change.
template <class Kernel, class Change>
std::string refusal(Change change) {
  gemm_args args = good;
  change(args);
  const char* why = Kernel::check(args);
  return why ? why : "";
}

TEST(GemmCheck, AcceptsWhatFits) {
  static_assert(vectors::check(good) == nullptr && elements::check(good) == nullptr);
  EXPECT_EQ(refusal<vectors>([](gemm_args& a) { a.m = 65535 * 128; }), "");
  EXPECT_EQ(refusal<elements>([](gemm_args& a) { a.m = a.lda = 1 << 21, a.k = 3, a.ldb = 3; }), "");
}

TEST(GemmCheck, RefusesEmptyProblems) {
  const std::string positive = "m, n, k and the batch count must be positive";
  EXPECT_EQ(refusal<vectors>([](gemm_args& a) { a.m = 0; }), positive);
  EXPECT_EQ(refusal<vectors>([](gemm_args& a) { a.n = -1; }), positive);
  EXPECT_EQ(refusal<vectors>([](gemm_args& a) { a.k = 0; }), positive);
  EXPECT_EQ(refusal<vectors>([](gemm_args& a) { a.batch = 0; }), positive);
}

TEST(GemmCheck, RefusesPointersThatAreNoneOrTwice) {
  alignas(16) static char a[16], b[16];
  EXPECT_EQ(refusal<vectors>([](gemm_args& g) { g.workspace = a + 8; }), "the workspace is not aligned to 16 bytes");
  EXPECT_EQ(refusal<vectors>([](gemm_args& g) { g.a = a, g.c = b; }), "a pointer is null: a or b");
  for (const auto c : {a, b})
    EXPECT_EQ(refusal<vectors>([&](gemm_args& g) { g.a = a, g.b = b, g.c = c; }),
              "C is an operand, which other blocks still read");
  EXPECT_EQ(refusal<vectors>([](gemm_args& g) { g.batch = 2, g.batch_stride_c = 71, g.a = g.b = a, g.c = b; }),
            "the C of several problems lie in the same memory: give batch_stride_c");
  EXPECT_EQ(refusal<vectors>([](gemm_args& g) { g.batch = 2, g.batch_stride_c = 63 * 72, g.a = g.b = a, g.c = b; }),
            "the C of several problems lie in the same memory: give batch_stride_c");
}

TEST(GemmCheck, RefusesPointersInsideOfVectors) {
  alignas(16) static half_t memory[24 << 10];
  const std::string aligned =
      "this kernel moves whole vectors: A, B and C must be aligned to them; use the kernel with vector 1";
  const auto refusal_at = [](auto kernel, index_t a, index_t b, index_t c, long_index_t next_c = 4608) {
    return refusal<decltype(kernel)>([&](gemm_args& g) {
      g.a = memory + a, g.b = memory + b, g.c = memory + c;
      g.batch = 2, g.batch_stride_c = next_c;
    });
  };
  EXPECT_EQ(refusal_at(vectors{}, 0, 6400, 12800), "");
  EXPECT_EQ(refusal_at(vectors{}, 0, 6400, 12800 + 4608, -4608), "");
  EXPECT_EQ(refusal_at(vectors{}, 4, 6408, 12816), aligned);
  EXPECT_EQ(refusal_at(vectors{}, 0, 6404, 12808), aligned);
  EXPECT_EQ(refusal_at(vectors{}, 0, 6400, 12804), aligned);
  EXPECT_EQ(refusal_at(elements{}, 1, 6403, 12805), "");
  struct with_bias : gemm_policy<arch::gfx942, half_t, k, mn, 8> {
    using epilogue = tilewright::epilogue::from_args;
  };
  EXPECT_EQ(refusal<gemm_kernel<with_bias>>([](gemm_args& g) { g.bias = memory + 8; }), "");
  EXPECT_EQ(refusal<gemm_kernel<with_bias>>([](gemm_args& g) { g.bias = memory + 1; }),
            "epilogue::bias: args.bias must be aligned to the kernel's vector; use the kernel with vector 1");
}

TEST(GemmCheck, RefusesAResultInTheMemoryOfAnOperand) {
  alignas(16) static half_t memory[1 << 18];
  const std::string overlaps = "C may share memory with an operand, which other blocks still read";
  const auto refusal_at = [](index_t a, index_t b, index_t c, auto change) {
    return refusal<vectors>([&](gemm_args& g) {
      g.a = memory + a, g.b = memory + b, g.c = memory + c;
      change(g);
    });
  };
  const auto as_it_is = [](gemm_args&) {};
  const index_t of_a = 64 * 80, of_b = 79 * 80 + 72, of_c = 64 * 72;
  EXPECT_EQ(refusal_at(0, of_a, of_a + of_b, as_it_is), "");
  EXPECT_EQ(refusal_at(of_c, of_c + of_a, 0, as_it_is), "");
  EXPECT_EQ(refusal_at(0, of_a, of_a + of_b - 1, as_it_is), overlaps);
  EXPECT_EQ(refusal_at(of_c - 1, of_c + of_a, 0, as_it_is), overlaps);
  // Columns of A and C in one matrix.
  const auto as_columns = [](gemm_args& g) {
    g.lda = g.ldc = 160, g.batch = 2;
    g.batch_stride_a = g.batch_stride_c = 64 * 160;
  };
  EXPECT_EQ(refusal_at(0, 1 << 16, 80, as_columns), "");
  EXPECT_EQ(refusal_at(80, 1 << 16, 8, as_columns), "");
  EXPECT_EQ(refusal_at(0, 1 << 16, 72, as_columns), overlaps);
  EXPECT_EQ(refusal_at(80, 1 << 16, 16, as_columns), overlaps);
  EXPECT_EQ(refusal_at(0, 1 << 16, 80,
                       [&](gemm_args& g) {
                         as_columns(g);
                         g.batch_stride_c += 8;
                       }),
            overlaps);
  // A batch of columns beside that of the other, and a C of one row in the gaps of A.
  const auto as_heads = [](gemm_args& g) {
    g.lda = g.ldc = 384, g.batch = 2;
    g.batch_stride_a = 80, g.batch_stride_c = 72;
  };
  EXPECT_EQ(refusal_at(0, 1 << 16, 160, as_heads), "");
  EXPECT_EQ(refusal_at(0, 1 << 16, 152, as_heads), overlaps);
  const auto as_row = [](gemm_args& g) { g.lda = 160, g.m = 1; };
  EXPECT_EQ(refusal_at(0, 1 << 16, 80, as_row), "");
  EXPECT_EQ(refusal_at(0, 1 << 16, 72, as_row), overlaps);
}

TEST(GemmCheck, RefusesRowsThatOverlap) {
  EXPECT_EQ(refusal<vectors>([](gemm_args& a) { a.lda = 79; }),
            "lda is smaller than a row of A (a column, if A is column-major)");
  EXPECT_EQ(refusal<vectors>([](gemm_args& a) { a.ldb = 71; }),
            "ldb is smaller than a row of B (a column, if B is column-major)");
  EXPECT_EQ(refusal<vectors>([](gemm_args& a) { a.ldc = 71; }), "ldc is smaller than a row of C");
  EXPECT_EQ(refusal<elements>([](gemm_args& a) { a.lda = 63; }),
            "lda is smaller than a row of A (a column, if A is column-major)");
  EXPECT_EQ(refusal<elements>([](gemm_args& a) { a.ldb = 79; }),
            "ldb is smaller than a row of B (a column, if B is column-major)");
}

TEST(GemmCheck, RefusesWhatIsTooLarge) {
  EXPECT_EQ(refusal<vectors>([](gemm_args& a) { a.batch = 65536; }), "the batch has more than 65535 problems");
  EXPECT_EQ(refusal<vectors>([](gemm_args& a) { a.m = 0x7ffffd00, a.n = a.ldb = a.ldc = 144; }),
            "the grid would have 2^32 threads or more; use a larger block tile, or several launches");
  const std::string span = "a leading dimension is so large that a block would need offsets of 2 GiB or more";
  EXPECT_EQ(refusal<vectors>([](gemm_args& a) { a.lda = 1 << 23; }), span);
  EXPECT_EQ(refusal<vectors>([](gemm_args& a) { a.ldb = 1 << 26; }), span);
  EXPECT_EQ(refusal<vectors>([](gemm_args& a) { a.ldc = 1 << 23; }), span);
  EXPECT_EQ(refusal<elements>([](gemm_args& a) { a.k = 0x7fffff80, a.ldb = 0x7fffff80; }), span);
}

TEST(GemmCheck, RefusesHalfVectors) {
  const std::string whole =
      "this kernel moves whole vectors: contiguous lengths, leading dimensions and batch strides must be multiples of "
      "its vector; use the kernel with vector 1";
  EXPECT_EQ(refusal<vectors>([](gemm_args& a) { a.k = 79; }), whole);
  EXPECT_EQ(refusal<vectors>([](gemm_args& a) { a.n = 71; }), whole);
  EXPECT_EQ(refusal<vectors>([](gemm_args& a) { a.lda = 81; }), whole);
  EXPECT_EQ(refusal<vectors>([](gemm_args& a) { a.ldb = 81; }), whole);
  EXPECT_EQ(refusal<vectors>([](gemm_args& a) { a.ldc = 81; }), whole);
  EXPECT_EQ(refusal<vectors>([](gemm_args& a) { a.batch_stride_b = 4; }), whole);
  EXPECT_EQ(refusal<vectors>([](gemm_args& a) { a.m = 63; }), "") << "rows need not be whole vectors";
  EXPECT_EQ(refusal<elements>([](gemm_args& a) { a.k = 79, a.m = 63, a.n = 71; }), "");
}

TEST(GemmGrid, CoversCWithBlockTiles) {
  const grid_size grid = vectors::grid({.m = 129, .n = 128, .k = 1, .batch = 3});
  EXPECT_EQ(grid.x, 2);
  EXPECT_EQ(grid.y, 1);
  EXPECT_EQ(grid.z, 3);
}

// With both operands along their rows, k need not be a multiple of anything.
TEST(GemmKernel, VectorsAlongRowsWithAnyK) {
  using policy =
      gemm_policy<arch::gfx942, half_t, mn, mn, 8, block_tile{64, 64, 32, 2, 2, arch::matrix_op::mfma_32x32x8_x2}>;
  for (const index_t k : {1, 13, 33, 64, 101}) expect_gemm<policy>({.m = 72, .n = 80, .k = k, .gap = 8});
}

/// ||C - R|| / ||R|| for operands from a normal distribution.
template <class Policy>
double relative_error(index_t m, index_t n, index_t k_length) {
  using T = typename Policy::element_type;
  gemm_case<Policy> gemm({.m = m, .n = n, .k = k_length});
  std::mt19937 random(2);
  std::normal_distribution<float> normal;
  for (T& value : gemm.a) value = T(normal(random));
  for (T& value : gemm.b) value = T(normal(random));
  const grid_size grid = gemm_kernel<Policy>::grid(gemm.args);
  emulator::launch({.target = &Policy::arch::value,
                    .grid = {grid.x, grid.y, grid.z},
                    .block_size = gemm_kernel<Policy>::block_size,
                    .lds_bytes = gemm_kernel<Policy>::lds_bytes,
                    .check_lds = emulator::lds_checks::on},
                   [&] { gemm_kernel<Policy>{}(gemm.args); });
  double difference = 0, size = 0;
  for (index_t i = 0; i < m; ++i) {
    for (index_t j = 0; j < n; ++j) {
      double sum = 0;
      for (index_t l = 0; l < k_length; ++l)
        sum += double(float(gemm.a_at(0, i, l))) * double(float(gemm.b_at(0, l, j)));
      const double d = double(float(gemm.c[std::size_t(i * gemm.args.ldc + j)])) - sum;
      difference += d * d;
      size += sum * sum;
    }
  }
  return std::sqrt(difference / size);
}

TEST(GemmKernel, ErrorOfRealNumbers) {
  EXPECT_LT((relative_error<gemm_policy<arch::gfx942, half_t, k, mn, 8>>(136, 120, 200)), 5e-4);
  EXPECT_LT((relative_error<gemm_policy<arch::gfx942, bfloat16_t, mn, k, 1>>(130, 33, 77)), 4e-3);
  EXPECT_LT((relative_error<gemm_policy<arch::sm90, half_t, mn, k, 1>>(17, 127, 201)), 5e-4);
}

}  // namespace
}  // namespace tilewright::testing_gemm
