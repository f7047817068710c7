// SPDX-License-Identifier: MIT
// Shadow of global memory: who touched each byte last.
#pragma once

#include <tilewright/machine/emulator/fault.hpp>

#include <bit>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace tilewright::emulator {

/// A copy reads. A write of the value that is there already does not race with the write that put it there. Additions
/// of floats are atomic updates whose order changes the sum's last bits.
enum class global_touch : signed char { read, copy, write, same_write, atomic_update, float_addition };

/// The verb of messages: "reads".
inline const char* name(global_touch how) {
  constexpr const char* names[] = {"reads", "copies", "writes", "writes", "updates", "adds to"};
  return names[static_cast<int>(how)];
}

/// An access by an agent of a cluster; cluster 0: none. Times are those of the cluster's access_order, or of_store and
/// the number of a TMA store, which writes at some time before its thread has waited for it.
struct access_record {
  static constexpr std::uint32_t of_store = 0x80000000;  ///< in a time: the rest is the number of a TMA store

  /// `cluster`: from 1; 0: there is no access. `time`: of the cluster's access_order, or of_store and a number.
  std::uint32_t cluster = 0, time = 0;
  std::uint16_t thread = 0;  ///< of the cluster; after its threads come the agents of barriers in LDS
  std::uint16_t site = 0;    ///< index of the source line

  /// Whether it is by a TMA store.
  bool is_of_store() const { return (time & of_store) != 0; }
};

/// How an earlier access relates to a new one that conflicts with it.
enum class access_relation : signed char {
  ordered,
  racing,
  in_flight,  // a TMA store that its thread has not waited for
  unfenced,   // ordered, but TMA sees it only after a fence of the asynchronous proxy
};

/// Memory is divided into pages, and a page into granules of 16 bytes, or of fewer once an access begins or ends inside
/// of one. Of each granule it keeps the last write, and of the later reads and updates the newest, one that it does not
/// supersede, and up to max_further of the same cluster that did not happen before a later one.
class global_history {
 public:
  static constexpr std::uintptr_t page_bytes = 1024;  ///< history is kept by pages of this size
  static constexpr std::size_t max_further = 8;       ///< of a granule and a kind of access

  struct race {
    access_relation relation = access_relation::ordered;  ///< ordered: there is none
    const char* did = nullptr;                            ///< the earlier access: " wrote"
    access_record before = {};                            ///< the earlier access
    std::uintptr_t address = 0;                           ///< first byte that both touch
  };

  /// Notes an access to bytes of one page, or returns an earlier one that it conflicts with and that does not happen
  /// before it: `relation(earlier access, whether it changed the bytes)` is not `ordered`.
  /// orders_additions: additions of floats conflict with each other, too.
  template <class Relation>
  race access(std::uintptr_t address, std::uintptr_t end, global_touch how, const access_record& mine,
              bool orders_additions, Relation relation) {
    page& p = page_of(address);
    if (const int shift = std::countr_zero(address | end); shift < p.shift) p.refine(shift);
    for (; address < end; address += std::uintptr_t{1} << p.shift) {
      const std::size_t i = address % page_bytes >> p.shift;
      for (const kind before : {writes, updates, reads}) {
        const bool conflicts_with_its_kind =
            how == global_touch::write || (orders_additions && how == global_touch::float_addition);
        // A TMA store may write after a write of what is there now.
        const bool of_stores_only = before == kind_of(how) && !conflicts_with_its_kind;
        if (of_stores_only && how != global_touch::same_write) continue;
        const auto conflict_with = [&](const access_record& r) -> race {
          if (r.cluster == 0 || (of_stores_only && !r.is_of_store())) return {};
          return {relation(r, before != reads), did[before], r, address};
        };
        for (const records* list : {&p.newest[before], &p.other[before]}) {
          if (list->empty()) continue;
          if (const race found = conflict_with((*list)[i]); found.relation != access_relation::ordered) return found;
        }
        for (const access_record& r : p.further_of(before, i))
          if (const race found = conflict_with(r); found.relation != access_relation::ordered) return found;
      }
      p.note(i, kind_of(how), mine,
             [&](const access_record& r) { return relation(r, kind_of(how) != reads) != access_relation::ordered; });
    }
    return {};
  }

  /// An access to bytes of one page that conflicts with the given one, whatever orders them.
  race find_conflict(std::uintptr_t address, std::uintptr_t end, global_touch how) const {
    const auto found = pages_.find(address / page_bytes);
    if (found == pages_.end()) return {};
    const page& p = found->second;
    for (; address < end; address = (address | ((std::uintptr_t{1} << p.shift) - 1)) + 1) {
      const std::size_t i = address % page_bytes >> p.shift;
      for (const kind before : {writes, updates, reads}) {
        if (before == reads && kind_of(how) == reads) continue;
        if (!p.newest[before].empty() && p.newest[before][i].cluster != 0)
          return {access_relation::racing, did[before], p.newest[before][i], address};
      }
    }
    return {};
  }

 private:
  enum kind : signed char { writes, reads, updates };
  static constexpr const char* did[] = {" wrote", " read", " updated"};
  static kind kind_of(global_touch how) {
    return how <= global_touch::copy ? reads : how >= global_touch::atomic_update ? updates : writes;
  }

  using records = std::vector<access_record>;  // by granule; empty until there is one

  struct page {
    int shift = 4;
    records newest[3], other[3];                          // by kind; of writes only the newest
    std::unordered_map<std::size_t, records> further[3];  // by kind, then by granule; none of writes

    const records& further_of(kind how, std::size_t i) const {
      static const records none;
      if (further[how].empty()) return none;
      const auto found = further[how].find(i);
      return found == further[how].end() ? none : found->second;
    }

    void refine(int to) {
      for (records* lists : {newest, other}) {
        for (records* list = lists; list != lists + 3; ++list) {
          records finer;
          for (const access_record& r : *list) finer.insert(finer.end(), std::size_t{1} << (shift - to), r);
          list->swap(finer);
        }
      }
      for (auto& list : further) {
        std::unordered_map<std::size_t, records> finer;
        for (const auto& [i, of_granule] : list)
          for (std::size_t part = 0; part < std::size_t{1} << (shift - to); ++part)
            finer[(i << (shift - to)) + part] = of_granule;
        list.swap(finer);
      }
      shift = to;
    }
    /// is_open(an earlier access): it does not happen before this one.
    template <class IsOpen>
    void note(std::size_t i, kind how, const access_record& mine, IsOpen is_open) {
      if (how == writes) {
        for (const kind later : {reads, updates}) {
          if (!newest[later].empty()) newest[later][i] = {};
          if (!other[later].empty()) other[later][i] = {};
          if (!further[later].empty()) further[later].erase(i);
        }
      } else if (!newest[how].empty()) {
        const access_record before = newest[how][i], known = other[how].empty() ? access_record{} : other[how][i];
        const bool same_thread = before.cluster == mine.cluster && before.thread == mine.thread &&
                                 before.is_of_store() == mine.is_of_store();
        // An access by another cluster stays known: barriers of this one do not order it.
        const bool replaces =
            before.cluster != mine.cluster || (!same_thread && (known.cluster == 0 || known.cluster == mine.cluster));
        const access_record lost = replaces ? known : before;
        if (replaces) set(other[how], i, before);
        if (lost.cluster == mine.cluster && !(same_thread && !replaces) && is_open(lost))
          keep(further[how][i], lost, is_open);
      }
      set(newest[how], i, mine);
    }
    /// Where there is no room, instead of one that happens before the new access.
    template <class IsOpen>
    static void keep(records& list, const access_record& r, IsOpen is_open) {
      if (list.size() < max_further) return list.push_back(r);
      if (!is_open(list.front())) list.front() = r;
    }
    void set(records& list, std::size_t i, const access_record& r) {
      if (list.empty()) list.resize(page_bytes >> shift);
      list[i] = r;
    }
  };

  page& page_of(std::uintptr_t address) {
    const std::uintptr_t number = address / page_bytes;
    if (last_ == nullptr || number != number_of_last_) {
      last_ = &pages_[number];
      number_of_last_ = number;
    }
    return *last_;
  }

  std::unordered_map<std::uintptr_t, page> pages_;
  page* last_ = nullptr;  // the one that was asked for last
  std::uintptr_t number_of_last_ = 0;
};

}  // namespace tilewright::emulator
