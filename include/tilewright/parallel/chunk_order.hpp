// SPDX-License-Identifier: MIT
// Ranks of a product, each of which has a chunk of its rows, and units of work on a rank's rows.
#pragma once

#include <tilewright/gemm/work_schedule.hpp>
#include <tilewright/util/math.hpp>

namespace tilewright::parallel {

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
