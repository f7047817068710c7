// SPDX-License-Identifier: MIT
// Makes tensor maps on the host. The driver's function is found at run time: only the CUDA runtime is linked.
#pragma once

#include <tilewright/machine/exec/nvptx/tensor_map_encoding.hpp>

#include <cuda.h>
#include <cuda_runtime_api.h>

namespace tilewright::exec {

/// Fails where the request breaks TMA's rules.
inline cudaError_t make_tensor_map(tensor_map& result, const tensor_map_request& request) {
  using encode_function =
      CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const unsigned long long*,
                   const unsigned long long*, const cuuint32_t*, const cuuint32_t*, CUtensorMapInterleave,
                   CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
  static_assert(sizeof(tensor_map) == sizeof(CUtensorMap) && alignof(tensor_map) == alignof(CUtensorMap));
  static_assert(CU_TENSOR_MAP_DATA_TYPE_UINT8 == 0 && CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 == 9 &&
                CU_TENSOR_MAP_DATA_TYPE_FLOAT16 == 6 && CU_TENSOR_MAP_DATA_TYPE_FLOAT32 == 7 &&
                CU_TENSOR_MAP_SWIZZLE_128B == 3 && CU_TENSOR_MAP_SWIZZLE_64B == 2 &&
                CU_TENSOR_MAP_L2_PROMOTION_L2_128B == 2);
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
  const tensor_map_encoding e(request);
  const CUresult error =
      encode(reinterpret_cast<CUtensorMap*>(&result), CUtensorMapDataType(e.type), e.rank, e.data, e.lengths, e.strides,
             e.box, e.steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CUtensorMapSwizzle(e.swizzle),
             CUtensorMapL2promotion(e.promotion), CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return error == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue;
}

}  // namespace tilewright::exec
