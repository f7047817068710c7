// SPDX-License-Identifier: MIT
// A dense matrix of 16-bit elements in host memory, and the names and values of its elements.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tilewright/numeric/types.hpp>

#include "backend.hpp"

namespace gemm_example {

struct matrix {
  std::int64_t rows = 0, cols = 0;
  order storage = order::row_major;
  std::vector<std::uint16_t> elements;

  std::int64_t row_stride() const { return storage == order::row_major ? cols : 1; }
  std::int64_t col_stride() const { return storage == order::row_major ? 1 : rows; }
  std::uint16_t bits(std::int64_t row, std::int64_t col) const {
    return elements[static_cast<std::size_t>(row * row_stride() + col * col_stride())];
  }
};

/// Is NaN as f16 and as bf16.
inline constexpr std::uint16_t nan_bits = 0x7fff;

inline const char* name_of(element type) { return type == element::f16 ? "f16" : "bf16"; }
inline const char* name_of(order storage) { return storage == order::row_major ? "row-major" : "column-major"; }
inline char letter_of(order storage) { return storage == order::row_major ? 'r' : 'c'; }

inline float value_of(element type, std::uint16_t bits) {
  return type == element::f16 ? tilewright::float_from_half_bits(bits)
                              : float(tilewright::bit_cast<tilewright::bfloat16_t>(bits));
}

/// Rounds to the nearest, ties to even.
inline std::uint16_t bits_of(element type, float value) {
  return type == element::f16 ? tilewright::half_bits_from_float(value) : tilewright::bfloat16_bits_from_float(value);
}

/// The value of every bit pattern.
inline std::vector<float> value_table(element type) {
  std::vector<float> table(std::size_t{1} << 16);
  for (std::size_t bits = 0; bits < table.size(); ++bits)
    table[bits] = value_of(type, static_cast<std::uint16_t>(bits));
  return table;
}

}  // namespace gemm_example
