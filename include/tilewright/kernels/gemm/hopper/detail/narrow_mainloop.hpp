// SPDX-License-Identifier: MIT
// Narrow weights: the stages that TMA fills with them as stored, the role that loads their scales, and the consumer's
// loop over k, which decodes them to wgmma's operand A in registers.
#pragma once

#include <tilewright/kernels/gemm/hopper/detail/narrow_operand.hpp>
#include <tilewright/kernels/gemm/hopper/tma_producer.hpp>
#include <tilewright/kernels/gemm/hopper/wgmma_mainloop.hpp>

namespace tilewright::detail {

template <class Block>
struct narrow_operand_pipeline;
template <class Block>
struct narrow_scale_loader;
template <class Block>
struct narrow_mainloop;

#if TILEWRIGHT_HOPPER_PASS

/// Stages of weights (m, k) as stored, their scales, and B (n, k). Each of a consumer's four warps reads weights of its
/// own and releases them.
template <class Block>
struct narrow_operand_pipeline : operand_pipeline<Block> {
  using base = operand_pipeline<Block>;
  using base::base;
  using base::tile;
  static constexpr narrow_operand weights = Block::weights;

  TILEWRIGHT_HD void init(const typename Block::device_args&) const {
    mbarrier_pipeline<Block::num_stages>::init(weights.groups() > 0 ? 1 + 32 : 1,
                                               tile.consumers_per_tile() * 4 * base::sharing_blocks);
  }
  TILEWRIGHT_HD index_t release_rank(index_t thread) const { return base::release_rank(31 - modulo(thread, 32)); }

  /// A warp has read the stage.
  TILEWRIGHT_HD void consumer_release(index_t stage, index_t to_rank) const {
    exec::wave_sync();
    base::consumer_release(stage, to_rank);
  }

  /// One thread: as operand_pipeline's.
  template <class Map, class BMaps>
  TILEWRIGHT_HD void load(const typename base::state& at, const tma_tensor<Map>& from, const BMaps& b_maps,
                          const typename Block::work_type& work, index_t k0) const {
    constexpr narrow_operand w = weights;
    const exec::mbarrier loaded = base::producer_acquire(at, w.rows * w.row_bytes() + base::lds.b.bytes());
    exec::tma_load(base::a(at.stage), from.map, loaded, divide(k0 * w.bits, 8), work.m0, from.z);
    base::load_b(at.stage, loaded, b_maps, work, k0);
  }
};

/// Role assist: a warp that copies the scales and zero points of each stage to LDS, a piece for each row; element by
/// element where pieces are unaligned, or where a row's groups end within one.
template <class Block>
struct narrow_scale_loader {
  static constexpr bool is_present = true;
  static constexpr narrow_operand weights = Block::weights;
  using pipeline_type = typename Block::roles::pipeline;

  const typename Block::device_args& device;
  pipeline_type pipeline;
  exec::lds_pointer stages;

  TILEWRIGHT_HD narrow_scale_loader(const typename Block::device_args& d, const pipeline_type& p, exec::lds_pointer lds)
      : device(d), pipeline(p), stages(lds + Block::regions.stages) {}

  TILEWRIGHT_HD void operator()(typename Block::roles::scheduler tiles) const {
    constexpr narrow_operand w = weights;
    exec::grid_dependency_wait();
    typename pipeline_type::state at;
    alternating_k order;
    for (typename Block::work_type work; tiles.next(work);) {
      if (work.is_empty()) continue;
      TILEWRIGHT_UNROLL(1)
      for (index_t k = work.k_begin; k < work.k_end; ++k, at.advance())
        load(at, work, w.first_group(order(work, k) * w.k));
      order.turn_around();
    }
  }

 private:
  TILEWRIGHT_HD void load(const typename pipeline_type::state& at, const typename Block::work_type& work,
                          index_t first_group) const {
    constexpr narrow_operand w = weights;
    constexpr hopper_gemm_lds lds = Block::lds;
    const auto& args = device.args;
    const long_index_t batch = work.a_z * args.batch_stride_b_scales;
    const exec::lds_pointer to = stages + at.stage * lds.stage_bytes();
    const index_t end = max(w.scales().end_of_piece(first_group), w.zeros().end_of_piece(first_group));
    const bool whole_pieces = device.copies_pieces && end <= device.scales_of_column;
    pipeline.producer_acquire(at);
    copy<w.scales(), typename Block::b_format::scale_type>(to + w.scales_offset(), args.b_scales, batch, work.m0,
                                                           first_group, whole_pieces);
    if constexpr (w.zero_bytes > 0)
      copy<w.zeros(), typename Block::b_format::zero_type>(to + w.zeros_offset(), args.b_zeros, batch, work.m0,
                                                           first_group, whole_pieces);
    const exec::mbarrier full = pipeline.full(at.stage);
    if (whole_pieces)
      full.arrive_after_copies();
    else
      full.arrive();
  }
  /// The pieces of rows [m0, m0 + rows); what is outside of W is not stored: any scale will do. After the last group
  /// they are 0: there weights are multiplied by zeros.
  template <group_pieces Pieces, class E>
  TILEWRIGHT_HD void copy(exec::lds_pointer to, const void* from, long_index_t batch, index_t m0, index_t first_group,
                          bool whole_pieces) const {
    constexpr index_t bytes = Pieces.piece_bytes();
    const index_t skipped = Pieces.skipped_bytes(first_group), lane = exec::lane_id();
    for (index_t i = lane; i < weights.rows; i += 32) {
      const E* const row = static_cast<const E*>(from) + batch +
                           long_index_t(min(m0 + i, device.args.n - 1)) * device.args.ld_b_scales + first_group;
      if (whole_pieces) {
        const char* const piece = reinterpret_cast<const char*>(row) - skipped;
        exec::async_load_in_group<bytes>(exec::walking_buffer(exec::make_global_buffer(piece, bytes)), 0, to,
                                         i * bytes);
      } else {
        for (index_t g = 0; g < Pieces.groups; ++g)
          exec::lds_store(
              to, i * bytes + skipped + g * index_t(sizeof(E)),
              exec::buffer_load<E>(exec::make_global_buffer(row, (device.scales_of_column - first_group) * sizeof(E)),
                                   g * index_t(sizeof(E))));
      }
    }
  }
};

/// A consumer decodes the next step_k elements of k while the tensor cores multiply the ones before:
///
///   tensor cores | step 0                              | step 1                              | step 2
///   warps        | load 1 | issue 0 | wait -1 | decode 1 | load 2 | issue 1 | wait 0 | decode 2 | load 3 | issue 2 ...
///
/// There are registers for the operands of two steps: those of a step are written once the one before the last has been
/// multiplied. The first step of a stage is loaded after the wait: its stage may still be on its way.
template <class Block>
struct narrow_mainloop : wgmma_mainloop<Block> {
  using base = wgmma_mainloop<Block>;
  using base::at, base::order, base::pipeline, base::tile;
  using typename base::accumulators;
  using typename base::pipeline_type;
  using typename base::work_type;
  static constexpr narrow_operand weights = Block::weights;
  static constexpr wgmma_operand b = Block::lds.b;
  using T = typename Block::element_type;
  using fragments = narrow_fragments<Block::weights, typename Block::b_format, T, Block::tile.repeat_m(),
                                     64 * Block::tile.consumers_per_tile()>;
  static constexpr index_t steps = weights.k / weights.step_k;

  exec::lds_pointer stages;
  index_t first_row;           // of the lane
  alternating_k k_order = {};  // as the producer has it

  TILEWRIGHT_HD narrow_mainloop(const typename Block::device_args& a, const pipeline_type& p, exec::lds_pointer lds,
                                index_t c)
      : base(a, p, lds, c),
        stages(lds + Block::regions.stages),
        first_row(base::row * 64 + modulo(exec::wave_id(), 4) * 16 + divide(exec::lane_id(), 4)) {}

  /// c (m, n) = W (m, k) B (n, k)^T over the k of a work tile.
  template <class Epilogue>
  TILEWRIGHT_HD void operator()(accumulators& c, const work_type& work, Epilogue&) {
    fragments a[2];
    typename fragments::raw next;
    const auto decode = decoder_of(work);
    index_t k = work.k_begin;
    pipeline.consumer_wait(at);  // W (m, k), its scales and B (n, k) of this k tile are in LDS
    load(next, work, k, 0);
    decode(a[0], next);
    // Step P % steps of a k tile; false: it was the last of the work tile.
    const auto multiply = [&](auto p) TILEWRIGHT_INLINE_LAMBDA {
      constexpr index_t step = p % steps;
      if constexpr (step + 1 < steps) load(next, work, k, step + 1);
      if (step == 0 && order.is_due(k)) base::wait_in_order();
      issue<step>(c, a[p % 2], step > 0 || k > work.k_begin);  // c (m, n) += W B^T
      exec::wgmma_wait<1>();                                   // the step before has been multiplied
      if constexpr (step == 0) base::release_previous();
      if constexpr (step + 1 == steps) {
        base::unreleased = base::at.stage;  // g++ 12 finds no names of a using declaration here
        base::at.advance();
        if (++k == work.k_end) return false;
        base::pipeline.consumer_wait(base::at);
        load(next, work, k, 0);
      }
      decode(a[1 - p % 2], next);
      return true;
    };
    TILEWRIGHT_UNROLL(1)
    while (multiply_all(multiply, make_sequence<max(steps, 2)>{})) {
    }
    k_order.turn_around();
    order.arrive();
    base::wait(c);
    if constexpr (weights.group == 0 || fragments::is_fp8) scale_rows(c, work, decode);
  }

 private:
  /// Of elements of 16 bits.
  struct plain_decoder {
    TILEWRIGHT_HD void operator()(fragments& to, const typename fragments::raw& from) const { to.decode(from); }
  };
  /// Of e4m3.
  struct fp8_decoder {
    e2m1_tables tables;
    typename fragments::row_exponents largest;

    TILEWRIGHT_HD void operator()(fragments& to, const typename fragments::raw& from) const {
      to.decode(from, tables, largest);
    }
  };
  TILEWRIGHT_HD auto decoder_of(const work_type& work) const {
    if constexpr (fragments::is_fp8)
      return fp8_decoder{{}, largest_exponents(work)};
    else
      return plain_decoder{};
  }

  /// Row `i` of the lane's, of W.
  TILEWRIGHT_HD index_t row_of(const work_type& work, index_t i) const {
    return min(work.m0 + first_row + i / 2 * (64 * tile.consumers_per_tile()) + i % 2 * 8, base::args.args.n - 1);
  }
  TILEWRIGHT_HD const typename Block::b_format::scale_type* scales_of(const work_type& work, index_t i) const {
    const auto& g = base::args.args;
    return static_cast<const typename Block::b_format::scale_type*>(g.b_scales) + work.a_z * g.batch_stride_b_scales +
           long_index_t(row_of(work, i)) * g.ld_b_scales;
  }
  /// The largest scales of the lane's rows over the k of a work tile, or some more. Each of the four lanes of a row
  /// reads every fourth piece of four.
  TILEWRIGHT_HD auto largest_exponents(const work_type& work) const {
    constexpr narrow_operand w = weights;
    typename fragments::row_exponents largest{};
    const index_t end = min(ceil_div(work.k_end * w.k, max(w.group, 1)), base::args.scales_of_column);
    for (index_t g = (w.first_group(work.k_begin * w.k) & -4) + modulo(exec::lane_id(), 4) * 4; g < end; g += 16)
      unroll<fragments::rows>([&](auto i) TILEWRIGHT_INLINE_LAMBDA {
        const auto scales = exec::make_global_buffer(scales_of(work, i), end);
        unsigned four = 0;
        if (base::args.copies_pieces && g + 4 <= end)
          four = exec::buffer_load<unsigned>(scales, g);
        else
          for (index_t j = 0; j < 4; ++j) four |= unsigned(exec::buffer_load<unsigned char>(scales, g + j)) << 8 * j;
        for (index_t j = 0; j < 4; ++j) largest[i] = max(largest[i], index_t(four >> 8 * j & 0xff));
      });
    for (index_t& e : largest.elements) {
      e = max(e, exec::shuffle_xor<1>(e));
      e = max(e, exec::shuffle_xor<2>(e));
    }
    return largest;
  }

  template <class Multiply, index_t... P>
  TILEWRIGHT_HD static bool multiply_all(const Multiply& multiply, sequence<P...>) {
    return (multiply(number<P>{}) && ...);
  }
  TILEWRIGHT_HD void load(typename fragments::raw& to, const work_type& work, index_t k, index_t step) const {
    constexpr hopper_gemm_lds lds = Block::lds;
    constexpr narrow_operand w = weights;
    to.load(stages + at.stage * lds.stage_bytes(), first_row, step, w.first_group(k_order(work, k) * w.k));
  }
  /// Starts the MMAs of a step.
  template <index_t Step>
  TILEWRIGHT_HD void issue(accumulators& c, const fragments& a, bool accumulate) const {
    constexpr index_t repeat = tile.repeat_m(), n = tile.n, instructions = weights.step_k / fragments::instruction_k,
                      first = Step * instructions;
    constexpr auto fields = b.descriptor_fields();  // else NVRTC's code would compute them here
    const unsigned long long b_begin = wgmma_descriptor(fields, pipeline.b(at.stage));
    exec::wgmma_fence();
    unroll<instructions * repeat>([&](auto j) TILEWRIGHT_INLINE_LAMBDA {
      constexpr index_t i = j / repeat;
      exec::wgmma<n, T, !b.k_is_contiguous>(c.thread_buffer.data() + j % repeat * (n / 2), a.words.data() + 4 * j,
                                            b_begin + b.instruction_bytes(first + i) / 16, accumulate || i > 0);
    });
    exec::wgmma_commit();
  }
  /// Multiplies each row of W's accumulators by its scale.
  template <class Decoder>
  TILEWRIGHT_HD void scale_rows(accumulators& c, const work_type& work, const Decoder& decoder) const {
    unroll<fragments::rows>([&](auto i) TILEWRIGHT_INLINE_LAMBDA {
      constexpr index_t half = i % 2, first = i / 2 * tile.n / 2;
      float scale;
      if constexpr (fragments::is_fp8)
        scale = float(e8m0_t::from_bits(static_cast<unsigned char>(decoder.largest[i]))) * e2m1_tables::largest;
      else
        scale = scale_of_pairs<typename Block::b_format, T>(*scales_of(work, i));
      for (index_t j = 0; j < tile.n / 2; ++j)
        if (j / 2 % 2 == half) c.thread_buffer[first + j] *= scale;
    });
  }
};

#endif

}  // namespace tilewright::detail
