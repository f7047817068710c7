// SPDX-License-Identifier: MIT
// The documents' XOR preshuffle by hand: reads and writes of vectors permuted by the row's number.
#pragma once

#include <tilewright/exec/exec.hpp>
#include <tilewright/numeric/vector.hpp>
#include <tilewright/util/math.hpp>

namespace tilewright {

/// Position of vector `col` in row `row`. A row has KPerBlock / KPack vectors of KPack elements.
template <index_t KPerBlock, index_t KPack>
TILEWRIGHT_HD constexpr index_t xor_preshuffle(index_t row, index_t col) {
  static_assert(KPack > 0 && KPerBlock % KPack == 0, "xor_preshuffle: KPerBlock must be a multiple of KPack");
  static_assert(detail::is_power_of_two(KPerBlock / KPack),
                "xor_preshuffle: the vectors of a row must be a power of two, or two of them would share a place");
  return modulo(row, KPerBlock / KPack) ^ col;
}

namespace detail {
template <class T, index_t RowStride, index_t KPerBlock, index_t KPack>
TILEWRIGHT_HD constexpr index_t xor_offset(index_t row, index_t col) {
  static_assert(KPack * index_t(sizeof(T)) <= 16,
                "lds_write_with_xor: one instruction moves at most 16 bytes; choose a smaller KPack");
  static_assert(RowStride >= KPerBlock && RowStride % KPack == 0,
                "lds_write_with_xor: rows must not overlap, and must begin at a multiple of KPack");
  return (row * RowStride + xor_preshuffle<KPerBlock, KPack>(row, col) * KPack) * index_t(sizeof(T));
}
}  // namespace detail

/// Writes KPack elements from `src` as vector `col` of row `row`, with one instruction.
/// Rows are RowStride elements apart.
template <class T, index_t RowStride, index_t KPerBlock = 64, index_t KPack = 8>
TILEWRIGHT_HD void lds_write_with_xor(exec::lds_pointer lds, const T* src, index_t row, index_t col,
                                      exec::call_site where = {}) {
  const exec::call_scope scope(where);
  vector_t<T, KPack> v;
  TILEWRIGHT_UNROLL_ALL
  for (index_t i = 0; i < KPack; ++i) v[i] = src[i];
  exec::lds_store(lds, detail::xor_offset<T, RowStride, KPerBlock, KPack>(row, col), v);
}

/// Reads them back to `dst`.
template <class T, index_t RowStride, index_t KPerBlock = 64, index_t KPack = 8>
TILEWRIGHT_HD void lds_read_with_xor(T* dst, exec::lds_pointer lds, index_t row, index_t col,
                                     exec::call_site where = {}) {
  const exec::call_scope scope(where);
  const auto v = exec::lds_load<vector_t<T, KPack>>(lds, detail::xor_offset<T, RowStride, KPerBlock, KPack>(row, col));
  TILEWRIGHT_UNROLL_ALL
  for (index_t i = 0; i < KPack; ++i) dst[i] = v[i];
}

}  // namespace tilewright
