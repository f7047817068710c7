// SPDX-License-Identifier: MIT
// Elements of less than a byte, stored without gaps: an element type of whole bytes for tensors and tiles.
#pragma once

#include <tilewright/core/base/narrow_float.hpp>
#include <tilewright/core/base/narrow_int.hpp>

namespace tilewright {

/// The fewest elements that fill whole bytes: two of 4 bits in one, four of 6 bits in three. Element 0 is in the lowest
/// bits. A row of n elements is n / packed<T>::size() of these.
template <class T>
struct packed {
  static_assert(T::num_bits == 4 || T::num_bits == 6, "packed: an element has 4 or 6 bits");
  unsigned char bytes[T::num_bits / 2 - (T::num_bits == 4)];  ///< lowest bits first

  /// 2 or 4.
  TILEWRIGHT_HD static constexpr index_t size() { return 8 * index_t(sizeof(bytes)) / T::num_bits; }
  /// Element i, 0 <= i < size().
  TILEWRIGHT_HD constexpr T operator[](index_t i) const {
    T value{};
    value.bits = static_cast<unsigned char>(word() >> i * T::num_bits & mask);
    return value;
  }
  /// Writes element i.
  TILEWRIGHT_HD constexpr void set(index_t i, T value) {
    const unsigned all = (word() & ~(mask << i * T::num_bits)) | (value.bits & mask) << i * T::num_bits;
    for (index_t b = 0; b < index_t(sizeof(bytes)); ++b) bytes[b] = static_cast<unsigned char>(all >> 8 * b);
  }

 private:
  static constexpr unsigned mask = (1u << T::num_bits) - 1;
  TILEWRIGHT_HD constexpr unsigned word() const {
    unsigned all = 0;
    for (index_t b = 0; b < index_t(sizeof(bytes)); ++b) all |= unsigned(bytes[b]) << 8 * b;
    return all;
  }
};

static_assert(sizeof(packed<fp4_e2m1_t>) == 1 && sizeof(packed<fp6_e2m3_t>) == 3 && packed<fp6_e2m3_t>::size() == 4);

}  // namespace tilewright
