// SPDX-License-Identifier: MIT
// Bulk copies of boxes between global memory and LDS: the address of each byte, and what happens outside of the tensor.
#pragma once

#include <tilewright/emulator/hopper/services.hpp>
#include <tilewright/emulator/threads/refuse.hpp>

#include <atomic>

namespace tilewright::emulator {

/// PTX ISA, "Swizzling modes": for patterns of 128, 64 or 32 bytes, bits 4 to 6 (4 and 5; 4) of an address in LDS are
/// changed by bits 7 to 9 (7 and 8; 7); 0: none.
constexpr index_t swizzled_in_lds(index_t address, index_t pattern_bytes) {
  return address ^ (address >> 3 & (max(pattern_bytes, 16) - 16));
}

/// The request that a tensor map of the CPU backend holds.
inline tensor_map_request request_of(const tensor_map& map) {
  tensor_map_request request;
  static_assert(sizeof(request) <= sizeof(map.opaque));
  __builtin_memcpy(&request, map.opaque, sizeof(request));
  return request;
}

inline index_t bytes_in_lds(const tensor_map_request& r) { return r.row_bytes() * r.box[1]; }

/// Throws if the box's place in LDS is not allowed.
inline void check_box(const thread_context& self, const bulk_box& box, call_site where) {
  const tensor_map_request request = request_of(*box.map);
  const index_t bytes = bytes_in_lds(request);
  if (box.ragged != request.ragged)
    refuse(self, "copies a box" + in_parentheses(self, where) + " by a map that was " + (box.ragged ? "not " : "") +
                     "requested as ragged");
  if (box.lds % 128 != 0 || box.lds < 0 || box.lds + bytes > self.lds_bytes) {
    refuse(self, "copies a box of " + std::to_string(bytes) + " bytes" + in_parentheses(self, where) + " at LDS byte " +
                     std::to_string(box.lds) +
                     (box.lds % 128 != 0
                          ? ", which is not a multiple of 128"
                          : ", outside of the " + std::to_string(self.lds_bytes) + " bytes that it has allocated"));
  }
}

/// move(place in LDS, place in global memory, bytes, whether it is inside of the tensor) for each element of the box;
/// neighbours together where both are contiguous. If a row of the tensor ends within 16 bytes of the box, the rest of
/// these 16 has a place in global memory, too; everything else outside has none.
template <class Move>
void for_each_piece(const bulk_box& box, Move move) {
  const tensor_map_request r = request_of(*box.map);
  const index_t row_bytes = r.row_bytes(), size = r.element_bytes(), piece = 16 / size;
  const index_t plane = r.ragged ? 0 : box.at[2];
  bool plane_inside = plane >= 0 && plane < r.lengths[2];
  for (index_t i = 3; i < 5; ++i)
    plane_inside = plane_inside && box.at[i] >= 0 && box.at[i] < (r.rank() == 3 ? 1 : r.lengths[i]);
  const long_index_t rows = r.ragged ? min(r.lengths[1], long_index_t(box.at[2])) : r.lengths[1];
  for (index_t row = 0; row < r.box[1]; ++row) {
    const long_index_t y = long_index_t(box.at[1]) + row;
    using address = __UINTPTR_TYPE__;
    const auto offset = [&](long_index_t at, index_t dim) { return address(at) * address(r.stride_bytes[dim - 1]); };
    char* const begin = reinterpret_cast<char*>(reinterpret_cast<address>(r.data) + offset(y, 1) + offset(plane, 2) +
                                                offset(box.at[3], 3) + offset(box.at[4], 4));
    const bool row_inside = plane_inside && y >= 0 && y < rows;
    for (index_t i = 0; i < r.box[0]; i += piece) {
      const long_index_t x = long_index_t(box.at[0]) + i;
      const index_t lds = swizzled_in_lds(box.lds + row * row_bytes + i * size, r.swizzled_bytes());
      if (row_inside && x >= 0 && x + piece <= r.lengths[0]) {
        move(lds, begin + x * size, 16, true);
        continue;
      }
      const bool begins_inside = row_inside && x >= 0 && x < r.lengths[0];
      for (index_t e = 0; e < piece; ++e) {
        const bool inside = row_inside && x + e >= 0 && x + e < r.lengths[0];
        move(lds + e * size, inside || begins_inside ? begin + (x + e) * size : nullptr, size, inside);
      }
    }
  }
}

/// Elements outside of the tensor become zero.
inline void box_to_lds(const bulk_box& box, char* lds) {
  for_each_piece(box, [&](index_t to, const char* from, index_t bytes, bool inside) {
    if (inside) {
      __builtin_memcpy(lds + to, from, std::size_t(bytes));
    } else {
      __builtin_memset(lds + to, 0, std::size_t(bytes));
    }
  });
}

/// Elements outside of the tensor are not written, except that rows are written in steps of 16 bytes: where a row ends
/// within a step, the rest of the step becomes zero. `bytes`: those of the box in LDS. (Measured on an H100)
inline void box_from_lds(const bulk_box& box, const char* bytes_in_lds) {
  for_each_piece(box, [&](index_t from, char* to, index_t bytes, bool inside) {
    if (inside) {
      __builtin_memcpy(to, bytes_in_lds + (from - box.lds), std::size_t(bytes));
    } else if (to != nullptr) {
      __builtin_memset(to, 0, std::size_t(bytes));
    }
  });
}

/// Each addition is atomic: several of the CPU's threads run blocks.
inline void add_floats(float* to, const char* from, index_t bytes) {
  for (index_t i = 0; i < bytes / 4; ++i) {
    float x;
    __builtin_memcpy(&x, from + 4 * i, sizeof(x));
    std::atomic_ref<float>(to[i]).fetch_add(x, std::memory_order_relaxed);
  }
}

}  // namespace tilewright::emulator
