// SPDX-License-Identifier: MIT
// The header of a NumPy .npy file that holds one matrix.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "backend.hpp"

namespace gemm_example {

/// Elements that can be read: '<f2'; '<V2' (NumPy's name for the bfloat16 of ml_dtypes) or '<u2' (its bits); '<f4'.
enum class npy_scalar { f16, bf16, f32 };

struct npy_header {
  npy_scalar scalar = npy_scalar::f16;
  order storage = order::row_major;
  std::int64_t rows = 0, cols = 0;  // both positive
  std::int64_t data_offset = 0;     // bytes from the beginning of the file

  std::int64_t scalar_bytes() const { return scalar == npy_scalar::f32 ? 4 : 2; }
  std::int64_t data_bytes() const { return rows * cols * scalar_bytes(); }
};

/// A header of two dimensions takes a hundred bytes; one that claims more than this is refused.
inline constexpr std::size_t npy_header_limit = 1 << 16;

/// Reads format 1.0, 2.0 or 3.0. `start` is the beginning of the file: npy_header_limit + 12 bytes of it, or all.
/// The file must consist of the header and exactly the elements of its shape, all of which fit 64-bit sizes.
/// Throws refusal with one sentence that begins with `file_name`.
npy_header parse_npy_header(std::string_view start, std::int64_t file_bytes, const std::string& file_name);

/// A header of format 1.0 for 16-bit elements; its length is a multiple of 64 bytes. bf16 is declared as '<V2'.
std::string make_npy_header(element type, order storage, std::int64_t rows, std::int64_t cols);

}  // namespace gemm_example
