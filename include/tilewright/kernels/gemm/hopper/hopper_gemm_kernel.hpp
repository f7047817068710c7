// SPDX-License-Identifier: MIT
// The GEMM kernel of warp_specialized_pipeline: persistent blocks for Hopper, ready for launch().
#pragma once

#include <tilewright/kernels/gemm/check_gemm.hpp>
#include <tilewright/kernels/gemm/gemm_kernel.hpp>
#include <tilewright/kernels/gemm/hopper/hopper_gemm.hpp>
#include <tilewright/kernels/gemm/hopper/hopper_gemm_plan.hpp>
#include <tilewright/launch/ready_kernel.hpp>

namespace tilewright {

namespace detail {

/// What kernels of hopper_gemm have in common; each adds check() and prepare().
template <class Policy, class Block>
struct hopper_gemm_launch {
  using policy = Policy;
  using arch = typename Policy::arch;
  using args_type = typename Policy::args_type;
  using block = Block;
  using device_args = typename Block::device_args;
  static constexpr index_t block_size = Block::tile.block_size(), cluster = Block::tile.cluster(),
                           lds_bytes = Block::regions.bytes;
  static constexpr bool overlaps_previous = true;
  static_assert(Policy::split_k == split_k_kind::none,
                "gemm: this pipeline splits k by itself, with a gemm_args::workspace; leave split_k none");

  static constexpr grid_size grid(const device_args& args) { return {args.blocks, 1, 1}; }

  TILEWRIGHT_HD void operator()([[maybe_unused]] const device_args& args) const {
#if TILEWRIGHT_CPU_PASS || defined(__CUDA_ARCH_FEAT_SM90_ALL)
    constexpr index_t bytes = lds_bytes;
    const exec::lds_pointer lds = exec::lds_allocate<bytes>();
    hopper_gemm<Block>{args, lds}();
#endif
  }

  /// Bytes of gemm_args::workspace; without one k is not split.
  static constexpr long_index_t workspace_bytes(const args_type&) { return hopper_gemm_workspace::bytes; }

 protected:
  /// `why`, if it is an error message; else what is wrong with scales or for TMA.
  static constexpr const char* or_operands(const char* why, const args_type& args) {
    if constexpr (Policy::is_block_scaled) {
      if (!why) why = check_block_scales(args);
    }
    return why ? why : check_tma(Block::facts, args);
  }
  static constexpr vector_alignment alignment{Block::tile.unaligned ? 1 : 2, sizeof(typename Policy::result_type)};
};

}  // namespace detail

template <class Policy>
  requires(arch::is_wgmma(Policy::tile.op))
struct gemm_kernel<Policy> : detail::hopper_gemm_launch<Policy, hopper_gemm_block<Policy>> {
  using base = detail::hopper_gemm_launch<Policy, hopper_gemm_block<Policy>>;
  using args_type = typename base::args_type;
  using followed_by =
      detail::conditional_t<base::block::can_split_all_tiles,
                            detail::sum_after_hopper_gemm<
                                detail::split_k_sum<typename Policy::arch, float, typename Policy::result_type,
                                                    args_type, detail::epilogue_of<Policy>, base::alignment.vector>>,
                            void>;

  static constexpr const char* check(const args_type& args) {
    const char* const why = base::or_operands(check_product<Policy>(args, base::alignment), args);
    return why ? why : detail::check_equal_parts(base::block::facts, args);
  }
  static constexpr bool starts_alone(const typename base::device_args& args) { return args.starts_alone; }
  static typename base::device_args prepare(const args_type& args, const launch_facts& facts) {
    return detail::plan_hopper_gemm<Policy::products>(base::block::facts, args, facts.resident_clusters,
                                                      facts.make_tensor_map);
  }
};

}  // namespace tilewright
