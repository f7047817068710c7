// SPDX-License-Identifier: MIT
// GEMM reduce-scatter for Hopper: k is split among GPUs; tiles go to the GPU that owns their rows, which adds them up.
#pragma once

#include <tilewright/kernels/parallel/rank_block.hpp>

namespace tilewright::parallel {

namespace detail {

template <class Args>
struct reduce_scatter_device_args : hopper_gemm_device_args<Args, 1> {
  exec::tensor_map sums, received;
  index_t tile_cols;  // tiles of a row of C, flags of a row of tiles
  index_t lead;       // k tiles between additions of others' sums, and after the last one
};

#if TILEWRIGHT_HOPPER_PASS
/// Where tiles of a rank's rows are in memory, and their flags.
template <class Block>
struct rank_tiles {
  static constexpr index_t tile_m = Block::tile.m, tile_n = Block::tile.n;
  static constexpr index_t result_bytes = sizeof(typename Block::result_type);
  using device_args = typename Block::device_args;

  /// A flag of the tile that has element (m, n).
  TILEWRIGHT_HD static index_t flag_of(const device_args& d, index_t m, index_t n) {
    return divide(m, tile_m) * d.tile_cols + divide(n, tile_n);
  }

  /// Whether tiles of the rows of `owner` are kept in memory for others: sums, or all rows of an all-reduce.
  TILEWRIGHT_HD static bool keeps_tile(const reduce_scatter_args& args, index_t owner) {
    return owner != args.self.rank || args.c_of[args.self.after(1)];
  }
  /// Rows there from element (m, n) of the rows of `owner` on, at most `rows` of at most `cols` elements.
  TILEWRIGHT_HD static row_span kept(const reduce_scatter_args& args, index_t owner, index_t m, index_t n, index_t rows,
                                     index_t cols) {
    const bool own = owner == args.self.rank;
    const long_index_t stride = long_index_t(own ? args.ldc : args.n) * result_bytes;
    char* const first = own ? static_cast<char*>(args.c) : static_cast<char*>(args.sums) + owner * args.chunk_bytes;
    return {first + m * stride + n * result_bytes, stride, min(rows, args.m - m), min(cols, args.n - n) * result_bytes};
  }
};

/// Role assist of one warp: sends finished tiles to the rank that owns their rows, or for an all-reduce to all others.
///
///   rank r | store_c: TMA store tile -> sums | add 1 to finished (release)
///   rank r |                                   assist: wait for finished | push tile -> sums_of[owner] | set its flag
///   owner  |                                                      acquire_c: wait for the flag | TMA load -> slot |
///   ... owner  |                                                                     mma: c += slot
template <class Block>
struct tile_sender {
  static constexpr bool is_present = true;
  using tiles = rank_tiles<Block>;
  const typename Block::device_args& d;

  TILEWRIGHT_HD tile_sender(const typename Block::device_args& args, const typename Block::roles::pipeline&,
                            exec::lds_pointer)
      : d(args) {}

  template <class Scheduler>
  TILEWRIGHT_HD void operator()(Scheduler scheduler) const {
    const reduce_scatter_args& args = d.args;
    if (!args.arrived) return;
    for (typename Block::work_type work; scheduler.next(work);) {
      const index_t owner = work.tile.batch, flag = tiles::flag_of(d, work.m0, work.n0);
      if (work.is_empty() || !work.is_last_split() || !tiles::keeps_tile(args, owner)) continue;
      if (exec::lane_id() == 0) wait_for_peer(args.finished + owner * args.num_flags + flag, args.epoch, args.wait);
      exec::wave_sync();
      const row_span from = tiles::kept(args, owner, work.m0, work.n0, tiles::tile_m, tiles::tile_n);
      if (owner == args.self.rank) {
        for (index_t i = 1; i < args.self.ranks; ++i) {
          const index_t to = args.self.after(i);
          push_tile(args.c_of[to], args.c, from, args.c_flags_of[to] + flag);
        }
      } else {
        push_tile(args.sums_of[owner], static_cast<char*>(args.sums) + owner * args.chunk_bytes, from,
                  args.flags_of[owner] + flag);
      }
    }
    if (args.c_of[args.self.rank]) wait_for_results();
  }

 private:
  /// `to` and `kept`: all rows of the owner, there and here.
  TILEWRIGHT_HD void push_tile(void* to, const void* kept, const row_span& from, unsigned* flag) const {
    constexpr index_t bytes = tiles::tile_n * tiles::result_bytes, width = bytes % 512 == 0 ? 512 : bytes & -bytes;
    push_rows<width>(static_cast<char*>(to) + (from.first - static_cast<const char*>(kept)), from.stride, from);
    if (exec::lane_id() == 0) exec::set_flag(flag, d.args.epoch);
  }
  /// Until the other ranks' rows of an all-reduce have arrived: each lane waits for some tiles.
  TILEWRIGHT_HD void wait_for_results() const {
    const reduce_scatter_args& args = d.args;
    const index_t cols = ceil_div(args.n, tiles::tile_n), num_tiles = ceil_div(args.m, tiles::tile_m) * cols;
    for (index_t i = exec::block_id().x * 32 + exec::lane_id(); i < num_tiles * (args.self.ranks - 1);
         i += exec::num_blocks() * 32) {
      const index_t step = divide(i, num_tiles), tile = i - step * num_tiles, row = divide(tile, cols);
      wait_for_peer(args.arrived + (args.self.ranks + args.self.after(step + 1)) * args.num_flags + row * d.tile_cols +
                        tile - row * cols,
                    args.epoch, args.wait);
    }
    exec::wave_sync();
  }
};

/// The loop over k of a tile of this rank's rows also adds what other ranks have computed of it, one rank every d.lead
/// k tiles before the end.
template <class Block>
struct reducing_mainloop : wgmma_mainloop<Block> {
  using base = wgmma_mainloop<Block>;
  using base::base;

  /// c (m, n) = A (m, k) B (n, k)^T + sum over ranks of their sums (m, n).
  template <class Epilogue>
  TILEWRIGHT_HD void operator()(typename Block::accumulators& c, const typename Block::work_type& work,
                                Epilogue& epilogue) {
    index_t k = work.k_begin;
    TILEWRIGHT_UNROLL(1)
    for (index_t i = Block::num_sources(base::args.args, work); i > 0; --i) {
      const index_t end = add_before(work, i);
      base::multiply(c, work, k, end);
      k = max(k, end);
      if (i > 1) base::order.arrive();  // else its boxes fill all slots
      base::wait(c);
      epilogue.add_received(c);
    }
    base::multiply(c, work, k, work.k_end);
    base::order.arrive();
    base::wait(c);
  }

 private:
  /// The k tile before which this consumer adds the sums of source i. Ordered consumers add one after the other.
  TILEWRIGHT_HD index_t add_before(const typename Block::work_type& work, index_t i) const {
    const index_t number = Block::tile.orders_consumers() ? 2 * i - base::consumer : i;
    return max(work.k_begin + 1, work.k_end - number * base::args.lead);
  }
};

/// Slots of C through which other ranks' sums arrive, too: those of each source before the tile's own boxes.
template <class Block>
struct reducing_c_slots : c_slots<Block> {
  using base = c_slots<Block>;
  using typename base::device_args, typename base::state, typename base::work_type;
  using tiles = rank_tiles<Block>;

  /// As of c_slots; a slot is ready with a source's sums, or for C.
  template <class Scheduler>
  TILEWRIGHT_HD void acquire(const device_args& d, Scheduler scheduler) const {
    exec::grid_dependency_wait();
    state at;
    for_each_box(d, scheduler, [&](const c_box& box, index_t source) TILEWRIGHT_INLINE_LAMBDA {
      base::empty(at.stage).wait(at.phase ^ 1);
      const exec::mbarrier slot_is_ready = base::ready(at.stage, box.consumer);
      if (source >= 0) {
        if (box.number == 0) wait_for_sums(d, box, source);
        base::load(at.stage, d.received, box, source, slot_is_ready);
      } else if (d.args.beta != 0 && Block::is_own(d.args, box.z)) {
        base::load(at.stage, base::map_of(d, box), box, 0, slot_is_ready);
      } else {
        slot_is_ready.arrive();
      }
      at.advance();
    });
  }

  /// As of c_slots; but slots of sources are only given back, and the end of a tile is waited for and reported.
  template <class Scheduler>
  TILEWRIGHT_HD void store(const device_args& d, Scheduler scheduler) const {
    state at, read;
    index_t filled = 0, emptied = 0;
    const auto empty_all_but = [&](index_t in_flight) TILEWRIGHT_INLINE_LAMBDA {
      for (; emptied + in_flight < filled; ++emptied, read.advance()) base::empty(read.stage).arrive();
    };
    for_each_box(d, scheduler, [&](const c_box& box, index_t source) TILEWRIGHT_INLINE_LAMBDA {
      constexpr hopper_gemm_tile t = Block::tile;
      base::full(at.stage).wait(at.phase);
      const index_t slot = at.stage;
      at.advance();
      ++filled;
      if (source >= 0) return empty_all_but(0);  // its consumer has read it
      const bool own = Block::is_own(d.args, box.z);
      exec::fence_async_proxy();
      exec::tma_store(own ? d.c : d.sums, base::address(slot), box.n, box.m, own ? 0 : box.z);
      exec::tma_store_commit();
      if (box.number + 1 < t.num_boxes()) {
        exec::tma_store_wait_read<base::in_flight>();
        empty_all_but(base::in_flight);
      } else {
        exec::tma_store_wait<0>();
        report_tile(d, box);
        empty_all_but(0);
      }
    });
    exec::tma_store_wait_read<0>();
  }

 private:
  /// work_on(box, source) for each box that comes from a source's sums, and then, with -1, for each that is stored.
  template <class Scheduler, class Work>
  TILEWRIGHT_HD static void for_each_box(const device_args& d, Scheduler& scheduler, Work work_on) {
    for (work_type work; scheduler.next(work);) {
      if (work.is_empty() || !work.is_last_split()) continue;
      TILEWRIGHT_UNROLL(1)
      for (index_t i = Block::num_sources(d.args, work); i >= 0; --i) {
        constexpr hopper_gemm_tile t = Block::tile;
        const index_t source = Block::source(d.args, i);
        TILEWRIGHT_UNROLL(1)
        for (index_t j = 0; j < t.num_boxes(); ++j) work_on(base::box_of(work, j, 0), source);
      }
    }
  }
  TILEWRIGHT_HD static void wait_for_sums(const device_args& d, const c_box& box, index_t source) {
    if (!d.args.arrived || box.m >= d.args.m || box.n >= d.args.n) return;  // they are there, or there are none
    wait_for_peer(d.args.arrived + source * d.args.num_flags + tiles::flag_of(d, box.m, box.n), d.args.epoch,
                  d.args.wait);
  }
  /// All boxes of a tile are in memory.
  TILEWRIGHT_HD static void report_tile(const device_args& d, const c_box& box) {
    if (d.args.arrived && tiles::keeps_tile(d.args, box.z))
      exec::add_release(d.args.finished + box.z * d.args.num_flags + tiles::flag_of(d, box.m, box.n), 1);
  }
};

/// Sums that another rank finishes are stored as they are.
template <class Block>
struct reducing_epilogue : slot_epilogue<Block> {
  using base = slot_epilogue<Block>;
  using base::base;

  TILEWRIGHT_HD void operator()(typename Block::accumulators& c, const typename Block::work_type& work) {
    if (!Block::is_own(base::args.args, work.tile.batch)) return base::store_rounded(c);
    base::store_finished(c, work);
  }

  /// c += a source's sums, which arrive in the slots of the consumer's boxes.
  TILEWRIGHT_HD void add_received(typename Block::accumulators& c) {
    unroll<Block::tile.boxes_per_consumer()>([&](auto j) TILEWRIGHT_INLINE_LAMBDA {
      using distribution = typename base::distribution;
      constexpr index_t num = distribution::num_elements;
      const index_t slot = base::wait(j);
      const auto more =
          load_fragments<arch::matrix_op::mma_m16n8k16_x2, distribution>(base::window, slot * base::slot_bytes);
      base::slots.commit(slot);
      for (index_t d = 0; d < num; ++d) c.thread_buffer[j * num + d] += type_convert<float>(more.thread_buffer[d]);
    });
  }
};
#endif

/// A rank_block that begins with the rows of the next rank and ends with its own.
template <class Policy>
struct reduce_scatter_block : rank_block<Policy, reduce_scatter_args> {
  using base = rank_block<Policy, reduce_scatter_args>;
  using device_args = reduce_scatter_device_args<reduce_scatter_args>;
#if TILEWRIGHT_HOPPER_PASS
  struct roles : hopper_gemm_roles<reduce_scatter_block> {
    using assistant = tile_sender<reduce_scatter_block>;
    using mainloop = reducing_mainloop<reduce_scatter_block>;
    using slots = reducing_c_slots<reduce_scatter_block>;
    using epilogue = reducing_epilogue<reduce_scatter_block>;
  };
#endif

  /// All ranks' rows are multiplied by the same B.
  TILEWRIGHT_HD static hopper_work_tile work_at(const device_args& d, index_t u) {
    hopper_work_tile work{d.schedule(u)};
    work.tile.batch = d.args.self.after(d.args.steps.first + work.tile.batch + 1);
    work.a_z = work.c_z = work.tile.batch;
    return work;
  }
  TILEWRIGHT_HD static bool is_own(const reduce_scatter_args& args, index_t owner) { return owner == args.self.rank; }
  /// How many other GPUs' sums are added to a work tile; their ranks, of which those that arrive last have low numbers.
  /// 0: none.
  TILEWRIGHT_HD static index_t num_sources(const reduce_scatter_args& args, const work_tile& work) {
    return is_own(args, work.tile.batch) && work.is_last_split() ? args.self.ranks - 1 : 0;
  }
  TILEWRIGHT_HD static index_t source(const reduce_scatter_args& args, index_t i) {
    if (i == 0) return -1;
    const index_t rank = args.self.ranks - 1 - i;
    return rank < args.self.rank ? rank : rank + 1;
  }
};

}  // namespace detail

/// The kernel of a policy of warp_specialized_pipeline. With c_of it is an all-reduce, which ends when the other ranks'
/// rows have come.
template <class Policy>
  requires(arch::is_wgmma(Policy::tile.op))
struct reduce_scatter_kernel<Policy> : detail::rank_kernel<detail::reduce_scatter_block<Policy>> {
  using block = detail::reduce_scatter_block<Policy>;
  using args_type = reduce_scatter_args;
  using device_args = typename block::device_args;

  static constexpr const char* check(const args_type& args) {
    if (args.steps.first < 0 || args.steps.first + args.steps.count > args.self.ranks) return "there are no such steps";
    return detail::check_rank_block<block>(args, as_batch(args));
  }
  static device_args prepare(const args_type& args, const launch_facts& facts) {
    using R = typename Policy::result_type;
    constexpr hopper_gemm_tile tile = block::tile;
    const args_type batch = as_batch(args);
    device_args d = detail::plan_ranks<block>(batch, facts);
    const auto maps = detail::maps_of<block>(facts);
    maps.a(d.a, detail::operand_in_memory(args.a, block::lds.a.k_is_contiguous, batch.m, args.k, args.lda,
                                          args.self.ranks, batch.batch_stride_a));
    const long_index_t chunk = args.chunk_bytes / index_t(sizeof(R));
    maps.c(d.c, {.data = args.c, .rows = batch.m, .cols = args.n, .ld = args.ldc});
    maps.c(d.sums, {args.sums, batch.m, args.n, args.n, args.self.ranks, chunk});
    maps.c(d.received, {args.received, batch.m, args.n, args.n, args.self.ranks, chunk});
    const bool many_rounds = d.schedule.whole_tiles >= 3 * d.schedule.workers;
    d.lead = many_rounds ? min(8, divide(d.schedule.k_tiles, 2 * tile.consumers * args.self.ranks)) : 0;
    d.tile_cols = detail::round_up(ceil_div(args.n, tile.n), tile.cluster_n);
    return d;
  }

 private:
  static constexpr args_type as_batch(const args_type& args) {
    return detail::as_batch(args, args.steps.count > 0 ? args.steps.count : args.self.ranks,
                            Policy::a_major == operand_major::k ? args.lda : 1, args.ldc);
  }
};

}  // namespace tilewright::parallel
