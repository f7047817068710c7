// SPDX-License-Identifier: MIT
// Kernel facts: what a code object says about its kernel to a host that does not know the kernel's type.
#pragma once

#include <tilewright/launch/ready_kernel.hpp>

namespace tilewright {

/// The variable tilewright_facts of a code object. The host reads it from the file, so it has numbers of 32 bits only.
struct kernel_facts {
  int version = 1;
  int args_bytes = 0;  // of args_type, or of device_args where `prepared`
  int prepared = 0;    // 1: the kernel takes what prepare() makes on the host
  int block_size = 0, lds_bytes = 0, cluster = 1;
  int overlaps_previous = 0;
  int has_grid = 0;  // 1: grid and refusal are those of the problem that was given at compile time
  int grid[3] = {};
  int follower_block_size = 0, follower_lds_bytes = 0;  // of followed_by; 0: none
  int follower_grid[3] = {};
  char refusal[256] = {};  // the sentence of check(); empty: the kernel can compute the problem

  /// Facts of a kernel whose grid the host will say.
  template <class Kernel>
  static constexpr kernel_facts of() {
    static_assert(require_ready_kernel<Kernel>());
    kernel_facts f;
    f.args_bytes = int(sizeof(detail::launched_args_t<Kernel>));
    f.prepared = detail::HasDeviceArgs<Kernel>;
    f.block_size = Kernel::block_size;
    f.lds_bytes = Kernel::lds_bytes;
    f.cluster = detail::cluster_of<Kernel>();
    f.overlaps_previous = detail::overlaps_previous_of<Kernel>();
    if constexpr (detail::HasFollower<Kernel>) {
      f.follower_block_size = Kernel::followed_by::block_size;
      f.follower_lds_bytes = Kernel::followed_by::lds_bytes;
    }
    return f;
  }
  /// Facts of a kernel for one problem: what check() says of it, and its grid unless prepare() is needed for that. Both
  /// must be constexpr.
  template <class Kernel>
  static constexpr kernel_facts of(const typename Kernel::args_type& problem) {
    kernel_facts f = of<Kernel>();
    if (const char* why = Kernel::check(problem)) {
      for (int i = 0; i < 255 && why[i] != 0; ++i) f.refusal[i] = why[i];
      return f;
    }
    if constexpr (!detail::HasDeviceArgs<Kernel>) {
      f.has_grid = 1;
      set(f.grid, Kernel::grid(problem));
      if constexpr (detail::HasFollower<Kernel>) set(f.follower_grid, Kernel::followed_by::grid(problem));
    }
    return f;
  }

 private:
  static constexpr void set(int (&to)[3], const auto& grid) {
    to[0] = int(grid.x), to[1] = int(grid.y), to[2] = int(grid.z);
  }
};

namespace detail {

/// What stands for followed_by where there is none.
template <class Args>
struct no_follower {
  static constexpr index_t block_size = 1;
  TILEWRIGHT_HD void operator()(const Args&) const {}
};
template <class Kernel>
struct follower_or_none {
  using type = no_follower<typename Kernel::args_type>;
};
template <HasFollower Kernel>
struct follower_or_none<Kernel> {
  using type = typename Kernel::followed_by;
};

}  // namespace detail

}  // namespace tilewright
