// SPDX-License-Identifier: MIT
// Makes tensor maps for kernels that run on the CPU.
#pragma once

#include <tilewright/core/arch/tensor_map.hpp>
#include <tilewright/machine/emulator/fault.hpp>

namespace tilewright::exec::inline host {

/// Throws a fault where the request breaks TMA's rules.
inline void make_tensor_map(tensor_map& result, const tensor_map_request& r) {
  const auto demand = [](bool kept, const char* rule) {
    if (!kept) throw emulator::fault(std::string("make_tensor_map: ") + rule);
  };
  demand(reinterpret_cast<__UINTPTR_TYPE__>(r.data) % 16 == 0, "the tensor must begin at a multiple of 16 bytes");
  for (index_t i = 0; i < r.rank(); ++i)
    demand(r.lengths[i] > 0 && r.lengths[i] <= 1ll << 32, "lengths must be positive and at most 2^32");
  for (const long_index_t stride : r.stride_bytes)
    demand(stride % 16 == 0 && stride >= 0 && stride < 1ll << 40,
           "strides must be multiples of 16 bytes, less than 2^40");
  for (const index_t length : r.box)
    demand(length > 0 && length <= 256, "a box has 1 to 256 elements along each dimension");
  demand(!r.ragged || (r.lengths[1] < 1 << 30 && r.lengths[2] == 1),
         "a ragged tensor is a matrix of less than 2^30 rows");
  demand(r.row_bytes() == 128 || r.row_bytes() == 64 || (r.box[1] == 1 && r.row_bytes() % 16 == 0),
         "a row of a box must be 64 or 128 bytes long, or the only one and a multiple of 16 bytes long");
  static_assert(sizeof(r) <= sizeof(result.opaque));
  result = {};
  __builtin_memcpy(result.opaque, &r, sizeof(r));
}

}  // namespace tilewright::exec::inline host
