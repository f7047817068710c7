// SPDX-License-Identifier: MIT
// Argument checks of all GEMM kernels.
#pragma once

#include <tilewright/block/operands/k_tiles.hpp>
#include <tilewright/kernels/gemm/gemm_policy.hpp>

namespace tilewright {

/// What the checks ask about a kernel.
struct checked_gemm {
  index_t tile_m, tile_n, tile_k;  ///< of C, and along k
  bool a_along_k, b_along_k;       ///< contiguous along k, else along m or n
  /// Bytes of an element of A and B, of C; elements of an access to A and B; products of the policy.
  index_t element_bytes, result_bytes, vector, products = 1;
  index_t b_bits = 8 * element_bytes;  ///< of an element of B
  index_t a_bits = 8 * element_bytes;  ///< of an element of A
};

namespace detail {

/// Memory of a batch of matrices: lines of contiguous elements. Lengths and strides in bytes.
struct memory_lines {
  const void* data;
  long_index_t length, lines, stride, batch, batch_stride;

  long_index_t first() const { return reinterpret_cast<long_index_t>(data) + min((batch - 1) * batch_stride, 0LL); }
  long_index_t end() const {
    return reinterpret_cast<long_index_t>(data) + max((batch - 1) * batch_stride, 0LL) + (lines - 1) * stride + length;
  }
};

/// Whether they may share memory. Columns of a matrix, or of a batch of them, may lie beside those of the other.
inline bool overlap(memory_lines x, memory_lines y) {
  if (x.end() <= y.first() || y.end() <= x.first()) return false;
  long_index_t step = 0;
  for (memory_lines* l : {&x, &y}) {
    const long_index_t beside = (l->batch - 1) * max(l->batch_stride, -l->batch_stride) + l->length, first = l->first();
    if (beside <= l->stride) *l = {reinterpret_cast<const void*>(first), beside, l->lines, l->stride, 1, 0};
    step = gcd(step, gcd(l->lines > 1 ? l->stride : 0, l->batch > 1 ? l->batch_stride : 0));
  }
  if (step == 0) return true;
  const long_index_t ahead = (y.first() - x.first()) % step;
  const long_index_t apart = ahead < 0 ? ahead + step : ahead;  // from a line of x to the next of y
  return apart < x.length || apart + y.length > step;
}

/// Refuses a C in the memory of an operand, which other blocks still read. a_rows: of A in memory; 0: m.
constexpr const char* check_result_memory(const gemm_args& g, const checked_gemm& kernel, index_t a_rows = 0) {
  if (__builtin_is_constant_evaluated() || !g.c) return nullptr;
  const auto overlaps_c = [&](const void* data, bool along_k, index_t rows, long_index_t ld, long_index_t batch_stride,
                              long_index_t bits) {
    const long_index_t c_bytes = kernel.result_bytes;
    const memory_lines operand{data,
                               ceil_div((along_k ? g.k : rows) * bits, 8LL),
                               along_k ? rows : g.k,
                               ld * bits / 8,
                               g.batch,
                               batch_stride * bits / 8};
    return overlap({g.c, g.n * c_bytes, g.m, g.ldc * c_bytes, g.batch, g.batch_stride_c * c_bytes}, operand);
  };
  return overlaps_c(g.a, kernel.a_along_k, a_rows > 0 ? a_rows : g.m, g.lda, g.batch_stride_a, kernel.a_bits) ||
                 overlaps_c(g.b, kernel.b_along_k, g.n, g.ldb, g.batch_stride_b, kernel.b_bits) ||
                 (kernel.products > 1 &&
                  overlaps_c(static_cast<const char*>(g.b) + g.product_stride_b * kernel.element_bytes,
                             kernel.b_along_k, g.n, g.ldb, g.batch_stride_b, kernel.b_bits))
             ? "C may share memory with an operand, which other blocks still read"
             : nullptr;
}

/// Whether the C of `count` problems, batch_stride_c apart, share elements. They may lie beside each other.
constexpr bool results_overlap(const gemm_args& g, index_t count) {
  const long_index_t apart = max(g.batch_stride_c, -g.batch_stride_c);
  const bool beside = apart >= g.n && apart <= g.ldc && (count - 1) * apart + g.n <= g.ldc;
  return count > 1 && !beside && apart < long_index_t(g.m - 1) * g.ldc + g.n;
}

constexpr const char* check_lengths(const gemm_args& args, const checked_gemm& kernel) {
  if (args.m < 1 || args.n < 1 || args.k < 1 || args.batch < 1) return "m, n, k and the batch count must be positive";
  if (args.m > 0x7fffffff - 4 * kernel.tile_m || args.n > 0x7fffffff - 4 * kernel.tile_n ||
      args.k > 0x7fffffff - kernel.tile_k)
    return "m, n or k is too close to 2^31";
  if (args.c && (!args.a || !args.b)) return "a pointer is null: a or b";
  if (args.c && (args.c == args.a || args.c == args.b)) return "C is an operand, which other blocks still read";
  if (args.lda < (kernel.a_along_k ? args.k : args.m))
    return "lda is smaller than a row of A (a column, if A is column-major)";
  if (args.ldb < (kernel.b_along_k ? args.k : args.n))
    return "ldb is smaller than a row of B (a column, if B is column-major)";
  if (args.ldc < args.n) return "ldc is smaller than a row of C";
  if (args.c && results_overlap(args, args.batch))
    return "the C of several problems lie in the same memory: give batch_stride_c";
  return nullptr;
}

/// For kernels whose blocks reach their tiles by offsets of 32 bits, in vectors.
constexpr const char* check_offsets(const gemm_args& args, const checked_gemm& kernel) {
  // Offsets inside a block tile, and while the loop advances along k, have 32 bits; so have positions.
  const long_index_t limit = 0x7fffffff / kernel.element_bytes, loop = max_loop_bytes / kernel.element_bytes;
  const auto operand_span = [&](bool along_k, long_index_t ld, index_t rows) {
    const long_index_t step = along_k ? kernel.tile_k : ld * kernel.tile_k;
    return (along_k ? ld * rows : step) + rows + kernel.tile_k + max(loop, 2 * step) + step;
  };
  const index_t products = kernel.products, v = kernel.vector;
  const long_index_t a_span = operand_span(kernel.a_along_k, args.lda, kernel.tile_m),
                     b_span = operand_span(kernel.b_along_k, args.ldb, kernel.tile_n),
                     c_span = long_index_t(max(args.ldc, args.ld_residual)) * kernel.tile_m + kernel.tile_n;
  if (products > 1 && (args.product_stride_b < 0 || args.product_stride_b > limit))
    return "product_stride_b must lie in memory after the first product's B, within 2 GiB";
  if (a_span > limit || b_span + (products > 1 ? args.product_stride_b : 0) > limit ||
      c_span > 0x7fffffff / kernel.result_bytes)
    return "a leading dimension is so large that a block would need offsets of 2 GiB or more";
  if (v == 1) return nullptr;
  const vector_alignment operands{v, kernel.result_bytes};
  if (!operands.is_met_by(args.a, kernel.element_bytes) || !operands.is_met_by(args.b, kernel.element_bytes) ||
      !operands.is_met_by(args.c, kernel.result_bytes))
    return "this kernel moves whole vectors: A, B and C must be aligned to them; use the kernel with vector 1";
  const index_t a_row = kernel.a_along_k ? args.k : args.m, b_row = kernel.b_along_k ? args.k : args.n;
  if (a_row % v || b_row % v || args.lda % v || args.ldb % v || args.n % v || args.ldc % v || args.batch_stride_a % v ||
      args.batch_stride_b % v || args.batch_stride_c % v || (products > 1 && args.product_stride_b % v))
    return "this kernel moves whole vectors: contiguous lengths, leading dimensions and batch strides must be "
           "multiples "
           "of its vector; use the kernel with vector 1";
  return nullptr;
}

/// Scales of a column of B in a narrow format.
template <class Format>
TILEWRIGHT_HD constexpr index_t scales_of_column(index_t k) {
  return Format::group == 0 ? 1 : ceil_div(k, max(Format::group, 1));
}

/// What is wrong with a B in a format of `bits` bits, whose group of 0 is a column: columns are loaded in pieces of 16
/// bytes.
constexpr const char* check_narrow_b(const narrow_args& g, index_t bits, index_t group, bool has_zero_points) {
  if (!is_aligned(g.b) || long_index_t(g.ldb) * bits % 128 != 0 || g.batch_stride_b * bits % 128 != 0)
    return "columns of a narrow B must start at multiples of 16 bytes: b, ldb and batch_stride_b";
  if (g.b && !g.b_scales) return "a narrow B needs b_scales";
  if (g.b && has_zero_points && !g.b_zeros) return "this narrow format needs b_zeros";
  return g.ld_b_scales == 0 || g.ld_b_scales >= (group == 0 ? 1 : ceil_div(g.k, group))
             ? nullptr
             : "ld_b_scales is smaller than the scales of a column";
}
template <class Format>
constexpr const char* check_narrow_b(const narrow_args& g) {
  return check_narrow_b(g, Format::bits, Format::group, Format::has_zero_points);
}

/// The same for A, which may be plain.
template <class Format, class Args>
constexpr const char* check_narrow_a(const Args& g) {
  if (!is_aligned(g.a) || long_index_t(g.lda) * Format::bits % 128 != 0 || g.batch_stride_a * Format::bits % 128 != 0)
    return "rows of A must start at multiples of 16 bytes: a, lda and batch_stride_a";
  if constexpr (requires { g.a_scales; }) {
    if (g.a && !g.a_scales) return "a narrow A needs a_scales";
    if (g.ld_a_scales != 0 && g.ld_a_scales < scales_of_column<Format>(g.k))
      return "ld_a_scales is smaller than the scales of a row";
  }
  return nullptr;
}

/// Of an element of A in memory.
template <class Policy>
constexpr index_t a_bits() {
  if constexpr (requires { typename Policy::a_format; }) return Policy::a_format::bits;
  return 8 * index_t(sizeof(typename Policy::element_type));
}
/// Of an element of B in memory.
template <class Policy>
constexpr index_t b_bits() {
  if constexpr (requires { typename Policy::b_format; }) return Policy::b_format::bits;
  return 8 * index_t(sizeof(typename Policy::element_type));
}

template <class Policy>
inline constexpr checked_gemm checked_gemm_v{Policy::tile.m,
                                             Policy::tile.n,
                                             Policy::tile.k,
                                             Policy::a_major == operand_major::k,
                                             Policy::b_major == operand_major::k,
                                             index_t(sizeof(typename Policy::element_type)),
                                             index_t(sizeof(typename Policy::result_type)),
                                             Policy::vector,
                                             Policy::products,
                                             b_bits<Policy>(),
                                             a_bits<Policy>()};

}  // namespace detail

/// What is wrong with the arguments, as an error message; nullptr: nothing is. A pipeline adds its own demands, and
/// guarantees its epilogue what it reads.
template <class Policy>
constexpr const char* check_gemm(const typename Policy::args_type& args, const vector_alignment& guarantee) {
  if (const char* why = detail::check_lengths(args, detail::checked_gemm_v<Policy>)) return why;
  if (!detail::is_aligned(args.workspace)) return "the workspace is not aligned to 16 bytes";
  const auto is_integer = [](float x) { return x > -0x1p24f && x < 0x1p24f && x == float(int(x)); };
  if (__is_same(typename Policy::result_type, int) && !(is_integer(args.alpha) && is_integer(args.beta)))
    return "accumulators of integers can only be scaled by integers of less than 2^24: alpha and beta";
  return epilogue::detail::check<detail::epilogue_of<Policy>>(args, guarantee);
}

/// The same for one product, or a batch of them, on one GPU.
template <class Policy>
constexpr const char* check_product(const typename Policy::args_type& args, const vector_alignment& guarantee) {
  if (const char* why = check_gemm<Policy>(args, guarantee)) return why;
  index_t a_rows = 0;
  if constexpr (Policy::gathers_a) a_rows = args.tokens;
  return detail::check_result_memory(args, detail::checked_gemm_v<Policy>, a_rows);
}

}  // namespace tilewright
