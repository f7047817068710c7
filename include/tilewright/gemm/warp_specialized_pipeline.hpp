// SPDX-License-Identifier: MIT
// The GEMM kernel of warp_specialized_pipeline: persistent blocks for Hopper, ready for launch().
#pragma once

#include <tilewright/gemm/check_gemm.hpp>
#include <tilewright/gemm/gemm_kernel.hpp>
#include <tilewright/gemm/persistent_gemm.hpp>
#include <tilewright/gemm/specialized_plan.hpp>
#include <tilewright/launch/ready_kernel.hpp>

namespace tilewright {

template <class Policy>
  requires(arch::is_wgmma(Policy::tile.op))
struct gemm_kernel<Policy> {
  using arch = typename Policy::arch;
  using args_type = typename Policy::args_type;
  using block = specialized_block<Policy>;
  using device_args = typename block::device_args;
  static constexpr index_t block_size = block::tile.block_size(), cluster = block::tile.cluster(),
                           lds_bytes = block::lds.bytes();
  static constexpr bool overlaps_previous = true;
  static_assert(Policy::split_k == split_k_kind::none,
                "gemm: this pipeline splits k by itself, with a gemm_args::workspace; leave split_k none");

  static constexpr const char* check(const args_type& args) {
    if (const char* why = check_gemm<Policy>(args, {2, sizeof(typename Policy::result_type), true})) return why;
    if constexpr (Policy::is_block_scaled) {
      if (const char* why = detail::check_block_scales(args)) return why;
    }
    return detail::check_bulk_copies<Policy>(args);
  }
  static device_args prepare(const args_type& args, const launch_facts& facts) {
    return detail::plan_specialized<Policy>(args, facts.resident_clusters, facts.make_tensor_map);
  }
  static constexpr grid_size grid(const device_args& args) { return {args.blocks, 1, 1}; }

  TILEWRIGHT_HD void operator()([[maybe_unused]] const device_args& args) const {
#if TILEWRIGHT_CPU_PASS || defined(__CUDA_ARCH_FEAT_SM90_ALL)
    constexpr index_t bytes = lds_bytes;
    const exec::lds_pointer lds = exec::lds_allocate<bytes>();
    detail::persistent_gemm<block>{args, lds, {exec::lds_address(lds), cluster > 1 ? exec::block_of_cluster() : 0}}();
#endif
  }
};

}  // namespace tilewright
