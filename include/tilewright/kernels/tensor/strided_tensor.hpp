// SPDX-License-Identifier: MIT
// Tensors of up to six dimensions in global memory, their slices and permutations, and what check(args) asks of them.
#pragma once

#include <tilewright/core/base/array.hpp>
#include <tilewright/core/base/math.hpp>
#include <tilewright/launch/check_memory.hpp>

namespace tilewright {

/// A tensor in global memory. Lengths and strides in elements, the last dimension last. A stride of 0 repeats elements,
/// which only an input may do.
template <class T>
struct strided_tensor {
  static constexpr index_t max_dims = 6;  ///< dimensions at most

  T* data = nullptr;  ///< the element of index 0
  index_t dims = 0;   ///< from 0 to max_dims
  /// in elements, outermost first; strides may have any order, and be 0 in inputs
  long_index_t lengths[max_dims] = {}, strides[max_dims] = {};

  constexpr strided_tensor() = default;
  /// Without strides: contiguous.
  constexpr strided_tensor(T* memory, std::initializer_list<long_index_t> of_lengths,
                           std::initializer_list<long_index_t> of_strides = {})
      : data(memory) {
    for (const long_index_t length : of_lengths) {
      if (dims < max_dims) lengths[dims] = length;
      ++dims;  // more than max_dims: check(args) refuses it
    }
    index_t i = 0;
    for (const long_index_t stride : of_strides) {
      if (i < max_dims) strides[i++] = stride;
    }
    if (i > 0 || dims > max_dims) return;
    long_index_t stride = 1;
    for (i = dims; i-- > 0; stride *= lengths[i]) strides[i] = stride;
  }

  /// The product of the lengths.
  constexpr long_index_t elements() const {
    long_index_t n = 1;
    for (index_t i = 0; i < dims; ++i) n *= lengths[i];
    return n;
  }
  /// The part with `length` indices of dimension `dim` from `first` on.
  constexpr strided_tensor slice(index_t dim, long_index_t first, long_index_t length) const {
    strided_tensor part = *this;
    part.data += first * strides[dim];
    part.lengths[dim] = length;
    return part;
  }
  /// Dimension i of the result is dimension order[i] of this tensor.
  constexpr strided_tensor permuted(std::initializer_list<index_t> order) const {
    strided_tensor result = *this;
    index_t i = 0;
    for (const index_t dim : order) {
      result.lengths[i] = lengths[dim];
      result.strides[i++] = strides[dim];
    }
    return result;
  }
};

namespace detail {

/// Elements from the first one in memory to the last one.
template <class T>
constexpr long_index_t span_of(const strided_tensor<T>& t) {
  long_index_t last = 0;
  for (index_t i = 0; i < t.dims; ++i) last += (t.lengths[i] - 1) * t.strides[i];
  return last + 1;
}

/// Why no kernel can take this tensor, as an error message; nullptr: one can.
template <class T>
const char* check_tensor(const strided_tensor<T>& t) {
  if (t.dims < 1 || t.dims > t.max_dims) return "a tensor must have 1 to 6 dimensions";
  long_index_t elements = 1;
  for (index_t i = 0; i < t.dims; ++i) {
    if (t.lengths[i] < 1) return "lengths must be positive";
    if (t.lengths[i] > 0x7fffffff) return "a length is 2^31 or more: divide the dimension into two";
    if (t.strides[i] < 0) return "a stride is negative";
    if (t.strides[i] > (1ll << 46) / t.lengths[i] || (elements *= t.lengths[i]) > (1ll << 46))
      return "there are more than 2^46 elements";
  }
  if (!t.data) return "a pointer is null";
  if (!is_aligned(t.data, sizeof(T))) return "a pointer is not aligned to its elements";
  return nullptr;
}

template <class T, class U>
constexpr bool have_same_lengths(const strided_tensor<T>& a, const strided_tensor<U>& b) {
  bool same = a.dims == b.dims;
  for (index_t i = 0; same && i < a.dims; ++i) same = a.lengths[i] == b.lengths[i];
  return same;
}

/// Whether the bytes between the first and the last elements of both overlap.
template <class T, class U>
bool overlap(const strided_tensor<T>& a, const strided_tensor<U>& b) {
  return overlap(a.data, span_of(a) * long_index_t(sizeof(T)), b.data, span_of(b) * long_index_t(sizeof(U)));
}

/// Whether each element of one is the same element of the other, so that each thread reads it before it writes it.
template <class T, class U>
bool is_in_place(const strided_tensor<T>& a, const strided_tensor<U>& b) {
  bool same = static_cast<const void*>(a.data) == static_cast<const void*>(b.data) && sizeof(T) == sizeof(U);
  for (index_t i = 0; same && i < a.dims; ++i) same = a.lengths[i] == 1 || a.strides[i] == b.strides[i];
  return same;
}

/// Why y cannot be computed from x element by element; nullptr if it can. Both are as long.
template <class T, class U>
const char* check_tensors(const strided_tensor<T>& x, const strided_tensor<U>& y) {
  if (const char* why = check_tensor(x)) return why;
  if (const char* why = check_tensor(y)) return why;
  if (!have_same_lengths(x, y)) return "the tensors have different lengths";
  if (has_shared_elements(y.dims, y.lengths, y.strides))
    return "the result's strides overlap: two elements would have one address";
  if (overlap(x, y) && !is_in_place(x, y))
    return "the memory from the result's first element to its last overlaps an input's, but the result is not that "
           "input";
  return nullptr;
}

}  // namespace detail

}  // namespace tilewright
