// SPDX-License-Identifier: MIT
// ReadyKernel: what a kernel must provide so that launch() can start it.
#pragma once

#include <tilewright/core/arch/target.hpp>
#include <tilewright/core/arch/tensor_map.hpp>

namespace tilewright {

/// What prepare() learns about the machine.
struct launch_facts {
  index_t resident_clusters = 1;  ///< clusters (blocks, where the kernel has no clusters) that run at the same time
  /// Encodes a tensor map on the host; throws launch_error if the request breaks the rules of TMA. Null on AMD GPUs.
  void (*make_tensor_map)(exec::tensor_map&, const exec::tensor_map_request&) = nullptr;
};

namespace detail {

template <class Kernel>
concept HasDeviceArgs = requires { typename Kernel::device_args; };
template <class Kernel>
concept HasArch = requires { Kernel::arch::value; };
template <class Kernel>
concept HasFollower = requires { typename Kernel::followed_by; } && !__is_same(typename Kernel::followed_by, void);
template <class Kernel>
inline constexpr index_t num_followers_v = 0;
template <HasFollower Kernel>
inline constexpr index_t num_followers_v<Kernel> = 1 + num_followers_v<typename Kernel::followed_by>;

template <class Kernel>
struct launched_args {
  using type = typename Kernel::args_type;
};
template <HasDeviceArgs Kernel>
struct launched_args<Kernel> {
  using type = typename Kernel::device_args;
};

/// The struct that crosses to the device: what grid() and operator() take.
template <class Kernel>
using launched_args_t = typename launched_args<Kernel>::type;

/// What arguments in braces initialise where a kernel is named by its template: the first target's.
template <template <class> class Kernel, class First, class...>
struct args_of_first {
  using type = typename Kernel<First>::args_type;
};

template <class Kernel>
constexpr index_t cluster_of() {
  if constexpr (requires { Kernel::cluster; }) return Kernel::cluster;
  return 1;
}
template <class Kernel>
constexpr index_t blocks_at_once_of() {
  if constexpr (requires { Kernel::blocks_at_once; }) return Kernel::blocks_at_once;
  return 1;
}
template <class Kernel>
constexpr index_t waves_per_simd_of() {
  if constexpr (requires { Kernel::waves_per_simd; }) return Kernel::waves_per_simd;
  return 0;
}
template <class Kernel>
constexpr bool overlaps_previous_of() {
  if constexpr (requires { Kernel::overlaps_previous; }) return Kernel::overlaps_previous;
  return false;
}

/// The same of a launch with these arguments.
template <class Kernel>
constexpr bool overlaps_previous(const launched_args_t<Kernel>& args) {
  if constexpr (requires { Kernel::starts_alone(args); })
    return overlaps_previous_of<Kernel>() && !Kernel::starts_alone(args);
  else
    return overlaps_previous_of<Kernel>();
}

template <class Kernel>
concept HasArgs = requires { typename Kernel::args_type; };
template <class Kernel>
concept HasCheck = requires(const typename Kernel::args_type& args, const char* why) { why = Kernel::check(args); };
template <class Kernel>
concept HasPrepare =
    !HasDeviceArgs<Kernel> || requires(const typename Kernel::args_type& args, const launch_facts& facts,
                                       launched_args_t<Kernel> prepared) { prepared = Kernel::prepare(args, facts); };
template <class Kernel>
concept HasGrid = requires(const launched_args_t<Kernel>& args, index_t blocks) {
  blocks = Kernel::grid(args).x;
  blocks = Kernel::grid(args).y;
  blocks = Kernel::grid(args).z;
};
template <class Kernel>
concept HasBlockSize = requires { requires Kernel::block_size > 0; };
template <class Kernel>
concept HasLdsBytes = requires { requires Kernel::lds_bytes >= 0; };
template <class Kernel>
concept HasBody = requires(const Kernel& kernel, const launched_args_t<Kernel>& args) { kernel(args); };

}  // namespace detail

/// A kernel that launch() can start: a struct without state that has
///   args_type                what the caller fills in
///   check(args)              why the kernel cannot run with these arguments, as an error message; nullptr: it can
///   grid(args)               the number of blocks: .x, .y and .z
///   block_size, lds_bytes    threads, and bytes of LDS, of a block
///   operator()(args)         what each thread does
/// and, where needed,
///   arch                     the target that it is compiled for
///   blocks_at_once           blocks that should fit on an SM, which limits registers (NVIDIA); 1
///   waves_per_simd           waves that should fit on a SIMD, which limits registers (AMD); 0: no limit
///   cluster                  blocks along x that form a cluster
///   overlaps_previous        true: it may start before the previous kernel has ended, and waits for it itself (NVIDIA)
///   starts_alone(args)       true: with these arguments it is launched as if overlaps_previous were false; false
///   followed_by              a ready kernel with the same args_type that is launched after it, unless its grid.x is
///                            0; void: none. At most two kernels follow each other so
///   device_args              what grid() and operator() take instead of args_type ...
///   prepare(args, facts)     ... made on the host from args and launch_facts
template <class Kernel>
concept ReadyKernel =
    detail::HasArgs<Kernel> && detail::HasCheck<Kernel> && detail::HasPrepare<Kernel> && detail::HasGrid<Kernel> &&
    detail::HasBlockSize<Kernel> && detail::HasLdsBytes<Kernel> && detail::HasBody<Kernel>;

/// True; does not compile, with an error message for the first missing part, if Kernel is no ReadyKernel.
template <class Kernel>
consteval bool require_ready_kernel() {
  static_assert(detail::num_followers_v<Kernel> <= 2,
                "launch: at most two kernels follow the first one: launch the third follower by itself");
  if constexpr (!detail::HasArgs<Kernel>) {
    static_assert(detail::HasArgs<Kernel>, "launch: the kernel has no args_type: name the struct of its arguments");
  } else if constexpr (!detail::HasCheck<Kernel>) {
    static_assert(detail::HasCheck<Kernel>,
                  "launch: the kernel has no static check(const args_type&) that returns a const char*: the message "
                  "that refuses these arguments, or nullptr");
  } else if constexpr (!detail::HasPrepare<Kernel>) {
    static_assert(detail::HasPrepare<Kernel>,
                  "launch: the kernel has device_args, but no static prepare(const args_type&, const launch_facts&) "
                  "that returns them");
  } else if constexpr (!detail::HasGrid<Kernel>) {
    static_assert(detail::HasGrid<Kernel>,
                  "launch: the kernel has no static grid(args) that returns the number of blocks as x, y and z; it "
                  "takes args_type, or device_args where the kernel has them");
  } else if constexpr (!detail::HasBlockSize<Kernel>) {
    static_assert(detail::HasBlockSize<Kernel>,
                  "launch: the kernel has no positive constant block_size: the number of threads of a block");
  } else if constexpr (!detail::HasLdsBytes<Kernel>) {
    static_assert(detail::HasLdsBytes<Kernel>,
                  "launch: the kernel has no constant lds_bytes: the bytes of LDS of a block; 0 if it uses none");
  } else {
    static_assert(detail::HasBody<Kernel>,
                  "launch: the kernel has no operator()(args) const; it takes args_type, or device_args where the "
                  "kernel has them");
  }
  return true;
}

}  // namespace tilewright
