// SPDX-License-Identifier: MIT
// Stages of clusters of two blocks, which share B above each other and A side by side.
#pragma once

#include <tilewright/kernels/gemm/hopper/operand_pipeline.hpp>

#if TILEWRIGHT_HOPPER_PASS
namespace tilewright::detail {

/// A pipeline of blocks above each other, whose loads also know work tiles with blocks side by side. There each block
/// loads its own B, and A of every other stage for both; stages take the same bytes, and are released to both blocks:
///
///   above each other  block 0 | A 0 | half of B for both |     side by side  stage 0: block 0 | A for both | B 0 |
///                     block 1 | A 1 | half of B for both |                            block 1 |            | B 1 |
template <class Pipeline>
struct paired_pipeline : Pipeline {
  using base = Pipeline;
  using base::base, base::tile, base::lds;

  template <class AMap, class BMaps, class Work>
  TILEWRIGHT_HD void load(const typename base::state& at, const tma_tensor<AMap>& a_from, const BMaps& b_maps,
                          const Work& work, index_t k0) const {
    if (!work.side_by_side) return base::load(at, a_from, b_maps, work, k0);
    const exec::mbarrier loaded = base::producer_acquire(at, lds.stage_bytes());
    if (modulo(at.stage, 2) == base::rank)
      base::template load_slice<lds.a, 2, 1>(base::a(at.stage), a_from, loaded, 0, 3, work.m0, k0);
    load_b(at.stage, loaded, b_maps, work, k0);
  }
  template <class BMaps, class Work>
  TILEWRIGHT_HD void load_b(index_t stage, exec::mbarrier loaded, const BMaps& b_maps, const Work& work,
                            index_t k0) const {
    if (!work.side_by_side) return base::load_b(stage, loaded, b_maps, work, k0);
    constexpr wgmma_operand b = lds.b_of_product();
    constexpr index_t slices = b.k_is_contiguous ? tile.b_loaders() : 1;
    unroll<tile.products * slices>([&](auto i) TILEWRIGHT_INLINE_LAMBDA {
      constexpr index_t p = i / slices, slice = i % slices;
      const tma_tensor<remove_cvref_t<decltype(b_maps[p])>> from{b_maps[p], work.b_z};
      base::template load_slice<b, 1, slices>(base::b(stage) + p * b.bytes(), from, loaded, slice, 0, work.n0, k0);
    });
  }
};

}  // namespace tilewright::detail
#endif
