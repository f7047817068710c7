// SPDX-License-Identifier: MIT
// Block-scaled operands: the role that loads scales, and the consumer's loop over k, which applies them.
#pragma once

#include <tilewright/kernels/gemm/hopper/tma_producer.hpp>
#include <tilewright/kernels/gemm/hopper/wgmma_mainloop.hpp>
#include <tilewright/kernels/gemm/scaled/block_scales.hpp>

#if TILEWRIGHT_HOPPER_PASS
namespace tilewright::detail {

/// An operand_pipeline whose stages have scales, too: they are full once those have arrived. Each of a consumer's four
/// warps reads scales of its own and releases them.
template <class Block>
struct scaled_operand_pipeline : operand_pipeline<Block> {
  using base = operand_pipeline<Block>;
  using base::base;

  TILEWRIGHT_HD void init(const typename Block::device_args& args) const {
    mbarrier_pipeline<Block::num_stages>::init(
        1 + args.loads_scales_by_tma + args.scale_arrivals(scale_columns(Block::tile.n)),
        Block::tile.consumers_per_tile() * 4 * base::sharing_blocks);
  }
  /// The last lanes of a warp release, which racecheck takes for those that read what all lanes read.
  TILEWRIGHT_HD index_t release_rank(index_t thread) const { return base::release_rank(31 - modulo(thread, 32)); }
};

/// One warp loads the scales of each stage to LDS: those of A by TMA or some rows by each lane, where row m0 is number
/// m0 % 4; those of B by the first lanes.
template <class Block>
struct scale_loader {
  static constexpr bool is_present = true;
  static constexpr index_t rows = scale_rows(Block::tile.m),
                           blocks = scale_columns(Block::tile.n);  // along n
  using pipeline_type = typename Block::roles::pipeline;

  const typename Block::device_args& device;
  pipeline_type pipeline;
  exec::lds_pointer scales;  // of the first stage

  TILEWRIGHT_HD scale_loader(const typename Block::device_args& d, const pipeline_type& p, exec::lds_pointer lds)
      : device(d), pipeline(p), scales(lds + Block::regions.scales) {}

  TILEWRIGHT_HD void operator()(typename Block::roles::scheduler tiles) const {
    exec::grid_dependency_wait();
    typename pipeline_type::state at;
    alternating_k order;
    for (typename Block::work_type work; tiles.next(work);) {
      if (work.is_empty()) continue;
      const index_t a_batch = Block::groups == group_kind::none ? work.tile.batch : 0;
      TILEWRIGHT_UNROLL(1)
      for (index_t k = work.k_begin; k < work.k_end; ++k, at.advance()) load(at, work, a_batch, order(work, k));
      order.turn_around();
    }
  }

 private:
  /// The scales of k tile k_block, once the stage is empty. What is outside of C is not stored: any scale will do.
  TILEWRIGHT_HD void load(const typename pipeline_type::state& at, const typename Block::work_type& work,
                          index_t a_batch, index_t k_block) const {
    const block_scaled_args& args = device.args;
    constexpr index_t stage_bytes = Block::lds.scale_bytes;
    const index_t lane = exec::lane_id(), skipped = modulo(work.m0, 4), to = at.stage * stage_bytes + lane * 4;
    const auto one = [](const float* from)
                         TILEWRIGHT_INLINE_LAMBDA { return exec::walking_buffer(exec::make_global_buffer(from, 4)); };
    const float* const a =
        args.a_scales + a_batch * args.batch_stride_a_scales + long_index_t(k_block) * args.k_stride_a_scales;
    const exec::mbarrier full = pipeline.full(at.stage);
    pipeline.producer_acquire(at);
    if (device.loads_scales_by_tma && lane == 0) {
      full.arrive_and_expect(rows * 4);
      exec::tma_load(exec::lds_address(scales) + unsigned(at.stage * stage_bytes), device.a_scales, full,
                     work.m0 - skipped, k_block, a_batch);
    }
    for (index_t i = 0; i < Block::tile.m && !device.loads_scales_by_tma; i += 32)
      exec::async_load_in_group<4>(
          one(a + long_index_t(min(work.m0 + lane + i, args.m - 1)) * args.row_stride_a_scales), 0, scales,
          to + (skipped + i) * 4);
    if (lane < blocks) {
      const index_t column = min(divide(work.n0, scale_block) + lane, divide(args.n - 1, scale_block));
      const float* const b = args.b_scales + work.tile.batch * args.batch_stride_b_scales +
                             long_index_t(column) * args.ld_b_scales + k_block;
      exec::async_load_in_group<4>(one(b), 0, scales, to + rows * 4);
    }
    if (lane < device.scale_arrivals(blocks)) full.arrive_after_copies();
  }
};

/// One consumer and one tile of C: multiplies stage by stage, one slice of columns after the other, and adds products
/// times scales to c. There are registers for the products of two slices: the tensor cores compute one while the other
/// one is added. The last columns of a slice may be in the next block of 128.
template <class Block>
struct scaled_multiply {
  static constexpr block_tile tile = Block::tiles;
  static constexpr index_t slice_n = scaled_slice(tile.n), slices = tile.n / slice_n;
  static constexpr bool crosses_blocks = scale_block % slice_n != 0;
  static_assert(tile.k == scale_block && tile.n % 16 == 0 && slice_n <= scale_block && Block::tile.repeat_m() == 1,
                "block_scaled: a tile of wgmma has 64 rows for each consumer, 128 of k, and columns in a multiple of "
                "16 up to 128, or 144, 160, 192, 240 or 256");
  static constexpr block_tile slice{tile.m, slice_n, tile.k, tile.waves_m, tile.waves_n, tile.op};
  using products_type = static_distributed_tensor<float, c_distribution<slice>>;
  template <index_t N>
  using scales_of_columns =
      block_scales<tile_distribution<number<wave_tile_encoding(N / 16, arch::describe(tile.op).c)>::value>,
                   slices*(crosses_blocks ? 2 : 1)>;
  using scales_type = scales_of_columns<slice.n>;
  using values = typename scales_type::values;  // of B: of each slice's first columns; then of their last ones
  using pipeline_type = typename Block::roles::pipeline;
  static constexpr wgmma_operand a_operand = Block::lds.a, b_operand{slice.n, Block::lds.b.element_bytes, true};

  const pipeline_type& pipeline;
  exec::lds_pointer block_lds;
  typename Block::accumulators& c;
  index_t consumer, release_rank;
  multi_index<2> origin;           // of the tile
  products_type products[2] = {};  // of two slices
  values scales[2] = {};           // of two stages
  index_t pending = -1;            // the stage before this one, until it is released

  /// Starts products of slice P of a stage.
  template <index_t P>
  TILEWRIGHT_HD void start(products_type& to, index_t stage) const {
    const wgmma_tile_in_lds<a_operand> a{pipeline.a(stage) + unsigned(consumer * 64 * a_operand.row_bytes)};
    const wgmma_tile_in_lds<b_operand> b{pipeline.b(stage) + unsigned(P * b_operand.bytes())};
    block_gemm<slice, typename Block::element_type>(to, a, b, false);
  }
  /// Adds slice P, whose products are complete.
  template <index_t P>
  TILEWRIGHT_HD void add(products_type& from, const values& v) const {
    unroll<products_type::num_elements>([&](auto i)
                                            TILEWRIGHT_INLINE_LAMBDA { exec::fence_operand(from.thread_buffer[i]); });
    if constexpr (crosses_blocks) {
      using columns = scales_of_columns<16>;
      constexpr index_t registers = products_type::num_elements * 16 / slice_n;
      const index_t in_block = modulo(origin[1] + P * slice_n, scale_block);
      unroll<slice_n / 16>([&](auto i) TILEWRIGHT_INLINE_LAMBDA {
        columns::add(c.thread_buffer.data() + P * products_type::num_elements + i * registers,
                     from.thread_buffer.data() + i * registers, {v.a, {}},
                     in_block + i * 16 < scale_block ? v.b[P] : v.b[slices + P]);
      });
    } else {
      scales_type::template add<P>(c.thread_buffer.data(), from.thread_buffer.data(), v);
    }
  }
  /// The scales of a stage: those of the warp's 16 rows.
  TILEWRIGHT_HD values scales_of(index_t stage) const {
    constexpr hopper_gemm_lds lds = Block::lds;
    const exec::lds_pointer begin = block_lds + (Block::regions.scales + stage * lds.scale_bytes);
    values v =
        scales_type::load_rows(begin + (modulo(origin[0], 4) + consumer * 64 + modulo(exec::wave_id(), 4) * 16) * 4);
    const index_t skipped = tile.n % scale_block == 0 ? 0 : modulo(origin[1], scale_block);  // of the first block
    const auto b_of = [&](index_t column) TILEWRIGHT_INLINE_LAMBDA {
      return exec::lds_load<float>(begin, (scale_rows(tile.m) + divide(skipped + column, scale_block)) * 4);
    };
    for (index_t p = 0; p < slices; ++p) {
      v.b[p] = b_of(p * slice_n);
      if constexpr (crosses_blocks) v.b[slices + p] = b_of((p + 1) * slice_n - 1);
    }
    return v;
  }

  /// The warp has read a stage's operands and scales.
  TILEWRIGHT_HD void release(index_t stage) const {
    exec::wave_sync();
    pipeline.consumer_release(stage, release_rank);
  }

  /// Multiplies a stage, which is full; Nth: 0 and 1 alternate. With two slices:
  ///
  ///   tensor cores | A B of slice 0              | A B of slice 1    | A B of slice 0, next stage
  ///   warps        | add slice 1 of stage before, scales of next    | add slice 0       | add slice 1
  ///
  /// Before the first stage zeros are added: a branch would make the compiler wait for all products. The scales of
  /// `next`, the stage after it, or again this one, are read early: LDS is busy with what wgmma reads.
  template <index_t Nth>
  TILEWRIGHT_HD void step(number<Nth>, index_t stage, const typename pipeline_type::state& next) {
    unroll<slices>([&](auto p) TILEWRIGHT_INLINE_LAMBDA {
      constexpr index_t buffer = (Nth * slices + p.value) % 2;
      start<p.value>(products[buffer], stage);
      exec::wgmma_wait<1>();
      if constexpr (p.value == 0) {
        if (pending >= 0) release(pending);
        add<slices - 1>(products[1 - buffer], scales[1 - Nth]);
        pipeline.consumer_wait(next);
        scales[1 - Nth] = scales_of(next.stage);
      } else {
        add<p.value - 1>(products[1 - buffer], scales[Nth]);
      }
    });
    pending = stage;
  }
  /// After the last step.
  template <index_t Nth>
  TILEWRIGHT_HD void finish(number<Nth>) {
    exec::wgmma_wait<0>();
    release(pending);
    add<slices - 1>(products[(Nth * slices + slices - 1) % 2], scales[Nth]);
  }
};

/// The loop over k for block-scaled operands, instead of wgmma_mainloop's.
template <class Block>
struct block_scaled_mainloop : wgmma_mainloop<Block> {
  using base = wgmma_mainloop<Block>;
  using pipeline_type = typename base::pipeline_type;
  using work_type = typename Block::work_type;
  using accumulators = typename Block::accumulators;
  using base::at, base::order, base::pipeline, base::release_rank, base::row;

  exec::lds_pointer lds;

  TILEWRIGHT_HD block_scaled_mainloop(const typename Block::device_args& a, const pipeline_type& p, exec::lds_pointer l,
                                      index_t c)
      : base(a, p, l, c), lds(l) {}

  /// c (m, n) = sum over k tiles of a_scales (m) b_scales (n / 128) A (m, k) B (n, k)^T.
  template <class Epilogue>
  TILEWRIGHT_HD void operator()(accumulators& c, const work_type& work, Epilogue&) {
    clear_tile(c);  // also where rows are skipped: else c would be live from tile to tile, and registers would spill
    if (work.has_rows(work.m0 + row * 64))
      multiply(c, work);
    else
      skip(work);
    order.arrive();
    base::wait(c);
  }

 private:
  TILEWRIGHT_HD void multiply(accumulators& c, const work_type& work) {
    scaled_multiply<Block> tile{pipeline, lds, c, row, release_rank, {{work.m0, work.n0}}};
    const auto step = [&](auto parity, index_t k) TILEWRIGHT_INLINE_LAMBDA {
      if (order.is_due(k)) order.wait();
      const typename pipeline_type::state now = at;
      at.advance();
      const bool more = k + 1 < work.k_end;
      tile.step(parity, now.stage, {more ? at.stage : now.stage, more ? at.phase : now.phase});
    };
    pipeline.consumer_wait(at);
    tile.scales[0] = tile.scales_of(at.stage);
    TILEWRIGHT_UNROLL(1)
    for (index_t k = work.k_begin;; k += 2) {
      step(number<0>{}, k);
      if (k + 1 == work.k_end) return tile.finish(number<0>{});
      step(number<1>{}, k + 1);
      if (k + 2 == work.k_end) return tile.finish(number<1>{});
    }
  }
  /// Of rows that do not exist.
  TILEWRIGHT_HD void skip(const work_type& work) {
    TILEWRIGHT_UNROLL(1)
    for (index_t k = work.k_begin; k < work.k_end; ++k, at.advance()) {
      if (order.is_due(k)) order.wait();
      pipeline.consumer_wait(at);
      pipeline.consumer_release(at.stage, release_rank);
    }
  }
};

}  // namespace tilewright::detail
#endif
