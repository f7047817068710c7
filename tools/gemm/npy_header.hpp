// SPDX-License-Identifier: MIT
// The header of a NumPy .npy file that holds a matrix, or a batch of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "backend.hpp"

namespace gemm_program {

/// Elements that can be read: '<f2'; '<V2' (NumPy's name for the bfloat16 of ml_dtypes) or '<u2' (its bits); '<f4';
/// '|V1' (NumPy's name for each 8-bit floating-point type of ml_dtypes) or '|u1' (its bits); '|i1'; '<i4'.
enum class npy_scalar { f16, bf16, f32, byte, i8, i32 };

struct npy_header {
  npy_scalar scalar = npy_scalar::f16;
  order storage = order::row_major;
  std::int64_t rows = 0, cols = 0;  // both positive
  std::int64_t data_offset = 0;     // bytes from the beginning of the file
  std::int64_t batch = 1;           // the first of three dimensions

  std::int64_t scalar_bytes() const {
    if (scalar == npy_scalar::byte || scalar == npy_scalar::i8) return 1;
    return scalar == npy_scalar::f32 || scalar == npy_scalar::i32 ? 4 : 2;
  }
  std::int64_t data_bytes() const { return batch * rows * cols * scalar_bytes(); }
};

/// A header takes a hundred bytes; one that claims more than this is refused.
inline constexpr std::size_t npy_header_limit = 1 << 16;

/// Reads format 1.0, 2.0 or 3.0. `start` is the beginning of the file: npy_header_limit + 12 bytes of it, or all.
/// The file must consist of the header and exactly the elements of its shape, all of which fit 64-bit sizes.
/// Throws refusal with one sentence that begins with `file_name`.
npy_header parse_npy_header(std::string_view start, std::int64_t file_bytes, const std::string& file_name);

/// A header of format 1.0; its length is a multiple of 64 bytes. bf16 is declared as '<V2', 8-bit floating-point
/// numbers as '|V1'. A batch of more than one matrix gets three dimensions and must be row-major.
std::string make_npy_header(element type, order storage, std::int64_t rows, std::int64_t cols, std::int64_t batch = 1);

}  // namespace gemm_program
