// SPDX-License-Identifier: MIT
// Matrices of one size in host memory, one or a batch of them.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "backend.hpp"

namespace gemm_program {

struct matrix {
  std::int64_t rows = 0, cols = 0;
  order storage = order::row_major;
  element type = element::f16;
  std::int64_t batch = 1;
  std::int64_t gap = 0;  // unused elements between a row (column) and the next one
  std::vector<unsigned char> bytes = std::vector<unsigned char>(static_cast<std::size_t>(places() * bytes_of(type)));

  std::int64_t count() const { return batch * rows * cols; }
  /// From one row (column) to the next, and how many there are; elements in memory, gaps included.
  std::int64_t leading_dimension() const { return (storage == order::row_major ? cols : rows) + gap; }
  std::int64_t lines() const { return storage == order::row_major ? rows : cols; }
  std::int64_t places() const { return batch * lines() * leading_dimension(); }

  std::int64_t row_stride() const { return storage == order::row_major ? leading_dimension() : 1; }
  std::int64_t col_stride() const { return storage == order::row_major ? 1 : leading_dimension(); }
  /// The number of an element in memory.
  std::int64_t place(std::int64_t row, std::int64_t col, std::int64_t z = 0) const {
    return z * lines() * leading_dimension() + row * row_stride() + col * col_stride();
  }

  std::uint32_t bits_at(std::int64_t place) const {
    std::uint32_t bits = 0;
    const auto size = static_cast<std::size_t>(bytes_of(type));
    std::memcpy(&bits, bytes.data() + static_cast<std::size_t>(place) * size, size);
    return bits;
  }
  void set_bits_at(std::int64_t place, std::uint32_t bits) {
    const auto size = static_cast<std::size_t>(bytes_of(type));
    std::memcpy(bytes.data() + static_cast<std::size_t>(place) * size, &bits, size);
  }
  std::uint32_t bits(std::int64_t row, std::int64_t col, std::int64_t z = 0) const {
    return bits_at(place(row, col, z));
  }
  double value(std::int64_t row, std::int64_t col, std::int64_t z = 0) const {
    return value_of(type, bits(row, col, z));
  }
};

/// The same matrices with another gap, filled with these bits.
inline matrix with_gap(const matrix& source, std::int64_t gap, std::uint32_t fill) {
  matrix result{source.rows, source.cols, source.storage, source.type, source.batch, gap};
  const std::int64_t length = result.leading_dimension() - gap;
  for (std::int64_t line = 0; line < result.batch * result.lines(); ++line)
    for (std::int64_t i = 0; i < result.leading_dimension(); ++i)
      result.set_bits_at(line * result.leading_dimension() + i,
                         i < length ? source.bits_at(line * source.leading_dimension() + i) : fill);
  return result;
}

inline const char* name_of(order storage) { return storage == order::row_major ? "row-major" : "column-major"; }
inline char letter_of(order storage) { return storage == order::row_major ? 'r' : 'c'; }

}  // namespace gemm_program
