// SPDX-License-Identifier: MIT
// What one block of warp_specialized_pipeline does: a producer warpgroup starts bulk copies, consumers multiply.
#pragma once

#include <tilewright/kernels/gemm/hopper/detail/add_up_parts.hpp>
#include <tilewright/kernels/gemm/hopper/detail/consumer_turns.hpp>
#include <tilewright/kernels/gemm/hopper/detail/result_writer.hpp>
#include <tilewright/kernels/gemm/hopper/detail/scaled_multiply.hpp>
#include <tilewright/kernels/gemm/hopper/detail/unaligned_stages.hpp>

#if TILEWRIGHT_HOPPER_PASS
namespace tilewright::detail {

/// A persistent block: it works on the units of args.schedule that fall to its cluster.
template <class Block>
struct persistent_gemm {
  static constexpr hopper_gemm_tile tile = Block::tile;
  static constexpr hopper_gemm_lds lds = Block::lds;
  using ring = stage_ring<Block>;
  using boxes_type = result_boxes<Block>;
  using unit_type = typename Block::unit_type;

  const typename Block::device_args& args;
  exec::lds_pointer block_lds;
  ring stages;
  boxes_type boxes{stages.base};

  /// Whether units are found by whole waves, of which one lane may then do the work.
  static constexpr bool finds_by_wave = Block::groups != group_kind::none;
  /// Whether all lanes of the copying waves walk through the units.
  static constexpr bool copies_by_wave = finds_by_wave || Block::is_block_scaled || Block::has_sender || tile.unaligned;

  /// work(unit, m0, n0) for each unit of work that falls to this block.
  template <class Work>
  TILEWRIGHT_HD void for_each_unit(Work work) const {
    const index_t clusters = exec::num_blocks() / tile.cluster(), first = exec::block_id().x / tile.cluster();
    const auto begin = [&](const unit_type& unit) TILEWRIGHT_INLINE_LAMBDA {
      work(unit, unit.first_row() + (unit.tile.row * tile.cluster_m + stages.row()) * tile.m,
           (unit.tile.col * tile.cluster_n + stages.col()) * tile.result_n());
    };
    if constexpr (finds_by_wave) {
      exec::grid_dependency_wait();  // it may write what says how long groups are
      typename Block::walk_type walk{args, clusters};
      unit_type unit;
      for (index_t u = first; walk.find(u, unit); u += clusters)
        if (!unit.is_empty()) begin(unit);
    } else {
      const index_t num_work_tiles = args.schedule.num_work_tiles();
      for (index_t u = first; u < num_work_tiles; u += clusters) {
        const unit_type unit = Block::unit_of(args, u);
        if (!unit.is_empty()) begin(unit);
      }
    }
  }
  /// The same for work of one thread of a wave.
  template <class Work>
  TILEWRIGHT_HD void for_each_unit_of_thread(Work work) const {
    for_each_unit([&](const unit_type& unit, index_t m0, index_t n0) TILEWRIGHT_INLINE_LAMBDA {
      if (!copies_by_wave || exec::lane_id() == 0) work(unit, m0, n0);
    });
  }

  /// Every other tile is walked backwards along k: it begins with k tiles of its neighbour that L2 still has.
  TILEWRIGHT_HD void produce() const {
    typename ring::cursor at;
    bool waited = false, backwards = false;
    for_each_unit_of_thread([&](const unit_type& unit, index_t m0, index_t n0) TILEWRIGHT_INLINE_LAMBDA {
      if (!waited) exec::grid_dependency_wait();
      waited = true;
      if constexpr (Block::receives_operands) Block::wait_for_operands(args, unit, m0);
      TILEWRIGHT_UNROLL(1)
      for (index_t i = unit.k_begin; i < unit.k_end; ++i, at.advance()) {
        const index_t k = backwards ? unit.k_begin + unit.k_end - 1 - i : i;
        stages.fill(at, args, m0, n0, unit.first_k() + k * Block::tile_k, unit.a_z(), unit.b_z());
      }
      backwards = !backwards;
    });
  }

  /// What each wave of the last warpgroup does instead, where operands start anywhere.
  TILEWRIGHT_HD void produce_unaligned(index_t wave) const {
    unaligned_stages<Block> shifted{stages, block_lds, wave};
    exec::grid_dependency_wait();
    for_each_unit([&](const unit_type& unit, index_t m0, index_t n0) TILEWRIGHT_INLINE_LAMBDA {
      shifted.begin(args.args, unit.tile.batch);
      TILEWRIGHT_UNROLL(1)
      for (index_t k = unit.k_begin; k < unit.k_end; ++k) shifted.fill(m0, n0, k * Block::tile_k);
    });
    shifted.finish_all();
  }

  /// consumer: of all. If each has tiles of its own, it is the first of its tile.
  TILEWRIGHT_HD void consume(index_t consumer) const {
    const index_t thread = modulo(exec::thread_id(), 128), block_to_tell = stages.block_to_tell(thread);
    const index_t wave = thread / 32, row = tile.ping_pong ? 0 : consumer, wave_m = row * 64 + wave * 16;
    using writer = result_writer<Block>;
    writer write{args, boxes, consumer, writer::box_window(block_lds + lds.boxes_offset(), wave)};
    exec::grid_dependency_wait();
    typename Block::sums_type c;
    typename ring::cursor at;
    index_t to_release = -1;  // the stage that was multiplied last
    consumer_turns<Block> turns{consumer};
    const auto release = [&]() TILEWRIGHT_INLINE_LAMBDA {
      if (to_release >= 0) stages.release(to_release, block_to_tell);
      to_release = -1;
    };
    const auto finish = [&]() TILEWRIGHT_INLINE_LAMBDA {
      exec::wgmma_wait<0>();
      TILEWRIGHT_UNROLL_ALL
      for (index_t i = 0; i < tile.accumulators(); ++i) exec::fence_operand(c.thread_buffer[i]);
      release();
    };
    for_each_unit([&](const unit_type& unit, index_t m0, index_t n0) TILEWRIGHT_INLINE_LAMBDA {
      if (!turns.begin(unit, args)) return at.skip(unit.k_end - unit.k_begin);
      const auto take_turn = [&](index_t k) TILEWRIGHT_INLINE_LAMBDA { turns.take(k, release); };
      if constexpr (Block::is_block_scaled) {
        consume_scaled(unit, {{m0, n0}}, row, block_to_tell, c, at, take_turn);
      } else {
        index_t k = unit.k_begin;
        const auto multiply_until = [&](index_t end) TILEWRIGHT_INLINE_LAMBDA {
          TILEWRIGHT_UNROLL(1)
          for (; k < end; ++k, at.advance()) {
            take_turn(k);
            stages.wait_until_full(at);
            if (unit.has_rows(m0 + row * 64))
              stages.multiply(at, row, c, k > unit.k_begin);
            else  // as wgmma would: else wave 0 releases stages that others still wait for, and they miss a phase
              exec::named_sync<128>(1 + consumer);
            exec::wgmma_wait<1>();
            release();
            to_release = at.stage;
          }
        };
        if constexpr (Block::sends_tiles) {
          TILEWRIGHT_UNROLL(1)
          for (index_t i = Block::sources(args.args, unit); i > 0; --i) {
            multiply_until(Block::add_at(args, unit, i, consumer));
            if (i > 1) turns.give();  // else its boxes fill all places
            finish();
            write.add_received(c);
          }
        }
        multiply_until(unit.k_end);
      }
      turns.give();
      finish();
      if constexpr (Block::groups != group_kind::k)
        if (unit.parts > 1 && !add_up_parts<Block>(c, args, unit, {{m0 + wave_m, n0}}, stages.rank, row)) return;
      write(c, m0 + wave_m, n0, unit.tile.batch);
    });
    turns.end();
  }

  /// The products of a unit of block-scaled operands.
  template <class TakeTurn>
  TILEWRIGHT_HD void consume_scaled(const unit_type& unit, multi_index<2> origin, index_t consumer,
                                    index_t block_to_tell, typename Block::sums_type& c, typename ring::cursor& at,
                                    const TakeTurn& take_turn) const {
    if (unit.has_rows(origin[0] + consumer * 64)) {
      multiply_scaled<Block>(unit, {stages, block_lds, c, consumer, block_to_tell, origin}, at, take_turn);
    } else {
      TILEWRIGHT_UNROLL(1)
      for (index_t k = unit.k_begin; k < unit.k_end; ++k, at.advance()) {
        take_turn(k);
        stages.wait_until_full(at);
        stages.release(at.stage, block_to_tell);
      }
    }
  }

  /// A wave copies the scales of each stage, in the order of produce().
  TILEWRIGHT_HD void produce_scales() const {
    scale_copies<Block> copies{stages, block_lds + lds.scales_offset()};
    bool backwards = false;
    exec::grid_dependency_wait();
    for_each_unit([&](const unit_type& unit, index_t m0, index_t n0) TILEWRIGHT_INLINE_LAMBDA {
      TILEWRIGHT_UNROLL(1)
      for (index_t i = unit.k_begin; i < unit.k_end; ++i) {
        const index_t k = backwards ? unit.k_begin + unit.k_end - 1 - i : i;
        copies.start(args, m0, n0, finds_by_wave ? 0 : unit.tile.batch, unit.tile.batch, k);
      }
      backwards = !backwards;
    });
  }

  /// What the waves of the last warpgroup do, most of them with one thread: the first starts copies to stages,
  /// the second stores of C, the third hands out boxes, the fourth copies scales or sends to other GPUs.
  TILEWRIGHT_HD void copy(index_t wave) const {
    const auto units = [&](auto work) TILEWRIGHT_INLINE_LAMBDA { for_each_unit_of_thread(work); };
    if (wave == 0) produce();
    if (wave == 1) boxes.store(args, units);
    if (wave == 2) {
      exec::grid_dependency_wait();
      boxes.hand_out(args, units);
    }
    if constexpr (Block::is_block_scaled) {
      if (wave == 3) produce_scales();
    }
    if constexpr (Block::has_sender) {
      if (wave == 3) Block::send(args, [&](auto work) TILEWRIGHT_INLINE_LAMBDA { for_each_unit(work); });
    }
  }

  TILEWRIGHT_HD void operator()() const {
    const index_t warpgroup = exec::shuffle(divide(exec::thread_id(), 128), 0);
    if (exec::thread_id() == 0) {
      stages.init_barriers(args);
      if constexpr (!tile.unaligned) {
        boxes.init();
        exec::prefetch(args.a);
        exec::prefetch(args.b[0]);
        exec::prefetch(args.c);
      }
      exec::fence_barrier_init();
    }
    exec::wave_sync();
    synchronize();
    exec::grid_dependency_launch();
    if (warpgroup >= tile.consumers) {
      if constexpr (tile.consumers > 1) exec::warpgroup_reg_dealloc<tile.producer_registers(Block::has_sender)>();
      if constexpr (tile.unaligned)
        produce_unaligned(exec::shuffle(exec::wave_id() - 4 * tile.consumers, 0));
      else if (copies_by_wave || exec::lane_id() == 0)
        copy(modulo(exec::wave_id(), 4));
      exec::wave_sync();
    } else {
      if constexpr (tile.consumers > 1) exec::warpgroup_reg_alloc<tile.consumer_registers(Block::has_sender)>();
      consume(warpgroup);
    }
    // No block leaves while others of its cluster still copy to its LDS or arrive at its barriers.
    if constexpr (tile.cluster() > 1) exec::cluster_sync();
  }

  TILEWRIGHT_HD static void synchronize() {
    if constexpr (tile.cluster() > 1)
      exec::cluster_sync();
    else
      exec::block_sync();
  }
};

}  // namespace tilewright::detail
#endif
