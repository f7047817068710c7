// SPDX-License-Identifier: MIT
// Bulk copies of boxes between global memory and LDS: the address of each byte; stores and additions, which read LDS,
// and write global memory, as late as they may.
#pragma once

#include <tilewright/machine/emulator/cluster.hpp>
#include <tilewright/machine/emulator/hopper/services.hpp>
#include <tilewright/machine/emulator/lds/lds_checker.hpp>
#include <tilewright/machine/emulator/threads/refuse.hpp>

#include <algorithm>
#include <atomic>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace tilewright::emulator {

/// PTX ISA, "Swizzling modes": for patterns of 128, 64 or 32 bytes, bits 4 to 6 (4 and 5; 4) of an address in LDS are
/// changed by bits 7 to 9 (7 and 8; 7); 0: none.
constexpr index_t swizzled_in_lds(index_t address, index_t pattern_bytes) {
  return address ^ (address >> 3 & (max(pattern_bytes, 16) - 16));
}

/// The request that a tensor map of the CPU emulator holds.
inline tensor_map_request request_of(const tensor_map& map) {
  tensor_map_request request;
  static_assert(sizeof(request) <= sizeof(map.opaque));
  __builtin_memcpy(&request, map.opaque, sizeof(request));
  return request;
}

/// Bytes of a TMA box with its padding.
inline index_t bytes_in_lds(const tensor_map_request& r) { return r.row_bytes() * r.box[1]; }

/// Throws if the box's place in LDS is not allowed.
inline void check_box(const thread_context& self, const tma_box& box, call_site where) {
  const tensor_map_request request = request_of(*box.map);
  const index_t bytes = bytes_in_lds(request);
  if (box.ragged != request.ragged)
    refuse(self, "copies a box", where,
           box.ragged ? " by a map that was not requested as ragged" : " by a map that was requested as ragged");
  if (box.lds % 128 != 0 || box.lds < 0 || box.lds + bytes > self.lds_bytes)
    refuse(self, "copies a box of " + std::to_string(bytes) + " bytes", where,
           " at LDS byte " + std::to_string(box.lds) +
               (box.lds % 128 != 0
                    ? ", which is not a multiple of 128"
                    : ", outside of the " + std::to_string(self.lds_bytes) + " bytes that it has allocated"));
}

/// move(place in LDS, place in global memory, bytes, whether it is inside of the tensor) for each element of the box;
/// neighbours together where both are contiguous. If a row of the tensor ends within 16 bytes of the box, the rest of
/// these 16 has a place in global memory, too; everything else outside has none.
template <class Move>
void for_each_piece(const tma_box& box, Move move) {
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
inline void box_to_lds(const tma_box& box, char* lds) {
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
inline void box_from_lds(const tma_box& box, const char* bytes_in_lds) {
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

class bulk_stores {
 public:
  /// TMA stores of these threads.
  explicit bulk_stores(cluster& threads) : threads_(threads) {}

  /// Forgets the stores of the cluster before.
  void begin_cluster() { of_thread_.assign(threads_.threads().size(), {}); }

  /// write(what was in LDS) once the thread has waited for it. Returns its number for checks of global memory.
  std::uint32_t start(const thread_context& self, index_t lds, index_t bytes, std::function<void(const char*)> write,
                      call_site where) {
    lds_checker::bulk_reader reader{};
    if (lds_checker* const checker = threads_.checker(self.rank)) {
      reader = {checker->num_warpgroups(), std::uint16_t(++num_stores_)};
      checker->begin_bulk_read(self, reader, lds, bytes, "copies from", self.site_of(where));
    }
    const std::uint32_t number = self.memory->begin_bulk_store(self);
    mine(self).open.push_back({lds, bytes, reader, std::move(write), {}, number});
    return number;
  }
  /// Ends a group.
  void commit(const thread_context& self) {
    mine(self).groups.push_back(std::move(mine(self).open));
    mine(self).open.clear();
  }
  /// All groups but the last `pending` ones have read LDS.
  void wait_until_read(const thread_context& self, index_t pending) {
    thread_stores& stores = mine(self);
    for (; stores.read + std::size_t(pending) < stores.groups.size(); ++stores.read) {
      for (store& s : stores.groups[stores.read]) {
        s.read.assign(self.lds + s.lds, std::size_t(s.bytes));
        if (lds_checker* const checker = threads_.checker(self.rank))
          checker->end_bulk_read(s.reader, self.number, s.lds, s.bytes);
      }
    }
  }
  /// They have written global memory.
  void wait_until_written(const thread_context& self, index_t pending) {
    for (const std::uint32_t number : write(self, pending)) self.memory->end_bulk_store(number);
  }
  /// The thread reaches the end of the kernel.
  void leave(const thread_context& self) {
    if (mine(self).read < mine(self).groups.size() || !mine(self).open.empty())
      refuse(self,
             "leaves the kernel before its bulk stores have read their boxes: tma_store_wait_read<0>() is "
             "missing");
    (void)write(self, 0);  // at some time: no access of this launch happens after
  }

 private:
  struct store {
    index_t lds, bytes;
    lds_checker::bulk_reader reader;
    std::function<void(const char*)> write;
    std::string read;  // what was in LDS
    std::uint32_t number;
  };
  struct thread_stores {
    std::vector<store> open{};
    std::vector<std::vector<store>> groups{};
    std::size_t read = 0;  // groups, the first ones, that have read LDS
  };

  /// All groups but the last `pending` ones write. Returns the numbers of their stores.
  std::vector<std::uint32_t> write(const thread_context& self, index_t pending) {
    wait_until_read(self, pending);
    thread_stores& stores = mine(self);
    const std::size_t written = stores.groups.size() - std::min(stores.groups.size(), std::size_t(pending));
    std::vector<std::uint32_t> numbers;
    for (std::size_t group = 0; group < written; ++group) {
      for (const store& s : stores.groups[group]) {
        s.write(s.read.data());
        numbers.push_back(s.number);
      }
    }
    stores.groups.erase(stores.groups.begin(), stores.groups.begin() + std::ptrdiff_t(written));
    stores.read -= written;
    return numbers;
  }

  thread_stores& mine(const thread_context& self) { return of_thread_[std::size_t(self.number)]; }

  cluster& threads_;
  std::vector<thread_stores> of_thread_;
  unsigned num_stores_ = 0;
};

}  // namespace tilewright::emulator
