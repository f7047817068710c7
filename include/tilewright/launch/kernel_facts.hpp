// SPDX-License-Identifier: MIT
// Kernel facts: what a code object says about its kernel to a host that does not know the kernel's type.
#pragma once

#include <tilewright/launch/ready_kernel.hpp>

namespace tilewright {

/// The variable tilewright_facts of a code object. The host reads it from the file, so it has numbers of 32 bits only.
struct kernel_facts {
  int version = 3;            ///< of this struct
  int args_bytes = 0;         ///< size of args_type, or of device_args where `prepared`
  int prepared = 0;           ///< 1: the kernel takes what prepare() makes on the host
  int block_size = 0;         ///< threads of a block
  int lds_bytes = 0;          ///< bytes of LDS of a block
  int cluster = 1;            ///< blocks of a cluster, along x
  int overlaps_previous = 0;  ///< 1: it may start before the previous kernel has ended
  int has_grid = 0;           ///< 1: grid and refusal are those of the problem that was given at compile time
  int grid[3] = {};           ///< blocks along x, y, z
  struct follower {
    int block_size = 0;         ///< threads of a block; 0: no such kernel
    int lds_bytes = 0;          ///< bytes of LDS of a block
    int overlaps_previous = 0;  ///< as above
    int grid[3] = {};           ///< blocks along x, y, z
  };
  follower followers[2] = {};  ///< followed_by, and what follows that
  char refusal[256] = {};      ///< the error message of check(); empty: the kernel can compute the problem

  /// Facts of a kernel whose grid the host computes at run time.
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
    f.add_followers<Kernel>([](auto, follower&) {});
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
      f.add_followers<Kernel>([&](auto next, follower& to) { set(to.grid, decltype(next)::type::grid(problem)); });
    }
    return f;
  }

 private:
  template <class Kernel>
  struct kernel_type {
    using type = Kernel;
  };
  template <class Kernel, int I = 0>
  constexpr void add_followers(const auto& describe) {
    if constexpr (detail::HasFollower<Kernel>) {
      using next = typename Kernel::followed_by;
      followers[I].block_size = next::block_size;
      followers[I].lds_bytes = next::lds_bytes;
      followers[I].overlaps_previous = detail::overlaps_previous_of<next>();
      describe(kernel_type<next>{}, followers[I]);
      add_followers<next, I + 1>(describe);
    }
  }
  static constexpr void set(int (&to)[3], const auto& grid) {
    to[0] = int(grid.x), to[1] = int(grid.y), to[2] = int(grid.z);
  }
};

namespace detail {

/// What stands for followed_by where there is none.
template <class Args>
struct no_follower {
  using args_type = Args;
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
