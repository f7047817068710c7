// SPDX-License-Identifier: MIT
// Questions that check(args) of any kernel asks of memory: alignment, overlap, elements with one address.
#pragma once

#include <tilewright/core/base/math.hpp>

namespace tilewright::detail {

/// Whether an address is a multiple of `bytes`, a power of two; true at compile time.
TILEWRIGHT_HD constexpr bool is_aligned(const void* data, index_t bytes = 16) {
  return __builtin_is_constant_evaluated() || reinterpret_cast<unsigned long long>(data) % unsigned(bytes) == 0;
}

/// Whether the bytes from a first element to a last one, of two tensors, overlap.
inline bool overlap(const void* a, long_index_t a_bytes, const void* b, long_index_t b_bytes) {
  const char *const first = static_cast<const char*>(a), *const second = static_cast<const char*>(b);
  return first < second + b_bytes && second < first + a_bytes;
}

/// Whether two elements may have one address: each stride must be larger than what smaller strides reach. Strides of
/// the `dims` dimensions are not negative; `contiguous`: elements of one more dimension, whose stride is 1.
template <class Lengths, class Strides>
constexpr bool has_shared_elements(index_t dims, const Lengths& lengths, const Strides& strides,
                                   index_t contiguous = 1) {
  for (index_t i = 0; i < dims; ++i) {
    long_index_t reached = contiguous - 1;
    for (index_t j = 0; j < dims; ++j) {
      const bool is_inside = strides[j] < strides[i] || (strides[j] == strides[i] && j > i);
      if (is_inside) reached += (lengths[j] - 1) * strides[j];
    }
    if (lengths[i] > 1 && strides[i] <= reached) return true;
  }
  return false;
}

}  // namespace tilewright::detail
