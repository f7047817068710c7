// SPDX-License-Identifier: MIT
// Role load for operands whose rows start at any element, which TMA cannot load: warps copy aligned vectors and shift.
#pragma once

#include <tilewright/kernels/gemm/hopper/operand_pipeline.hpp>
#include <tilewright/machine/exec/gather_bytes.hpp>

#if TILEWRIGHT_HOPPER_PASS
namespace tilewright::detail {

/// An operand_pipeline whose stages are written by warps: one arrival for each group of lines.
template <class Block>
struct unaligned_operand_pipeline : operand_pipeline<Block> {
  using base = operand_pipeline<Block>;
  using base::base;

  TILEWRIGHT_HD void init(const typename Block::device_args&) const {
    mbarrier_pipeline<Block::num_stages>::init(Block::lds.groups_of_stage(), Block::tile.consumers_per_tile());
  }
  /// Consumers fence: warps that write a stage would wait for all copies that they have in flight.
  TILEWRIGHT_HD void consumer_wait(const typename base::state& at) const {
    base::consumer_wait(at);
    exec::fence_async_proxy();
  }
};

/// One of the warps that fill stages. A stage has lines of 128 bytes, each contiguous in memory; a warp moves groups of
/// 16 lines, through a queue of its own in LDS:
///
///   issue  | copy the aligned vectors of group i + 3 -> queue |
///   finish | wait for group i in the queue | wait empty(stage) | shift -> stage | arrive full(stage)
///
/// Up to 15 bytes before a line are read, those of its first aligned vector.
template <class Block>
struct unaligned_producer {
  static constexpr hopper_gemm_tile tile = Block::tile;
  static constexpr hopper_gemm_lds lds = Block::lds;
  static constexpr index_t group = lds.lines_per_group, line_bytes = lds.line_bytes, slots = lds.queue_length,
                           slot_bytes = group * line_bytes, groups_of_a = lds.a.bytes() / 128 / group,
                           groups_of_stage = lds.groups_of_stage(), warps = 4 * tile.producers();
  static constexpr index_t element_bytes = sizeof(typename Block::element_type);
  using pipeline_type = typename Block::roles::pipeline;
  using vector = array<unsigned, 4>;

  /// An operand of one problem, in lines.
  struct operand {
    const char* data;
    long_index_t pitch;     // bytes from a line to the next
    index_t lines, length;  // in elements
  };
  /// How far the warp is.
  struct progress {
    index_t count;  // of groups so far
    index_t group;  // in its stage
  };

  const typename Block::device_args& args;
  pipeline_type pipeline;
  exec::lds_pointer block_lds;
  index_t warp;
  operand a = {}, b = {};
  progress issued{0, warp}, finished{0, warp};
  typename pipeline_type::state at = {};  // the stage of `finished`

  /// Member by member, so that they stay in registers.
  TILEWRIGHT_HD operand operand_of(index_t group_of_stage) const {
    const bool is_b = group_of_stage >= groups_of_a;
    return {is_b ? b.data : a.data, is_b ? b.pitch : a.pitch, is_b ? b.lines : a.lines, is_b ? b.length : a.length};
  }
  TILEWRIGHT_HD exec::lds_pointer slot(index_t number) const {
    return block_lds + (Block::regions.queues + (warp * slots + modulo(number, slots)) * slot_bytes);
  }

  TILEWRIGHT_HD unaligned_producer(const typename Block::device_args& d, const pipeline_type& p, exec::lds_pointer l,
                                   index_t w)
      : args(d), pipeline(p), block_lds(l), warp(w) {}
  TILEWRIGHT_HD static void prefetch(const typename Block::device_args&) {}

  TILEWRIGHT_HD void operator()(typename Block::roles::scheduler tiles) {
    exec::grid_dependency_wait();
    for (typename Block::work_type work; tiles.next(work);) {
      if (work.is_empty()) continue;
      begin(args.args, work.tile.batch);
      TILEWRIGHT_UNROLL(1)
      for (index_t k = work.k_begin; k < work.k_end; ++k) fill(work.m0, work.n0, k * Block::tile_k);
    }
    finish_all();
  }

 private:
  /// Goes on with the operands of problem z.
  template <class Args>
  TILEWRIGHT_HD void begin(const Args& g, long_index_t z) {
    const auto in_lines = [&](const void* data, bool along_k, index_t rows, index_t ld,
                              long_index_t batch_stride) TILEWRIGHT_INLINE_LAMBDA {
      return operand{static_cast<const char*>(data) + z * batch_stride * element_bytes,
                     long_index_t(ld) * element_bytes, along_k ? rows : g.k, along_k ? g.k : rows};
    };
    const operand next_a = in_lines(g.a, lds.a.k_is_contiguous, g.m, g.lda, g.batch_stride_a),
                  next_b = in_lines(g.b, lds.b.k_is_contiguous, g.n, g.ldb, g.batch_stride_b);
    if (next_a.data != a.data || next_b.data != b.data) finish_all();
    a = next_a, b = next_b;
  }

  /// Issues the copies of the warp's groups of a k tile, and finishes those before them.
  TILEWRIGHT_HD void fill(index_t m0, index_t n0, index_t k0) {
    TILEWRIGHT_UNROLL(1)
    for (; issued.group < groups_of_stage; issued.group += warps) {
      constexpr index_t k = Block::tile_k, columns = 128 / element_bytes;
      const bool is_b = issued.group >= groups_of_a, along_k = is_b ? lds.b.k_is_contiguous : lds.a.k_is_contiguous;
      const index_t row0 = is_b ? n0 : m0, line = (issued.group - (is_b ? groups_of_a : 0)) * group;
      const index_t box = along_k ? 0 : divide(line, k);  // which has a line for each k, and some columns
      issue(operand_of(issued.group), (along_k ? row0 : k0) + line - box * k, along_k ? k0 : row0 + box * columns);
      if (issued.count - finished.count < slots) continue;
      exec::async_wait_groups<slots - 1>();
      finish();
    }
    issued.group -= groups_of_stage;
  }
  TILEWRIGHT_HD void finish_all() {
    exec::async_wait_groups<0>();
    TILEWRIGHT_UNROLL(1)
    while (finished.count < issued.count) finish();
  }

  /// Starts the copies of a group of lines from `first` on, from element x of each.
  TILEWRIGHT_HD void issue(const operand& o, index_t first, index_t x) {
    const exec::lds_pointer to = slot(issued.count++);
    const index_t lane = exec::lane_id(), lines = o.lines - first,
                  bytes = min(o.length - x, 2 * line_bytes) * element_bytes;  // of each line
    const char* const data = o.data + (first * o.pitch + x * long_index_t(element_bytes));
    const auto copy = [&](index_t line, index_t number, const char* from, auto is_whole) TILEWRIGHT_INLINE_LAMBDA {
      const index_t before = index_t(reinterpret_cast<unsigned long long>(from) % 16);
      index_t size = 16;
      if constexpr (!is_whole.value) {
        if (number == 8 && before == 0) size = 0;  // beyond the line
        size = line < lines ? max(min(bytes + before - number * 16, size), 0) : 0;
      }
      exec::async_load_first_bytes<16>(size > 0 ? from - before + number * 16 : o.data, size, to,
                                       line * line_bytes + number * 16);
    };
    const auto copy_all = [&](auto is_whole) TILEWRIGHT_INLINE_LAMBDA {
      constexpr index_t at_once = group / 4;
      const index_t line = lane / 8 * at_once;
      const char* from = data + line * o.pitch;
      TILEWRIGHT_UNROLL_ALL
      for (index_t j = 0; j < at_once; ++j, from += o.pitch) copy(line + j, lane % 8, from, is_whole);
      if (lane < group) copy(lane, 8, data + lane * o.pitch, is_whole);
    };
    if (lines >= group && bytes >= line_bytes)
      copy_all(bool_constant<true>{});
    else
      copy_all(bool_constant<false>{});
    exec::async_end_group();
  }

  /// Moves the oldest group of lines, which has arrived, to its stage: a lane moves half a line.
  TILEWRIGHT_HD void finish() {
    const index_t lane = exec::lane_id(), line = lane / 2, number = lane % 2 * 4;
    const operand o = operand_of(finished.group);
    const exec::lds_pointer from = slot(finished.count++) + (line * line_bytes + number * 16),
                            to = block_lds + (at.stage * lds.stage_bytes() + (finished.group * group + line) * 128);
    pipeline.producer_acquire(at);
    exec::wave_sync();
    // Tiles begin at multiples of 16 bytes and 16 lines.
    const unsigned start = unsigned(reinterpret_cast<unsigned long long>(o.data)) + unsigned(o.pitch) * unsigned(line);
    vector v[5];
    TILEWRIGHT_UNROLL_ALL
    for (index_t j = 0; j < 5; ++j) v[j] = exec::lds_load<vector>(from, j * 16);
    TILEWRIGHT_UNROLL_ALL
    for (index_t j = 0; j < 4; ++j)
      exec::lds_store(to, ((number + j) ^ line % 8) * 16,
                      exec::shift_bytes<element_bytes>(v[j], v[j + 1], index_t(start % 16)));
    exec::wave_sync();  // the slot is free, and the lines are in the stage
    if (lane == 0) pipeline.producer_commit(at);
    finished.group += warps;
    if (finished.group < groups_of_stage) return;
    finished.group -= groups_of_stage;
    at.advance();
  }
};

}  // namespace tilewright::detail
#endif
