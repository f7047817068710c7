// SPDX-License-Identifier: MIT
// Role load where a table names the rows of A: lanes copy them by cp.async, and one of them loads B by TMA.
#pragma once

#include <tilewright/kernels/gemm/grouped/detail/gathered_row.hpp>
#include <tilewright/kernels/gemm/hopper/tma_producer.hpp>

#if TILEWRIGHT_HOPPER_PASS
namespace tilewright::detail {

/// An operand_pipeline whose A is copied by the lanes of `warps` warps, and whose B one of them loads:
///
///   lane 0    | acquire: wait empty(s) | TMA loads of B -> s       | one arrival, and its bytes  -> full(s)
///   all lanes |          wait empty(s) | cp.async of A's rows -> s | an arrival when they end    -> full(s)
///   mma       |                                                    | wait full(s), fence | wgmma | release(s)
template <class Block>
struct gathered_operand_pipeline : operand_pipeline<Block> {
  using base = operand_pipeline<Block>;
  using base::base;
  static constexpr index_t warps = 2;

  TILEWRIGHT_HD void init(const typename Block::device_args&) const {
    mbarrier_pipeline<Block::num_stages>::init(1 + 32 * warps, Block::tile.consumers_per_tile() * base::sharing_blocks);
  }
  /// Consumers fence, so that wgmma sees what cp.async wrote.
  TILEWRIGHT_HD void consumer_wait(const typename base::state& at) const {
    base::consumer_wait(at);
    exec::fence_async_proxy();
  }
};

template <class Block>
struct gathered_producer {
  using pipeline_type = typename Block::roles::pipeline;
  using work_type = typename Block::work_type;
  static constexpr hopper_gemm_lds lds = Block::lds;
  // A lane copies one vector of 16 bytes of each of `rows` rows.
  static constexpr index_t warps = pipeline_type::warps, vectors = wgmma_operand::row_bytes / 16,
                           rows_at_once = warps * 32 / vectors, rows = lds.a.rows / rows_at_once,
                           element_bytes = lds.a.element_bytes;
  static_assert(lds.a.num_boxes() == 1 && rows_at_once == 8 && Block::tile.cluster_n == 1 && !Block::tile.swap_ab,
                "gathered_producer: A's rows are contiguous along k, and blocks of a cluster do not share A");

  const typename Block::device_args& args;
  pipeline_type pipeline;
  exec::lds_pointer block_lds;
  index_t thread;  // of the role

  TILEWRIGHT_HD gathered_producer(const typename Block::device_args& a, const pipeline_type& p, exec::lds_pointer l,
                                  index_t warp)
      : args(a), pipeline(p), block_lds(l), thread(warp * 32 + exec::lane_id()) {}
  TILEWRIGHT_HD static void prefetch(const typename Block::device_args& args) {
    exec::prefetch(args.b[0]);
    exec::prefetch(args.b[Block::tile.products - 1]);
    exec::prefetch(args.c);
  }

  TILEWRIGHT_HD void operator()(typename Block::roles::scheduler tiles) const {
    typename pipeline_type::state at;
    alternating_k order;
    exec::grid_dependency_wait();
    for (work_type work; tiles.next(work);) {
      if (work.is_empty()) continue;
      const array<unsigned, rows> from = find_rows(work);
      TILEWRIGHT_UNROLL(1)
      for (index_t k = work.k_begin; k < work.k_end; ++k, at.advance()) {
        const index_t k0 = order(work, k) * Block::tile_k;
        pipeline.producer_acquire(at);
        if (thread == 0) {
          pipeline.full(at.stage).arrive_and_expect(lds.b.bytes());
          pipeline.load_b(at.stage, pipeline.full(at.stage), args.b, work, k0);
        }
        copy_rows(from, at.stage, k0);
        pipeline.full(at.stage).arrive_after_copies();
      }
      order.turn_around();
    }
  }

 private:
  static constexpr unsigned no_row = ~0u;
  TILEWRIGHT_HD index_t row() const { return divide(thread, vectors); }
  TILEWRIGHT_HD index_t vector() const { return modulo(thread, vectors); }

  /// Where the lane's rows begin, in vectors from the first row on.
  TILEWRIGHT_HD array<unsigned, rows> find_rows(const work_type& work) const {
    const auto& g = args.args;
    const unsigned pitch = unsigned(long_index_t(g.lda) * element_bytes / 16);
    array<unsigned, rows> from;
    TILEWRIGHT_UNROLL_ALL
    for (index_t i = 0; i < rows; ++i) {
      const index_t m = work.m0 + row() + i * rows_at_once;
      const unsigned token =
          m < work.end_row ? unsigned(token_of(exec::load_element(g.source + m), g.choices)) : no_row;
      from[i] = token < unsigned(g.tokens) ? token * pitch : no_row;
    }
    return from;
  }
  /// Starts the copies of a k tile: vector v of row r becomes vector v ^ r % 8, as TMA swizzles; zeros beyond k.
  TILEWRIGHT_HD void copy_rows(const array<unsigned, rows>& from, index_t stage, index_t k0) const {
    const auto* const data = static_cast<const char*>(args.args.a);
    const index_t bytes = max(min((args.args.k - k0) * element_bytes - vector() * 16, 16), 0);
    const auto* const first = data + (k0 * element_bytes + vector() * 16);
    const index_t to =
        Block::regions.stages + stage * lds.stage_bytes() + row() * wgmma_operand::row_bytes + (vector() ^ row()) * 16;
    TILEWRIGHT_UNROLL_ALL
    for (index_t i = 0; i < rows; ++i) {
      const bool exists = from[i] != no_row && bytes > 0;
      exec::async_load_first_bytes<16>(exists ? first + from[i] * 16ull : data, exists ? bytes : 0, block_lds,
                                       to + i * rows_at_once * wgmma_operand::row_bytes);
    }
  }
};

}  // namespace tilewright::detail
#endif
