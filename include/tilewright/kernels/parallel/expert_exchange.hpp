// SPDX-License-Identifier: MIT
// Expert parallelism: rows of tokens go to the ranks that have their experts, and results come back.
#pragma once

#include <tilewright/core/arch/arch.hpp>
#include <tilewright/core/base/math.hpp>
#include <tilewright/kernels/parallel/rank_args.hpp>
#include <tilewright/launch/check_rows.hpp>

namespace tilewright::parallel {

/// What a rank sends. It has tokens of its own, and experts [rank experts_of_rank, (rank + 1) experts_of_rank) of all.
/// Lists are those of choose_experts and order_by_expert for the experts of all ranks. Memory is this GPU's.
struct expert_exchange_args {
  const void* x = nullptr;                        ///< tokens rows of row_bytes
  const index_t* expert = nullptr;                ///< (tokens x choices)
  const index_t* source = nullptr;                ///< (tokens x choices)
  const index_t* ends = nullptr;                  ///< (ranks x experts_of_rank)
  const void* results = nullptr;                  ///< what experts made of received rows: ranks x slots rows of row_bytes
  index_t tokens = 0, choices = 0;                ///< of this rank; entries of a token
  index_t experts_of_rank = 0;                    ///< of each rank
  index_t slots = 0;                              ///< rows that a rank receives from each at most; the same on all ranks
  long_index_t x_stride = 0, results_stride = 0;  ///< bytes from row to row
  index_t row_bytes = 0;                          ///< of a row; a multiple of 16
  rank_of self = {};                              ///< this rank

  /// By rank, in its memory. From rank s, row i of what rank r receives is number s slots + i of rows_of[r]; its expert,
  /// from the first of rank r's on, of expert_of[r], -1 for a row that was not sent; first_of[r][s]: the position of
  /// rank s's first row for it. back_of[s]: (tokens x choices) results by position.
  void* rows_of[max_peers] = {};
  index_t* expert_of[max_peers] = {};  ///< see rows_of
  index_t* first_of[max_peers] = {};   ///< see rows_of
  void* back_of[max_peers] = {};       ///< see rows_of
  unsigned* flags_of[max_peers] = {};  ///< (ranks + 1) numbers: signals of each rank, and in this GPU's how many waits
  peer_wait wait = {};                 ///< for other ranks
};

namespace detail {

/// What exchanges refuse, as an error message; nullptr: nothing.
constexpr const char* check_exchange(const expert_exchange_args& a) {
  if (a.self.ranks < 1 || a.self.ranks > max_peers || a.self.rank < 0 || a.self.rank >= a.self.ranks)
    return "the rank must be one of at most 8 ranks";
  if (a.tokens < 1 || a.choices < 1 || a.experts_of_rank < 1) return "tokens, choices and experts must be positive";
  if (long_index_t{a.tokens} * a.choices > 0x7fffffff / a.self.ranks) return "tokens x choices is too large";
  if (long_index_t{a.slots} < long_index_t{a.tokens} * min(a.choices, a.experts_of_rank))
    return "slots must be tokens times the choices that may be one rank's, of the rank with the most tokens";
  if (a.row_bytes < 16 || a.row_bytes % 16 != 0 || a.x_stride % 16 != 0 || a.results_stride % 16 != 0)
    return "rows and their strides must be multiples of 16 bytes";
  if (a.x_stride < a.row_bytes || a.results_stride < a.row_bytes) return "a stride is smaller than a row";
  if (!a.x || !a.expert || !a.source || !a.ends || !a.results || !a.wait.status) return "a pointer is null";
  return is_aligned(a.x, 16) && is_aligned(a.results, 16) ? nullptr : "rows must start at multiples of 16 bytes";
}

/// A block copies a row, 16 bytes for each thread at once.
struct exchange_block {
  using arch = tilewright::arch::sm90;
  using args_type = expert_exchange_args;
  static constexpr index_t block_size = 128, lds_bytes = 0;
  static constexpr const char* check(const args_type& args) { return check_exchange(args); }
  static constexpr exec::block_index grid(const args_type& args) { return {args.slots, args.self.ranks, 1}; }

#if TILEWRIGHT_HOPPER_PASS
  TILEWRIGHT_HD static void copy_row(void* to, const void* from, index_t bytes) {
    for (index_t byte = exec::thread_id() * 16; byte < bytes; byte += block_size * 16)
      exec::store_to_l2(reinterpret_cast<float*>(static_cast<char*>(to) + byte),
                        exec::load_from_l2(reinterpret_cast<const float*>(static_cast<const char*>(from) + byte)));
  }
#endif
};

}  // namespace detail

/// Sends rows of tokens, and what is known of them, to the ranks of their experts.
struct send_expert_rows : detail::exchange_block {
  TILEWRIGHT_HD void operator()([[maybe_unused]] const args_type& a) const {
#if TILEWRIGHT_HOPPER_PASS
    const index_t i = exec::block_id().x, to = exec::block_id().y, first_expert = to * a.experts_of_rank;
    const index_t begin = first_expert == 0 ? 0 : exec::load_element(a.ends + (first_expert - 1)),
                  end = exec::load_element(a.ends + (first_expert + a.experts_of_rank - 1));
    const long_index_t slot = long_index_t{a.self.rank} * a.slots + i;
    const index_t entry = i < end - begin ? exec::load_element(a.source + (begin + i)) : -1;
    if (exec::thread_id() == 0) {
      const index_t expert = entry < 0 ? -1 : exec::load_element(a.expert + entry) - first_expert;
      exec::store_element(a.expert_of[to] + slot, expert);
      if (i == 0) exec::store_element(a.first_of[to] + a.self.rank, begin);
    }
    if (entry >= 0)
      copy_row(static_cast<char*>(a.rows_of[to]) + slot * a.row_bytes,
               static_cast<const char*>(a.x) + divide(entry, a.choices) * a.x_stride, a.row_bytes);
#endif
  }
};

/// Sends results back to the ranks that rows came from.
struct return_expert_rows : detail::exchange_block {
  TILEWRIGHT_HD void operator()([[maybe_unused]] const args_type& a) const {
#if TILEWRIGHT_HOPPER_PASS
    const index_t i = exec::block_id().x, to = exec::block_id().y, here = a.self.rank;
    const long_index_t slot = long_index_t{to} * a.slots + i;
    if (exec::load_element(a.expert_of[here] + slot) < 0) return;
    const long_index_t position = exec::load_element(a.first_of[here] + to) + i;
    copy_row(static_cast<char*>(a.back_of[to]) + position * a.row_bytes,
             static_cast<const char*>(a.results) + slot * a.results_stride, a.row_bytes);
#endif
  }
};

/// Says that what this rank has queued before is done, and waits until all ranks have said so as often:
///
///   rank r   | kernels that send | add 1 to flags_of[all][r] (release)
///   rank s   |                     wait for flags_of[s][all] (acquire) | kernels that read
///
/// A rank sends to another one's memory again only after the other's next signal, which follows what it has read there.
struct signal_ranks : detail::exchange_block {
  static constexpr index_t block_size = 32;
  static constexpr exec::block_index grid(const args_type&) { return {1, 1, 1}; }

  TILEWRIGHT_HD void operator()([[maybe_unused]] const args_type& a) const {
#if TILEWRIGHT_HOPPER_PASS
    if (exec::thread_id() != 0) return;
    unsigned* const own = a.flags_of[a.self.rank];
    const unsigned n = exec::load_element(own + a.self.ranks) + 1;
    for (index_t r = 0; r < a.self.ranks; ++r) exec::add_to_flag(a.flags_of[r] + a.self.rank, 1);
    for (index_t r = 0; r < a.self.ranks; ++r) detail::wait_for_peer(own + r, n, a.wait);
    exec::store_element(own + a.self.ranks, n);
#endif
  }
};

/// The exchange of an expert layer, call after call; a call may be captured in a graph. Rank: a communicator whose ranks
/// have_peers(), or its like on the CPU emulator.
///
///   choose_experts, order_by_expert (experts of all ranks)
///   send()          received() has rows, expert() their experts here
///   moe of received() with expert(), one choice, weights of 1, into `results`
///   send_back()     returned() has a result for each position: expert_rows adds them up
template <class Rank>
class expert_exchange {
 public:
  /// args: what is sent, without self, wait and memory of ranks. Collective: all ranks make the same exchanges in the
  /// same order. Throws launch_error.
  expert_exchange(Rank& rank, expert_exchange_args args)
      : rows_(rank.allocate(long_index_t{rank.self().ranks} * args.slots * args.row_bytes)),
        experts_(rank.allocate((long_index_t{rank.self().ranks} * args.slots + rank.self().ranks) * 4)),
        back_(rank.allocate(long_index_t{args.tokens} * args.choices * args.row_bytes)),
        flags_(rank.allocate((rank.self().ranks + 1) * 4)),
        rank_(rank.self().rank) {
    args.self = rank.self(), args.wait = rank.wait();
    for (index_t r = 0; r < args.self.ranks && r < max_peers; ++r) {
      args.rows_of[r] = rows_.of(r), args.back_of[r] = back_.of(r);
      args.expert_of[r] = static_cast<index_t*>(static_cast<void*>(experts_.of(r)));
      args.first_of[r] = args.expert_of[r] + long_index_t{args.self.ranks} * args.slots;
      args.flags_of[r] = static_cast<unsigned*>(static_cast<void*>(flags_.of(r)));
    }
    send_ = rank.template prepare<send_expert_rows>(args);
    return_ = rank.template prepare<return_expert_rows>(args);
    signal_ = rank.template prepare<signal_ranks>(args);
  }

  /// Queues the transfer of rows; kernels that are queued afterwards find what all ranks have sent.
  void send(typename Rank::stream_type stream) {
    (*send_)(stream);
    (*signal_)(stream);
  }
  /// Queues the transfer of results.
  void send_back(typename Rank::stream_type stream) {
    (*return_)(stream);
    (*signal_)(stream);
  }
  /// ranks x slots rows of row_bytes.
  const void* received() const { return rows_.of(rank_); }
  /// The expert of each, among this rank's; -1: there is no row.
  const index_t* expert() const { return static_cast<const index_t*>(static_cast<const void*>(experts_.of(rank_))); }
  /// tokens x choices rows of row_bytes, by position.
  const void* returned() const { return back_.of(rank_); }

 private:
  typename Rank::memory_type rows_, experts_, back_, flags_;
  index_t rank_;
  typename Rank::template launch_type<send_expert_rows> send_;
  typename Rank::template launch_type<return_expert_rows> return_;
  typename Rank::template launch_type<signal_ranks> signal_;
};

}  // namespace tilewright::parallel
