// SPDX-License-Identifier: MIT
// Makes tensor maps, on the host. The driver's function is looked up at run time,
// so that nothing but the CUDA runtime is linked.
#pragma once

#include <tilewright/arch/tensor_map.hpp>

#include <cuda.h>
#include <cuda_runtime_api.h>

namespace tilewright::exec {

/// Fails where the request breaks the rules of bulk copies.
inline cudaError_t make_tensor_map(tensor_map& result, const tensor_map_request& r) {
  using encode_function = CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*,
                                       const cuuint64_t*, const cuuint32_t*, const cuuint32_t*, CUtensorMapInterleave,
                                       CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
  static_assert(sizeof(tensor_map) == sizeof(CUtensorMap) && alignof(tensor_map) == alignof(CUtensorMap));
  static encode_function encode = nullptr;
  if (encode == nullptr) {
    void* entry = nullptr;
    cudaDriverEntryPointQueryResult found{};
    const cudaError_t error =
        cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &found);
    if (error != cudaSuccess) return error;
    if (found != cudaDriverEntryPointSuccess) return cudaErrorNotSupported;
    encode = reinterpret_cast<encode_function>(entry);
  }
  cuuint64_t lengths[5], strides[4];
  for (int i = 0; i < 5; ++i) lengths[i] = cuuint64_t(r.lengths[i]);
  for (int i = 0; i < 4; ++i) strides[i] = cuuint64_t(r.stride_bytes[i]);
  const cuuint32_t box[5] = {cuuint32_t(r.box[0]), cuuint32_t(r.box[1]), 1, 1, 1};
  const cuuint32_t steps[5] = {1, 1, 1, 1, 1};
  if (r.ragged) {
    // The strides of dimensions 1 to 3 are s, s and T - s with 2^30 T = 0 modulo 2^64, so that element
    // (x, 2^30 - end + row, end, 2^30) is (x, row); the length of dimension 1 makes rows from `end` on outside.
    lengths[1] = 1u << 30;
    lengths[2] = lengths[3] = 0x7fff0000;
    strides[1] = strides[0];
    strides[2] = (cuuint64_t(r.element_bytes()) << 34) - strides[0];
  }
  const CUtensorMapDataType type = r.element_bytes() == 1                    ? CU_TENSOR_MAP_DATA_TYPE_UINT8
                                   : r.element == arch::matrix_element::bf16 ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16
                                                                             : CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
  const CUtensorMapSwizzle swizzle = r.row_bytes() == 128 ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_64B;
  // Rows that begin anywhere in a cache line would each fetch two lines more.
  const CUtensorMapL2promotion promotion =
      r.stride_bytes[0] % 128 == 0 ? CU_TENSOR_MAP_L2_PROMOTION_L2_256B : CU_TENSOR_MAP_L2_PROMOTION_NONE;
  const CUresult error =
      encode(reinterpret_cast<CUtensorMap*>(&result), type, cuuint32_t(r.ragged ? 4 : r.rank()), r.data, lengths,
             strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, promotion, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return error == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue;
}

}  // namespace tilewright::exec
