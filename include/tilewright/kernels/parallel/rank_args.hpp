// SPDX-License-Identifier: MIT
// Ranks of a product, each of which has a chunk of its rows; arguments of the kernels that multiply rows of several
// ranks, and their waits for others, which end with an error where one of them is late.
#pragma once

#include <tilewright/block/schedule/stream_k_schedule.hpp>
#include <tilewright/core/base/math.hpp>
#include <tilewright/kernels/gemm/gemm_args.hpp>
#include <tilewright/machine/exec/hopper.hpp>

namespace tilewright::parallel {

/// What a kernel of several ranks needs to wait for others.
struct peer_wait {
  unsigned* status = nullptr;  ///< becomes 1 where a wait has taken too long; in memory that the host can read
  index_t timeout_ms = 10000;  ///< of the first wait that fails; those after it fail within a millisecond
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
  index_t rank = 0, ranks = 1;  ///< this rank, from 0, and how many there are

  /// The rank that comes `steps` after this one, and the one that many before it, in a ring.
  TILEWRIGHT_HD constexpr index_t after(index_t steps) const { return modulo(rank + steps, ranks); }
  /// The rank that comes `steps` before this one; 0 <= steps <= ranks.
  TILEWRIGHT_HD constexpr index_t before(index_t steps) const { return modulo(rank + ranks - steps, ranks); }
};

/// The part of a product that one launch computes: the rows of `count` ranks in the order in which the kernel takes
/// them, from number `first` on. 0: all.
struct rank_steps {
  index_t first = 0, count = 0;  ///< in numbers of ranks
};

namespace detail {

using namespace tilewright::detail;

}  // namespace detail

/// Arguments of all_gather_kernel. C = A B, where A (m x k) has m / ranks rows of each rank: `a` are this rank's, with
/// the stride lda; those of rank r are at `gathered` from row r m / ranks on, with the stride ld_gathered.
struct all_gather_args : gemm_args {
  rank_of self;                    ///< this rank
  const void* gathered = nullptr;  ///< A of all ranks, in this GPU's memory
  index_t ld_gathered = 0;         ///< elements from row to row of it
  /// If not null, rows come while the kernel runs: arrived[r gather_groups(m / ranks) + i] counts what has come of
  /// group i of rank r's rows, in all calls; this is call number `epoch`, from 1 on. The kernel sends own rows to
  /// `gathered` and counts them at `arrived` of the other ranks: gathered_of[r], arrived_of[r], from the same
  /// addresses on.
  const unsigned* arrived = nullptr;
  void* gathered_of[max_peers] = {};     ///< by rank: `gathered` there
  unsigned* arrived_of[max_peers] = {};  ///< by rank: `arrived` there
  unsigned epoch = 0;                    ///< flags of this launch have this value: from 1, one more at each launch
  peer_wait wait;                        ///< waits for other ranks
};

/// Rows of a chunk are sent in groups, which are counted, by waves, each of which sends some rows and bytes at once.
struct gather_slices {
  /// Rows that one flag counts; bytes along k of a slice.
  static constexpr index_t group_rows = 128, bytes = 512;
  /// Rows of a slice: fewer where ranks have few.
  TILEWRIGHT_HD static constexpr index_t rows(index_t rows_of_rank) { return rows_of_rank < 2048 ? 32 : 64; }
};
/// Flags for this many rows.
TILEWRIGHT_HD constexpr index_t gather_groups(index_t rows) { return ceil_div(rows, gather_slices::group_rows); }

/// Arguments of reduce_scatter_kernel. C = sum over ranks of A B, where each rank has its own part of k: `a` is m x k
/// and `b` is k x n, with this rank's k. This rank gets m / ranks rows, from row rank m / ranks on: `c`, and what
/// epilogues read by rows. Sums of rank r's rows are m / ranks x n elements of C's type without padding: the kernel
/// writes them at `sums`, where it has chunk_bytes for each rank. What rank r has for this one is read at `received`,
/// r chunk_bytes later.
struct reduce_scatter_args : gemm_args {
  rank_of self;                    ///< this rank
  rank_steps steps;                ///< the last step: own rows
  void* sums = nullptr;            ///< partial sums of this rank, in C's type
  const void* received = nullptr;  ///< partial sums of all ranks for this one's rows
  long_index_t chunk_bytes = 0;    ///< from one rank's sums to the next
  /// If not null, sums are sent while the kernel runs: a tile of rank r's rows has come once arrived[r num_flags +
  /// tile] is `epoch`. The kernel sends sums for rank r to sums_of[r] and sets flags_of[r][tile]. `finished` has
  /// num_flags flags for each rank, too, by which waves of this kernel signal finished tiles to each other.
  const unsigned* arrived = nullptr;
  void* sums_of[max_peers] = {};       ///< by rank: `sums` there
  unsigned* flags_of[max_peers] = {};  ///< by rank: flags there
  unsigned* finished = nullptr;        ///< of this rank
  long_index_t num_flags = 0;          ///< flags of each rank
  unsigned epoch = 0;                  ///< flags of this launch have this value: from 1, one more at each launch
  /// All-reduce: the same rows of C in the memory of each rank, where they are sent too, and flags for that. Rank r's
  /// tiles have come once arrived[(ranks + r) num_flags + tile] is `epoch`.
  void* c_of[max_peers] = {};
  unsigned* c_flags_of[max_peers] = {};  ///< by rank: flags of C there
  peer_wait wait;                        ///< waits for other ranks
};

/// Flags that reduce_scatter_kernel needs for each rank's tiles, at most: `rows` of a rank.
constexpr long_index_t max_tile_flags(index_t rows, index_t n) {
  using tilewright::detail::round_up;
  return long_index_t(round_up(ceil_div(rows, 64), 8)) * round_up(ceil_div(n, 64), 8);
}

/// Ready kernels of a policy of Hopper's pipeline: all_gather_kernel.hpp and reduce_scatter_kernel.hpp.
template <class Policy>
struct all_gather_kernel;
template <class Policy>
struct reduce_scatter_kernel;

namespace detail {

/// What is wrong with the rows of ranks, as an error message; nullptr: nothing is.
template <class Args>
constexpr const char* check_ranks(const Args& args) {
  const rank_of& self = args.self;
  if (self.ranks < 1 || self.rank < 0 || self.rank >= self.ranks) return "the rank must be one of the ranks";
  if (args.m < 1 || args.m % self.ranks != 0) return "m must be a multiple of the number of ranks";
  if (args.batch != 1) return "products of several ranks have no batches";
  if (args.arrived && self.ranks > max_peers) return "one kernel writes to at most 8 GPUs";
  return args.wait.status ? nullptr : "wait.status is null";
}

}  // namespace detail
}  // namespace tilewright::parallel
