// SPDX-License-Identifier: MIT
// tensor: memory of the device, its element type, lengths and strides, as the calls of tilewright::ops take them.
#pragma once

#include <initializer_list>
#include <string>

#include <tilewright/core/base/config.hpp>
#include <tilewright/core/base/types.hpp>
#include <tilewright/jit/element.hpp>
#include <tilewright/ops/operation_error.hpp>

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

namespace detail {
[[noreturn]] inline void refuse_view(const std::string& sentence) {
  throw operation_error(fault_kind::wrong_call, sentence);
}
}  // namespace detail

/// A tensor without gaps, the last dimension contiguous. A call does not write to a tensor that it takes as const, so
/// memory of constants is given as well. Throws operation_error for more than tensor::max_rank lengths.
constexpr tensor packed(const void* data, element type, std::initializer_list<long_index_t> lengths) {
  if (lengths.size() > tensor::max_rank)
    detail::refuse_view("packed: there are " + std::to_string(lengths.size()) + " lengths; give at most " +
                        std::to_string(tensor::max_rank));
  tensor t{.data = const_cast<void*>(data), .type = type};
  for (const long_index_t length : lengths) t.lengths[t.rank++] = length;
  long_index_t stride = 1;
  for (int i = t.rank; i-- > 0; stride *= t.lengths[i]) t.strides[i] = stride;
  return t;
}

/// A tensor with the given strides, in elements. Throws operation_error unless there are as many of them as lengths, at
/// most tensor::max_rank.
constexpr tensor strided(const void* data, element type, std::initializer_list<long_index_t> lengths,
                         std::initializer_list<long_index_t> strides) {
  if (lengths.size() != strides.size())
    detail::refuse_view("strided: there are " + std::to_string(lengths.size()) + " lengths and " +
                        std::to_string(strides.size()) + " strides; give a stride for each length");
  tensor t = packed(data, type, lengths);
  int i = 0;
  for (const long_index_t stride : strides) t.strides[i++] = stride;
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
