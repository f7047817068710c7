// SPDX-License-Identifier: MIT
// The stages of A and B in LDS: TMA loads with multicast fill them, wgmma reads them.
#pragma once

#include <tilewright/block/mma/wgmma_gemm.hpp>
#include <tilewright/block/pipeline/mbarrier_pipeline.hpp>
#include <tilewright/kernels/gemm/hopper/hopper_gemm_plan.hpp>
#include <tilewright/machine/exec/hopper.hpp>

#if TILEWRIGHT_HOPPER_PASS
namespace tilewright::detail {

/// An mbarrier_pipeline whose stages have A (m, k) and B (n, k) of a k tile. In a cluster, a block loads a slice of
/// what it shares to all blocks that share it; so consumers release a stage in every block that writes to it.
template <class Block>
struct operand_pipeline : mbarrier_pipeline<Block::num_stages> {
  static constexpr hopper_gemm_tile tile = Block::tile;
  static constexpr hopper_gemm_lds lds = Block::lds;
  using base = mbarrier_pipeline<Block::num_stages>;
  using state = typename base::state;
  /// Blocks that release a stage: those that share B or A with this one.
  static constexpr index_t sharing_blocks = tile.cluster_m + tile.cluster_n - 1;

  unsigned stages;  // LDS address
  index_t rank;     // of the block in its cluster

  TILEWRIGHT_HD operand_pipeline(unsigned block_lds, index_t block_rank)
      : base{block_lds + Block::regions.barriers}, stages(block_lds + Block::regions.stages), rank(block_rank) {}

  TILEWRIGHT_HD index_t row() const {
    constexpr hopper_gemm_tile t = tile;
    return t.row_in_cluster(rank);
  }
  TILEWRIGHT_HD index_t col() const {
    constexpr hopper_gemm_tile t = tile;
    return t.col_in_cluster(rank);
  }
  TILEWRIGHT_HD unsigned a(index_t stage) const { return stages + stage * lds.stage_bytes(); }
  TILEWRIGHT_HD unsigned b(index_t stage) const { return a(stage) + lds.bytes_of_a(); }

  TILEWRIGHT_HD void init(const typename Block::device_args&) const {
    base::init(1, tile.consumers_per_tile() * sharing_blocks);
  }

  /// One thread: waits until the stage is empty, then starts the loads of the k tile from k0 on, with b_maps of each
  /// product.
  template <class AMap, class BMaps>
  TILEWRIGHT_HD void load(const state& at, const tma_tensor<AMap>& a_from, const BMaps& b_maps,
                          const typename Block::work_type& work, index_t k0) const {
    constexpr unsigned with_a = ((1u << tile.cluster()) - 1) / with_b;
    const exec::mbarrier loaded = base::producer_acquire(at, lds.stage_bytes());
    load_slice<lds.a, tile.cluster_n, tile.cluster_n>(a(at.stage), a_from, loaded, col(), with_a << row(), work.m0, k0);
    load_b(at.stage, loaded, b_maps, work, k0);
  }
  /// B's part of load(): of the stage whose barrier is `loaded`.
  template <class BMaps>
  TILEWRIGHT_HD void load_b(index_t stage, exec::mbarrier loaded, const BMaps& b_maps,
                            const typename Block::work_type& work, index_t k0) const {
    constexpr wgmma_operand b_operand = lds.b_of_product();
    unroll<tile.products>([&](auto p) TILEWRIGHT_INLINE_LAMBDA {
      const tma_tensor<remove_cvref_t<decltype(b_maps[p])>> b_from{b_maps[p], work.b_z};
      load_slice<b_operand, tile.cluster_m, tile.b_loaders()>(b(stage) + p * b_operand.bytes(), b_from, loaded, row(),
                                                              with_b << col() * tile.cluster_m, work.n0, k0);
    });
  }

  /// A consumer: starts c (m, n) (+)= A (m, k) B (n, k)^T for its 64 repeat_m() rows; the stage is full.
  TILEWRIGHT_HD void multiply(const state& at, index_t consumer, typename Block::accumulators& c,
                              bool accumulate) const {
    const wgmma_tile_in_lds<lds.a> a_tile{a(at.stage) + unsigned(consumer * 64 * lds.a.row_bytes)};
    const wgmma_tile_in_lds<lds.b> b_tile{b(at.stage)};
    block_gemm<Block::tiles, typename Block::element_type>(c, a_tile, b_tile, accumulate);
  }

  /// The rank of the block at which this thread of a consumer releases stages; -1: none.
  TILEWRIGHT_HD index_t release_rank(index_t thread) const {
    if (thread < tile.cluster_m) return col() * tile.cluster_m + thread;
    const index_t other = thread - tile.cluster_m;
    return other < tile.cluster_n - 1 ? (other + (other >= col())) * tile.cluster_m + row() : -1;
  }
  /// All threads of a consumer that has read the stage.
  TILEWRIGHT_HD void consumer_release(index_t stage, index_t to_rank) const {
    if (to_rank < 0) return;
    if constexpr (tile.cluster() > 1) {
      base::consumer_release_at(stage, to_rank);
    } else {
      base::consumer_release(stage);
    }
  }

 protected:
  // Bits of the blocks that share B with the first one; in load(), A.
  static constexpr unsigned with_b = (1u << tile.cluster_m) - 1;

  /// This block's slice of an operand, to all `Sharers` blocks that share it; where k is contiguous, the first
  /// `Loaders` of them have slices.
  template <wgmma_operand Operand, index_t Sharers, index_t Loaders, class Map>
  TILEWRIGHT_HD static void load_slice(unsigned to, const tma_tensor<Map>& from, exec::mbarrier loaded, index_t slice,
                                       unsigned blocks, index_t row0, index_t k0) {
    const auto copy = [&](unsigned address, index_t x, index_t y) TILEWRIGHT_INLINE_LAMBDA {
      if constexpr (Sharers > 1) {
        exec::tma_load_multicast(address, from.map, loaded, blocks, x, y, from.z);
      } else {
        exec::tma_load(address, from.map, loaded, x, y, from.z);
      }
    };
    if constexpr (Operand.k_is_contiguous) {
      constexpr index_t rows = Operand.rows / Loaders;
      if (Loaders == Sharers || slice < Loaders)
        unroll<Operand.num_boxes()>([&](auto box) TILEWRIGHT_INLINE_LAMBDA {
          copy(to + box * Operand.box_bytes() + slice * rows * Operand.row_bytes, k0 + box * Operand.box_columns(),
               row0 + slice * rows);
        });
    } else {
      for (index_t box = slice; box < Operand.num_boxes(); box += Sharers)
        copy(to + box * Operand.box_bytes(), row0 + box * Operand.box_columns(), k0);
    }
  }
};

}  // namespace tilewright::detail
#endif
