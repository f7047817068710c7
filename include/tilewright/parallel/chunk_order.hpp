// SPDX-License-Identifier: MIT
// Ranks of a product, each of which has a chunk of its rows; units of work on a rank's rows; waits for other ranks,
// which end with an error where one of them is late.
#pragma once

#include <tilewright/exec/hopper.hpp>
#include <tilewright/gemm/work_schedule.hpp>
#include <tilewright/util/math.hpp>

namespace tilewright::parallel {

/// What a kernel of several ranks needs to wait for others.
struct peer_wait {
  unsigned* status = nullptr;  // becomes 1 where a wait has taken too long; in memory that the host can read
  index_t timeout_ms = 10000;  // of the first wait that fails; those after it fail within a millisecond
};

#if TILEWRIGHT_HOPPER_PASS
namespace detail {

/// One thread waits until a flag in its GPU's memory has reached n. What it then reads may be wrong if *status is set.
/// The status is read late: it is in the host's memory, which answers the blocks of a GPU one after another.
TILEWRIGHT_HD void wait_for_peer(const unsigned* flag, unsigned n, const peer_wait& wait) {
  if (exec::wait_for_flag(flag, n, 1)) return;
  if (*static_cast<const volatile unsigned*>(wait.status) != 0) return;
  if (!exec::wait_for_flag(flag, n, wait.timeout_ms)) exec::set_flag(wait.status, 1);
}

}  // namespace detail
#endif

/// GPUs that read and write each other's memory in one kernel.
inline constexpr index_t max_peers = 8;

/// One of the ranks of a product.
struct rank_of {
  index_t rank = 0, ranks = 1;

  /// The rank that comes `steps` after this one, and the one that many before it, in a ring.
  TILEWRIGHT_HD constexpr index_t after(index_t steps) const { return modulo(rank + steps, ranks); }
  TILEWRIGHT_HD constexpr index_t before(index_t steps) const { return modulo(rank + ranks - steps, ranks); }
};

/// The part of a product that one launch computes: the rows of `count` ranks in the order in which the kernel takes
/// them, from number `first` on. 0: all.
struct rank_steps {
  index_t first = 0, count = 0;
};

namespace detail {

using namespace tilewright::detail;

/// A unit of work on the rows of rank tile.batch. All ranks' rows are multiplied by the same B.
struct chunk_unit : work_unit {
  index_t a_at;  // z of its boxes of A

  TILEWRIGHT_HD constexpr index_t a_z() const { return a_at; }
  TILEWRIGHT_HD constexpr index_t b_z() const { return 0; }
};

}  // namespace detail
}  // namespace tilewright::parallel
