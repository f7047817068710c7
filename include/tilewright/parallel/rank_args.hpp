// SPDX-License-Identifier: MIT
// Arguments of the kernels that multiply rows of several ranks.
#pragma once

#include <tilewright/gemm/gemm_args.hpp>
#include <tilewright/parallel/chunk_order.hpp>
#include <tilewright/parallel/wait_for_peer.hpp>

namespace tilewright::parallel {

/// Arguments of all_gather_kernel. C = A B, where A (m x k) has m / ranks rows of each rank: `a` are this rank's, with
/// the stride lda; those of rank r arrive at `gathered` from row r m / ranks on, with the stride ld_gathered, in
/// `pieces` pieces of equally many rows (the last one may have fewer).
struct all_gather_args : gemm_args {
  rank_of self;
  rank_steps steps;  // step 0: own rows
  const void* gathered = nullptr;
  index_t ld_gathered = 0;
  index_t pieces = 1;
  /// Piece p of rank r is there once arrived[r copy_lanes + p % copy_lanes] has reached before_first + p / copy_lanes
  /// + 1.
  const unsigned* arrived = nullptr;
  unsigned before_first = 0;
  peer_wait wait;
};

/// Rows of a piece, if `rows` are sent in `pieces` pieces.
TILEWRIGHT_HD constexpr index_t rows_of_piece(index_t rows, index_t pieces) { return ceil_div(rows, pieces); }

/// Arguments of reduce_scatter_kernel. C = sum over ranks of A B, where each rank has its own part of k: `a` is m x k
/// and `b` is k x n, with this rank's k. This rank gets m / ranks rows, from row rank m / ranks on: `c`, and what
/// epilogues read by rows. Sums of other ranks' rows go to sums_of[r], m / ranks x n elements of C's type without
/// padding in the memory of rank r; then its flags flags_of[r][tile] become `epoch`. A launch of one step that is
/// not the last uses sums_of[0] and flags_of[0]. What rank r sends to this one arrives at `received`, `r
/// received_stride` bytes later, and at arrived[r num_flags].
struct reduce_scatter_args : gemm_args {
  rank_of self;
  rank_steps steps;  // the last step: own rows
  void* sums_of[max_peers] = {};
  unsigned* flags_of[max_peers] = {};
  const void* received = nullptr;
  long_index_t received_stride = 0;
  const unsigned* arrived = nullptr;
  long_index_t num_flags = 0;
  unsigned epoch = 0;
  /// All-reduce: the same rows of C in the other ranks' memory, where they are written too, and flags for that.
  void* c_of[max_peers] = {};
  unsigned* c_flags_of[max_peers] = {};
  peer_wait wait;
};

/// Flags that reduce_scatter_kernel needs for each rank's tiles, at most: `rows` of a rank.
constexpr long_index_t max_tile_flags(index_t rows, index_t n) {
  using tilewright::detail::round_up;
  return long_index_t(round_up(ceil_div(rows, 64), 8)) * round_up(ceil_div(n, 64), 8);
}

/// Ready kernels of a policy: all_gather_kernel.hpp and reduce_scatter_kernel.hpp have those for Hopper's pipeline,
/// portable_ranks.hpp those for others.
template <class Policy>
struct all_gather_kernel;
template <class Policy>
struct reduce_scatter_kernel;

namespace detail {

/// What is wrong with the rows of ranks, as a sentence; nullptr when nothing is.
template <class Args>
constexpr const char* check_ranks(const Args& args) {
  const rank_of& self = args.self;
  if (self.ranks < 1 || self.rank < 0 || self.rank >= self.ranks) return "the rank must be one of the ranks";
  if (args.steps.first < 0 || args.steps.first + args.steps.count > self.ranks) return "there are no such steps";
  if (args.m < 1 || args.m % self.ranks != 0) return "m must be a multiple of the number of ranks";
  if (args.batch != 1) return "products of several ranks have no batches";
  return args.wait.status ? nullptr : "wait.status is null";
}

}  // namespace detail
}  // namespace tilewright::parallel
