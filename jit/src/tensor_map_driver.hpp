// SPDX-License-Identifier: MIT
// Makes tensor maps by the CUDA driver's function, which nvidia_gpu looks up, and remembers the last ones.
#pragma once

#include <cstddef>
#include <cstdint>
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

inline void encode_tensor_map(exec::tensor_map& result, const exec::tensor_map_request& request) {
  const exec::tensor_map_encoding e(request);
  const int result_code = tensor_map_driver().encode(&result, e.type, e.rank, e.data, e.lengths, e.strides, e.box,
                                                     e.steps, 0, e.swizzle, e.promotion, 0);
  if (result_code != 0)
    throw error("the CUDA driver refuses a tensor map: error " + std::to_string(result_code) +
                (result_code == 1 ? ", an operand breaks the rules of TMA" : ""));
}

/// Maps of this thread, each in the slot of its request's hash: a map depends on its request alone, and the driver
/// takes about 0.3 us for one.
class recent_tensor_maps {
 public:
  static recent_tensor_maps& of_this_thread() {
    thread_local recent_tensor_maps only;
    return only;
  }
  const exec::tensor_map& find(const exec::tensor_map_request& request) {
    entry& e = entries_[slot_of(request)];
    if (e.request.data == nullptr || !(e.request == request)) {
      e.request.data = nullptr;  // holds no map, should the driver refuse this one
      encode_tensor_map(e.map, request);
      e.request = request;
    }
    return e.map;
  }

 private:
  static constexpr int num_bits = 6;
  struct entry {
    exec::tensor_map map = {};
    exec::tensor_map_request request = {};
  };
  static std::size_t slot_of(const exec::tensor_map_request& r) {
    std::uint64_t hash = reinterpret_cast<std::uintptr_t>(r.data);
    for (const long_index_t x :
         {r.lengths[0], r.lengths[1], r.stride_bytes[0], long_index_t(r.box[0] * 512 + r.box[1])})
      hash = (hash ^ std::uint64_t(x)) * 0x9e3779b97f4a7c15u;
    return std::size_t(hash >> (64 - num_bits));
  }

  entry entries_[1 << num_bits];
};

inline void make_tensor_map(exec::tensor_map& result, const exec::tensor_map_request& request) {
  result = recent_tensor_maps::of_this_thread().find(request);
}

}  // namespace tilewright::jit
