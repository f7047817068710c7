// SPDX-License-Identifier: MIT
// A thread's latest LDS accesses, and which of them it has waited for.
#pragma once

#include <tilewright/util/array.hpp>
#include <tilewright/util/math.hpp>

#include <cstdint>

namespace tilewright::emulator {

/// What an access does to bytes of LDS. An asynchronous copy writes them at some time before the wait for it; threads
/// that arrive at a barrier or wait there update its bytes.
enum class lds_touch : signed char { read, write, atomic_update, barrier_update, begin_copy, end_copy };

struct recent_access {
  std::uint32_t address, time;
  std::uint16_t place;
  std::uint8_t bytes;
  lds_touch how;
};

/// LDS accesses of a thread complete in order, and at most `capacity` of them are in flight.
class recent_accesses {
 public:
  static constexpr index_t capacity = 16;

  void add(const recent_access& access) { accesses_[index_t(count_++ % capacity)] = access; }
  void wait(index_t left) { waited_ = max(waited_, count_ - left); }
  void clear() { count_ = waited_ = 0; }

  /// use(access) for each one that the thread has not waited for, oldest first.
  template <class Use>
  void for_each_in_flight(Use use) {
    for (long_index_t i = max(waited_, count_ - capacity); i < count_; ++i) use(accesses_[index_t(i % capacity)]);
  }

 private:
  array<recent_access, capacity> accesses_;
  long_index_t count_ = 0, waited_ = 0;
};

}  // namespace tilewright::emulator
