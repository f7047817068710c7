// SPDX-License-Identifier: MIT
// Shadow of global memory: who touched each byte last.
#pragma once

#include <tilewright/emulator/global/memory_range.hpp>
#include <tilewright/emulator/lds/call_places.hpp>

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace tilewright::emulator {

/// A copy reads.
enum class global_touch : signed char { read, copy, write, atomic_update };

inline const char* name(global_touch how) {
  constexpr const char* names[] = {"reads", "copies", "writes", "updates"};
  return names[static_cast<int>(how)];
}

/// An access by a thread of a cluster; cluster 0: none. Times are those of the cluster's access_order.
struct access_record {
  std::uint32_t cluster = 0, time = 0;
  std::uint16_t thread = 0;  // of the cluster
  std::uint16_t place = 0;
};

/// Memory is divided into pages, which have an entry for each 4 bytes until the first access of fewer or unaligned
/// bytes, then for each byte.
class global_history {
 public:
  /// The last write, and of the later reads and updates the newest and one that it does not supersede.
  struct entry {
    access_record write, read, other_read, update, other_update;
  };

  /// use(entry, its place) for all bytes.
  template <class Use>
  void for_each(const char* place, long_index_t bytes, Use use) {
    auto address = reinterpret_cast<std::uintptr_t>(place);
    for (const std::uintptr_t end = address + std::uintptr_t(bytes); address < end;) {
      page& p = pages_[address / page_bytes];
      if (p.entries.empty()) p.entries.resize(page_bytes / 4);
      if (p.shift != 0 && (address % 4 != 0 || end - address < 4)) look_at_bytes(p);
      use(p.entries[address % page_bytes >> p.shift], reinterpret_cast<const char*>(address));
      address += std::uintptr_t{1} << p.shift;
    }
  }

  /// The access that races with a new one; nullptr if `ordered(earlier access)` holds for all that conflict with it.
  template <class Ordered>
  static const access_record* find_race(const entry& e, global_touch how, Ordered ordered) {
    const auto races = [&](const access_record& r) { return r.cluster != 0 && !ordered(r); };
    if (races(e.write)) return &e.write;
    if (how != global_touch::atomic_update) {
      if (races(e.update)) return &e.update;
      if (races(e.other_update)) return &e.other_update;
    }
    if (how > global_touch::copy) {
      if (races(e.read)) return &e.read;
      if (races(e.other_read)) return &e.other_read;
    }
    return nullptr;
  }

  static void note(entry& e, global_touch how, const access_record& mine) {
    if (how == global_touch::write) e = {mine, {}, {}, {}, {}};
    if (how <= global_touch::copy) note_two(e.read, e.other_read, mine);
    if (how == global_touch::atomic_update) note_two(e.update, e.other_update, mine);
  }

 private:
  static constexpr std::uintptr_t page_bytes = 1024;
  struct page {
    std::vector<entry> entries;
    int shift = 2;
  };

  static void look_at_bytes(page& p) {
    std::vector<entry> bytes;
    bytes.reserve(page_bytes);
    for (const entry& e : p.entries) bytes.insert(bytes.end(), 4, e);
    p.entries.swap(bytes);
    p.shift = 0;
  }

  /// An access by another cluster stays known: barriers of this one do not order it.
  static void note_two(access_record& newest, access_record& other, const access_record& mine) {
    const bool same_thread = newest.cluster == mine.cluster && newest.thread == mine.thread;
    if (newest.cluster != mine.cluster || (!same_thread && (other.cluster == 0 || other.cluster == mine.cluster)))
      other = newest;
    newest = mine;
  }

  std::unordered_map<std::uintptr_t, page> pages_;
};

}  // namespace tilewright::emulator
