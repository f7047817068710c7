// SPDX-License-Identifier: MIT
// tensor: memory of the device, its element type, lengths and strides, as the calls of tilewright::ops take them.
#pragma once

#include <initializer_list>

#include <tilewright/core/base/config.hpp>
#include <tilewright/core/base/types.hpp>
#include <tilewright/jit/element.hpp>

namespace tilewright::ops {

using jit::element;

/// A view: it owns nothing. Offsets of elements are sums of index times stride, as in mdspan's layout_stride.
struct tensor {
  static constexpr int max_rank = 5;

  void* data = nullptr;                 ///< the element of index 0, 0, ...; null: there is no tensor
  ops::element type = element::f16;     ///< of all elements
  int rank = 0;                         ///< number of dimensions, 0 to max_rank
  long_index_t lengths[max_rank] = {};  ///< of the first `rank` dimensions, >= 1
  long_index_t strides[max_rank] = {};  ///< elements from one index of a dimension to the next, >= 0
};

/// A tensor without gaps, the last dimension contiguous. A call does not write to a tensor that it takes as const, so
/// memory of constants is given as well. No more than tensor::max_rank lengths are kept.
constexpr tensor packed(const void* data, element type, std::initializer_list<long_index_t> lengths) {
  tensor t{.data = const_cast<void*>(data), .type = type};
  for (const long_index_t length : lengths)
    if (t.rank < tensor::max_rank) t.lengths[t.rank++] = length;
  long_index_t stride = 1;
  for (int i = t.rank; i-- > 0; stride *= t.lengths[i]) t.strides[i] = stride;
  return t;
}

/// A tensor with the given strides, in elements; as many of them as lengths.
constexpr tensor strided(const void* data, element type, std::initializer_list<long_index_t> lengths,
                         std::initializer_list<long_index_t> strides) {
  tensor t = packed(data, type, lengths);
  int i = 0;
  for (const long_index_t stride : strides)
    if (i < t.rank) t.strides[i++] = stride;
  return t;
}

/// The view whose last two dimensions are exchanged: the transposed matrix in the same memory.
constexpr tensor transposed(tensor t) {
  const int i = t.rank - 2, j = t.rank - 1;
  if (i < 0) return t;
  const long_index_t length = t.lengths[i], stride = t.strides[i];
  t.lengths[i] = t.lengths[j], t.strides[i] = t.strides[j];
  t.lengths[j] = length, t.strides[j] = stride;
  return t;
}

}  // namespace tilewright::ops
