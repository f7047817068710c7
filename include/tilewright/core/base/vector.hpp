// SPDX-License-Identifier: MIT
// A vector of elements that one memory instruction moves.
#pragma once

#include <tilewright/core/base/index.hpp>

namespace tilewright {

/// N elements, aligned to their common size so that one load or store moves them.
template <class T, index_t N>
struct alignas(sizeof(T) * N) vector_t {
  using element_type = T;
  T elements[N];  ///< in order

  /// N.
  TILEWRIGHT_HD static constexpr index_t size() { return N; }
  /// Element i; 0 <= i < N is not checked.
  TILEWRIGHT_HD constexpr T& operator[](index_t i) { return elements[i]; }
  TILEWRIGHT_HD constexpr const T& operator[](index_t i) const { return elements[i]; }
};

}  // namespace tilewright
