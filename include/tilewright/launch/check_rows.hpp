// SPDX-License-Identifier: MIT
// Questions that check(args) of kernels on matrices asks: alignment, multiples of the vector, overlap.
#pragma once

#include <tilewright/core/base/math.hpp>
#include <tilewright/launch/check_memory.hpp>

namespace tilewright::detail {

/// A matrix with contiguous rows, or several of them, as check(args) sees it.
struct row_matrix {
  const void* data;
  long_index_t rows, cols, row_stride;  // in elements
  index_t element_bytes;
  long_index_t batch = 1, batch_stride = 0;

  constexpr long_index_t bytes() const {
    return (max((batch - 1) * batch_stride, long_index_t{0}) + (rows - 1) * row_stride + cols) * element_bytes;
  }
};

inline bool is_aligned(const row_matrix& m, index_t vector) {
  return is_aligned(m.data, vector * m.element_bytes) && m.row_stride % vector == 0 && m.batch_stride % vector == 0;
}

/// Whether the bytes from the first to the last elements of both overlap, even if rows of one lie between those of the
/// other: kernels for unaligned rows read bytes beside them.
inline bool overlap(const row_matrix& a, const row_matrix& b) { return overlap(a.data, a.bytes(), b.data, b.bytes()); }

/// Whether both are the same memory, so that each thread reads an element before it writes it.
inline bool is_in_place(const row_matrix& a, const row_matrix& b) {
  return a.data == b.data && a.row_stride == b.row_stride && a.element_bytes == b.element_bytes;
}

/// Whether `out` overlaps `in`, but is not the same matrix.
inline bool aliases_partially(const row_matrix& out, const row_matrix& in) {
  return overlap(out, in) && !is_in_place(out, in);
}

/// A matrix of args.rows rows of args.cols elements.
template <class T>
constexpr row_matrix rows_of(const auto& args, const T* data, long_index_t row_stride) {
  return {data, args.rows, args.cols, row_stride, sizeof(T)};
}
/// `n` elements that follow each other.
template <class T>
constexpr row_matrix row_array(const T* data, long_index_t n) {
  return {data, 1, n, n, sizeof(T)};
}
/// Why a kernel cannot write the first `results` of some matrices, as an error message; nullptr: it can. Null: absent.
template <index_t N>
const char* check_results(const row_matrix (&matrices)[N], index_t results) {
  for (index_t i = 0; i < N; ++i) {
    if (!is_aligned(matrices[i], 1)) return "a pointer is not aligned to its elements";
    for (index_t j = 0; j < min(i, results); ++j) {
      if (matrices[i].data && matrices[j].data && overlap(matrices[i], matrices[j]))
        return "the memory from a result's first element to its last overlaps another result's or an input's";
    }
  }
  return nullptr;
}

/// What check_matrix says about rows that only vectors of 1 can take.
inline constexpr const char* needs_vectors =
    "vectors are moved: pointers must be aligned to them, lengths and strides be multiples; a vector of 1 takes any";

/// Why no kernel can take such a matrix, as an error message; nullptr: one can. A block takes `rows_at_once` rows.
inline const char* check_matrix(const row_matrix& m, index_t vector, index_t rows_at_once) {
  if (m.rows < 1 || m.cols < 1 || m.batch < 1) return "rows, cols and batch must be positive";
  if (m.rows > 0x7fffffff - 65536 || m.cols > 0x7fffffff - 65536) return "rows or cols is too close to 2^31";
  if (!m.data) return "a pointer is null";
  if (m.row_stride < m.cols) return "a row stride is smaller than the row: rows would overlap";
  if (m.row_stride > 0x7fffffff / rows_at_once / m.element_bytes)
    return "a row stride is so large that the rows of a block span 2 GiB";
  if (m.batch > 1 && m.batch_stride < (m.rows - 1) * m.row_stride + m.cols)
    return "a batch stride is smaller than a matrix: matrices would overlap";
  return m.cols % vector != 0 || !is_aligned(m, vector) ? needs_vectors : nullptr;
}

}  // namespace tilewright::detail
