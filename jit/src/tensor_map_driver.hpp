// SPDX-License-Identifier: MIT
// Makes tensor maps by the CUDA driver's function, which nvidia_gpu looks up.
#pragma once

#include <string>

#include <tilewright/jit/error.hpp>
#include <tilewright/machine/exec/nvptx/tensor_map_encoding.hpp>

namespace tilewright::jit {

struct tensor_map_functions {
  int (*encode)(void* map, int type, unsigned rank, void* data, const unsigned long long* lengths,
                const unsigned long long* strides, const unsigned* box, const unsigned* steps, int interleave,
                int swizzle, int promotion, int out_of_bounds) = nullptr;
};
inline tensor_map_functions& tensor_map_driver() {
  static tensor_map_functions functions;
  return functions;
}

inline void make_tensor_map(exec::tensor_map& result, const exec::tensor_map_request& request) {
  const exec::tensor_map_encoding e(request);
  const int result_code = tensor_map_driver().encode(&result, e.type, e.rank, e.data, e.lengths, e.strides, e.box,
                                                     e.steps, 0, e.swizzle, e.promotion, 0);
  if (result_code != 0)
    throw error("the CUDA driver refuses a tensor map: error " + std::to_string(result_code) +
                (result_code == 1 ? ", an operand breaks the rules of TMA" : ""));
}

}  // namespace tilewright::jit
