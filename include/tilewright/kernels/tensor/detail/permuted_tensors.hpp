// SPDX-License-Identifier: MIT
// The two tensors of a permutation, as its kernels and their plans have them.
#pragma once

#include <tilewright/core/base/type_traits.hpp>
#include <tilewright/kernels/tensor/detail/loop_nest.hpp>

namespace tilewright::detail {

/// What each plan of a permutation y = x begins with.
template <class T>
struct permuted_tensors {
  const T* x;
  T* y;
  long_index_t x_bytes, y_bytes;

  static constexpr index_t size = sizeof(T), vector = 16 / size;
  using element = conditional_t<size == 8, unsigned long long, unsigned_of<min(size, 4)>>;  // moved as bits
  TILEWRIGHT_HD index_t x_misaligned() const { return index_t(reinterpret_cast<unsigned long long>(x) % 16); }
  TILEWRIGHT_HD unsigned y_address() const { return unsigned(reinterpret_cast<unsigned long long>(y)); }
};

template <class T>
constexpr permuted_tensors<T> tensors_of(const strided_tensor<const T>& x, const strided_tensor<T>& y) {
  return {x.data, y.data, span_of(x) * long_index_t(sizeof(T)), span_of(y) * long_index_t(sizeof(T))};
}

/// Why a kernel whose offsets have this type cannot move these tensors; nullptr if it can.
template <class Offset, class T>
constexpr const char* check_offsets(const strided_tensor<const T>& x, const strided_tensor<T>& y) {
  const bool fits = sizeof(Offset) > 4 || (is_near(x) && is_near(y));
  return fits ? nullptr : "a tensor spans 2 GiB: use an Offset of long_index_t";
}

}  // namespace tilewright::detail
