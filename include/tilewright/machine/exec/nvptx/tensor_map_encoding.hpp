// SPDX-License-Identifier: MIT
// The arguments of cuTensorMapEncodeTiled as plain numbers, without the CUDA driver's header.
#pragma once

#include <tilewright/core/arch/tensor_map.hpp>

namespace tilewright::exec {

/// The arguments of cuTensorMapEncodeTiled. Enumerators are named in the comments.
struct tensor_map_encoding {
  int type, swizzle, promotion;  ///< of the CUDA driver's enumerations
  unsigned rank;                 ///< dimensions, 1 to 5
  void* data;                    ///< first element; aligned to 16 bytes
  /// Elements of each dimension, innermost first; bytes from one to the next, but for the innermost.
  unsigned long long lengths[5], strides[4];
  /// Elements of a box; every element is copied.
  unsigned box[5], steps[5] = {1, 1, 1, 1, 1};

  /// What cuTensorMapEncodeTiled() takes for this request.
  explicit tensor_map_encoding(const tensor_map_request& r)
      : type(r.element_bytes() == 1                    ? 0            // CU_TENSOR_MAP_DATA_TYPE_UINT8
             : r.element_bytes() == 4                  ? 7            // CU_TENSOR_MAP_DATA_TYPE_FLOAT32
             : r.element == arch::matrix_element::bf16 ? 9            // CU_TENSOR_MAP_DATA_TYPE_BFLOAT16
                                                       : 6),          // CU_TENSOR_MAP_DATA_TYPE_FLOAT16
        swizzle(r.swizzled_bytes() / 64 + (r.swizzled_bytes() > 0)),  // CU_TENSOR_MAP_SWIZZLE_128B, _64B, _NONE
        // Rows that begin anywhere in a cache line would each fetch two lines more.
        promotion(r.stride_bytes[0] % 128 == 0 ? 2 : 0),  // CU_TENSOR_MAP_L2_PROMOTION_L2_128B, _NONE
        rank(r.ragged ? 4 : unsigned(r.rank())),
        data(r.data),
        box{unsigned(r.box[0]), unsigned(r.box[1]), 1, 1, 1} {
    for (int i = 0; i < 5; ++i) lengths[i] = static_cast<unsigned long long>(r.lengths[i]);
    for (int i = 0; i < 4; ++i) strides[i] = static_cast<unsigned long long>(r.stride_bytes[i]);
    if (!r.ragged) return;
    // The strides of dimensions 1 to 3 are s, s and T - s with 2^30 T = 0 modulo 2^64, so that element
    // (x, 2^30 - end + row, end, 2^30) is (x, row); the length of dimension 1 makes rows from `end` on outside.
    lengths[1] = 1u << 30;
    lengths[2] = lengths[3] = 0x7fff0000;
    strides[1] = strides[0];
    strides[2] = (static_cast<unsigned long long>(r.element_bytes()) << 34) - strides[0];
  }
};

}  // namespace tilewright::exec
