// SPDX-License-Identifier: MIT
// Replaces operator new and delete of a program, so that its launches know where allocations end.
#pragma once

#include <tilewright/core/base/config.hpp>
#include <tilewright/machine/emulator/global/allocation_bounds.hpp>
#include <tilewright/machine/emulator/threads/sanitizer.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include <sys/mman.h>

#if !TILEWRIGHT_ADDRESS_SANITIZER  // which replaces them, too, and finds these accesses itself
namespace tilewright::emulator {

/// Memory of operator new, in one reserved range of addresses. For each 16 bytes there it keeps how many of them, from
/// the first on, are allocated. So each address of the range either is in a live allocation or must not be accessed:
/// there are no false alarms, and nothing is known about other memory (malloc, stacks, static objects).
class allocation_arena {
 public:
  static constexpr std::size_t unit = 16;                           ///< bytes of memory for each count
  static constexpr std::size_t arena_bytes = std::size_t{8} << 30;  ///< of addresses, not of memory

  /// nullptr: there is no memory, or the range is used up.
  void* allocate(std::size_t bytes, std::size_t alignment) {
    const guard lock(lock_);
    if (begin_ == nullptr && !reserve()) return nullptr;
    const std::size_t shift = alignment > unit ? alignment : 0;
    const int size = size_class(sizeof(header) + shift + bytes);
    char* block = free_[size];
    if (block != nullptr) {
      std::memcpy(&free_[size], block, sizeof(char*));
    } else if (bytes_of(size) <= std::size_t(begin_ + arena_bytes - end_)) {
      block = std::exchange(end_, end_ + bytes_of(size));
    } else {
      return nullptr;
    }
    const auto first = reinterpret_cast<std::uintptr_t>(block) + sizeof(header);
    char* const data = block + sizeof(header) + (shift == 0 ? 0 : (alignment - first % alignment) % alignment);
    const header h{bytes, std::uint32_t(size), std::uint32_t(data - block)};
    std::memcpy(data - sizeof(h), &h, sizeof(h));
    unsigned char* const counts = count_of(data);
    std::memset(counts, unit, bytes / unit);
    if (bytes % unit != 0) counts[bytes / unit] = static_cast<unsigned char>(bytes % unit);
    return data;
  }
  /// False: the memory is not of this arena.
  bool release(void* p) {
    char* const data = static_cast<char*>(p);
    const guard lock(lock_);
    if (!contains(data)) return false;
    const header h = header_of(data);
    std::memset(count_of(data), 0, (h.bytes + unit - 1) / unit);
    char* const block = data - h.offset;
    if (bytes_of(int(h.size)) >= std::size_t{1} << 20) madvise(block, bytes_of(int(h.size)), MADV_DONTNEED);
    std::memcpy(block, &free_[h.size], sizeof(char*));
    free_[h.size] = block;
    return true;
  }

  /// As known_allocations.
  std::string fault(const char* data, long_index_t bytes) {
    std::size_t allocated = 0;
    std::ptrdiff_t after = 0;
    {
      const guard lock(lock_);  // strings would allocate: only after it
      const char* const bad = contains(data) ? first_unallocated(data, data + bytes) : nullptr;
      if (bad == nullptr) return "";
      if (const char* const nearest = allocation_before(bad); nearest != nullptr) {
        allocated = header_of(nearest).bytes;
        after = bad - nearest - std::ptrdiff_t(allocated);
      }
    }
    if (allocated == 0) return " in memory that is not allocated, or no longer";
    return ' ' + std::to_string(after) + " bytes after the end of an allocation of " + std::to_string(allocated) +
           " bytes";
  }

 private:
  struct header {
    std::size_t bytes;
    std::uint32_t size, offset;  // size: its class; offset: of the allocation in its block
  };
  static_assert(sizeof(header) == unit, "no count of a header is other than 0");
  struct guard {
    std::atomic_flag& lock;
    explicit guard(std::atomic_flag& l) : lock(l) {
      while (lock.test_and_set(std::memory_order_acquire)) {
      }
    }
    ~guard() { lock.clear(std::memory_order_release); }
  };

  /// Four sizes for each power of two, from 64 on.
  static int size_class(std::size_t bytes) {
    const std::size_t b = std::max<std::size_t>(bytes, 64) - 1;
    const int power = int(std::bit_width(b)) - 1;
    return 4 * power + int(b >> (power - 2) & 3) + 1;
  }
  static std::size_t bytes_of(int size) {
    const int power = size / 4;
    return (std::size_t{4} + std::size_t(size % 4)) << (power - 2);
  }

  bool reserve() {
    const auto map = [](std::size_t bytes) {
      return mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    };
    if (is_unavailable_) return false;
    void* const memory = map(arena_bytes);
    void* const counts = memory == MAP_FAILED ? MAP_FAILED : map(arena_bytes / unit);
    is_unavailable_ = counts == MAP_FAILED;
    if (is_unavailable_) {
      if (memory != MAP_FAILED) munmap(memory, arena_bytes);
      return false;
    }
    begin_ = end_ = static_cast<char*>(memory);
    counts_ = static_cast<unsigned char*>(counts);
    return true;
  }
  bool contains(const char* p) const { return begin_ != nullptr && p >= begin_ && p < begin_ + arena_bytes; }
  unsigned char* count_of(const char* p) const { return counts_ + std::size_t(p - begin_) / unit; }

  const char* first_unallocated(const char* data, const char* end) const {
    for (const char* at = data; at < end; at += unit - std::size_t(at - begin_) % unit) {
      const std::size_t first = std::size_t(at - begin_) % unit, count = *count_of(at);
      if (count < std::min(unit, first + std::size_t(end - at))) return at - first + std::max(first, count);
    }
    return nullptr;
  }
  /// The nearest one that ends before `bad`, within 16 MiB; nullptr: there is none.
  const char* allocation_before(const char* bad) const {
    const unsigned char* at = count_of(bad);
    const unsigned char* const nearest = at - std::min<std::ptrdiff_t>(at - counts_, 1 << 20);
    while (at > nearest && *at == 0) --at;
    if (*at == 0) return nullptr;
    while (at[-1] != 0) --at;
    return begin_ + (at - counts_) * std::ptrdiff_t(unit);
  }
  static header header_of(const char* data) {
    header h;
    std::memcpy(&h, data - sizeof(h), sizeof(h));
    return h;
  }

  std::atomic_flag lock_;
  bool is_unavailable_ = false;
  char *begin_ = nullptr, *end_ = nullptr;  // end_: of what has been used
  unsigned char* counts_ = nullptr;
  char* free_[256] = {};  // blocks of each class
};

/// Of this program.
inline constinit allocation_arena program_allocations;

/// What operator new does.
inline void* allocate_known(std::size_t bytes, std::size_t alignment = allocation_arena::unit) {
  known_allocations = [](const char* data, long_index_t size) { return program_allocations.fault(data, size); };
  void* p = program_allocations.allocate(bytes, alignment);
  if (p == nullptr && posix_memalign(&p, std::max(alignment, sizeof(void*)), std::max<std::size_t>(bytes, 1)) != 0)
    throw std::bad_alloc();
  return p;
}
/// What operator delete does.
inline void release_known(void* p) noexcept {
  if (p != nullptr && !program_allocations.release(p)) std::free(p);
}

}  // namespace tilewright::emulator

// Weak: several files of a program may include this, and a program may have its own.
/// As the standard says. Of the arena; where that has no room, of posix_memalign.
[[gnu::weak]] void* operator new(std::size_t bytes) { return tilewright::emulator::allocate_known(bytes); }
[[gnu::weak]] void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return tilewright::emulator::allocate_known(bytes, std::size_t(alignment));
}
/// As the standard says.
[[gnu::weak]] void operator delete(void* p) noexcept { tilewright::emulator::release_known(p); }
[[gnu::weak]] void operator delete(void* p, std::size_t) noexcept { tilewright::emulator::release_known(p); }
[[gnu::weak]] void operator delete(void* p, std::align_val_t) noexcept { tilewright::emulator::release_known(p); }
[[gnu::weak]] void operator delete(void* p, std::size_t, std::align_val_t) noexcept {
  tilewright::emulator::release_known(p);
}
#endif
