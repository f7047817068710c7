// SPDX-License-Identifier: MIT
// A tensor in global memory as TMA sees it: made on the host, passed to a kernel by value.
#pragma once

#include <tilewright/core/arch/matrix_instruction.hpp>

namespace tilewright::exec {

/// Opaque; make_tensor_map makes it. A kernel's parameter must be __grid_constant__.
struct alignas(128) tensor_map {
  unsigned long long opaque[16];  ///< as the driver encodes it
};

/// For a matrix whose rows belong to several consecutive tensors: each copy says at which row its tensor ends.
struct ragged_tensor_map : tensor_map {};

/// A tensor of three or five dimensions, the first of them contiguous, and the box of it that one copy moves. The map
/// of a `ragged` one, of less than 2^30 rows and one matrix, must be a ragged_tensor_map.
struct tensor_map_request {
  void* data;                    ///< a multiple of 16
  arch::matrix_element element;  ///< not larger than 4 bytes
  long_index_t lengths[5];       ///< the last two are 0 if there are three dimensions
  long_index_t stride_bytes[4];  ///< of dimensions 1 to 4: multiples of 16; addresses are sums modulo 2^64
  index_t box[2];                ///< in elements along dimensions 0 and 1, at most 256; 1 along the others
  bool ragged = false;           ///< rows end where each copy says
  index_t padded_row_bytes = 0;  ///< 64 or 128: rows of the box that are shorter are this far apart in LDS

  /// Dimensions: 3 or 5.
  index_t rank() const { return lengths[3] == 0 ? 3 : 5; }

  /// Bytes of an element.
  index_t element_bytes() const { return arch::bytes_of(element); }
  /// Bytes of a row of the box in LDS: 128 or 64, and the box is in LDS with the swizzle of that many bytes; or a
  /// multiple of 16, if it is the box's only row.
  index_t row_bytes() const { return padded_row_bytes > 0 ? padded_row_bytes : box[0] * element_bytes(); }
  /// Bytes that a copy moves.
  index_t copied_bytes() const { return box[0] * box[1] * element_bytes(); }
  /// Bytes of the swizzle's rows; 0: the box is one row, without a swizzle.
  index_t swizzled_bytes() const { return box[1] > 1 ? row_bytes() : 0; }

  friend constexpr bool operator==(const tensor_map_request&, const tensor_map_request&) = default;
};

}  // namespace tilewright::exec
