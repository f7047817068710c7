// SPDX-License-Identifier: MIT
// Grouped GEMM with narrow weights on Hopper: the weights of each group (expert) as they are stored.
#pragma once

#include <tilewright/kernels/gemm/grouped/grouped_hopper.hpp>
#include <tilewright/kernels/gemm/hopper/hopper_narrow_gemm.hpp>

namespace tilewright {

namespace detail {

/// A narrow_block whose work tiles are tiles of groups.
template <class Policy>
struct grouped_narrow_block : with_work_ring<narrow_block<Policy>> {
  using device_args = grouped_device_args<narrow_args, group_kind::rows>;
  using work_type = grouped_work_tile<group_kind::rows>;
  struct roles : narrow_roles<grouped_narrow_block> {
    using scheduler = grouped_scheduler<grouped_narrow_block>;
  };
  static_assert(Policy::groups == group_kind::rows && Policy::a_major == operand_major::k,
                "grouped_narrow_gemm: groups divide rows of A, which is contiguous along k");
  static_assert(Policy::pipeline::tile.n % 32 == 0, "grouped_narrow_gemm: n of the tile must be a multiple of 32");
};

}  // namespace detail

/// C (rows of g, n) = A (rows of g, k) W of g (n, k)^T for each group, ready for launch(). The policy is
/// grouped<hopper_narrow_policy<...>, group_kind::rows>; B, scales and zero points have batch strides from a group's to
/// the next one's.
template <class Policy>
struct grouped_narrow_gemm : detail::hopper_gemm_launch<Policy, detail::grouped_narrow_block<Policy>> {
  using base = detail::hopper_gemm_launch<Policy, detail::grouped_narrow_block<Policy>>;
  using args_type = narrow_args;
  using block = typename base::block;

  static constexpr const char* check(const args_type& g) {
    const char* const why = check_grouped<Policy>(g, base::alignment);
    return why ? why : detail::check_narrow_operands(block::narrow_facts, g);
  }
  static typename base::device_args prepare(const args_type& g, const launch_facts& facts) {
    constexpr bool has_own_map = true;  // of words
    auto d = detail::plan_grouped<group_kind::rows, 1>(block::facts, has_own_map, g, facts.resident_clusters,
                                                       facts.make_tensor_map);
    detail::plan_narrow_operands(block::narrow_facts, d, g, g.groups, facts);
    d.ordered_k_tiles = 2;
    return d;
  }
};

}  // namespace tilewright
