// SPDX-License-Identifier: MIT
// The GEMM kernel of a hopper_policy, for launch().
#pragma once

#include <tilewright/gemm/hopper/hopper_kernel.hpp>
#include <tilewright/gemm/hopper/hopper_plan.hpp>
#include <tilewright/launch/ready_kernel.hpp>

namespace tilewright {

/// Memory where clusters that share a tile of C meet: gemm_args::workspace. The counters must be 0 before the first
/// launch, and are 0 after each. Launches that share a workspace must not run at the same time.
struct hopper_workspace {
  static constexpr index_t num_counters = 1024;
  static constexpr long_index_t num_floats = 2 * 132 * 128 * 256;
  static constexpr long_index_t counter_bytes = num_counters * sizeof(unsigned);                   // at the beginning
  static constexpr long_index_t bytes = counter_bytes + num_floats * long_index_t(sizeof(float));  // 35 MB
};

/// C = alpha A B + beta C by persistent clusters of blocks. Without gemm_args::workspace no tile is shared by clusters,
/// which takes longer where the last round of tiles is not full.
template <class Policy>
struct hopper_gemm_kernel {
  using args_type = gemm_args;
  using arch = tilewright::arch::sm90;
  static constexpr index_t block_size = Policy::tile.block_size(), cluster = Policy::tile.cluster();
  static constexpr index_t lds_bytes = Policy::lds.bytes();
  static constexpr bool overlaps_previous = true;

  struct device_args : hopper_args {
    index_t blocks = 0;
  };

  static const char* check(const gemm_args& args) { return hopper_check<Policy>(args); }

  static device_args prepare(const gemm_args& args, const launch_facts& facts) {
    char* const workspace = static_cast<char*>(args.workspace);
    const hopper_workspace_size size =
        workspace ? hopper_workspace_size{hopper_workspace::num_floats, hopper_workspace::num_counters}
                  : hopper_workspace_size{};
    const hopper_plan plan = plan_hopper<Policy>(args, facts.resident_clusters, size);
    device_args result{};
    facts.make_tensor_map(result.a, plan.a);
    facts.make_tensor_map(result.b, plan.b);
    facts.make_tensor_map(result.c, plan.c);
    result.gemm = args;
    result.schedule = plan.schedule;
    result.counters = reinterpret_cast<unsigned*>(workspace);
    if (workspace) result.parts = reinterpret_cast<float*>(workspace + hopper_workspace::counter_bytes);
    result.blocks = plan.blocks;
    return result;
  }
  static grid_size grid(const device_args& args) { return {args.blocks, 1, 1}; }

  TILEWRIGHT_HD void operator()([[maybe_unused]] const device_args& args) const {
#if TILEWRIGHT_CPU_PASS || defined(__CUDA_ARCH_FEAT_SM90_ALL)
    constexpr index_t bytes = Policy::lds.bytes();
    const exec::lds_pointer lds = exec::lds_allocate<bytes>();
    constexpr bool has_cluster = Policy::tile.cluster() > 1;
    hopper_gemm<Policy>{args, lds, {exec::lds_address(lds), has_cluster ? exec::block_of_cluster() : 0}}();
#endif
  }
};

}  // namespace tilewright
