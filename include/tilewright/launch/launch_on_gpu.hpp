// SPDX-License-Identifier: MIT
// launch() on a HIP or CUDA stream.
#pragma once

#include <tilewright/core/base/type_traits.hpp>
#include <tilewright/launch/run_kernel.hpp>

#if TILEWRIGHT_AMDGCN_PASS
struct ihipStream_t;
#else
#include <tilewright/core/arch/arch.hpp>
#include <tilewright/launch/detail/gpu_runtime.hpp>
#endif

namespace tilewright {

#if TILEWRIGHT_AMDGCN_PASS
namespace detail {

using gpu_stream = ihipStream_t*;  // hipStream_t, in a pass that needs no header of the runtime

}  // namespace detail
#endif

/// AMD's targets of launch() without target names: their matrix instructions take all 16-bit types. Others are named.
using launch_amd_targets = arch::target_list<arch::gfx90a, arch::gfx942, arch::gfx950, arch::gfx1100, arch::gfx1201>;

/// Where launch() queues a kernel.
struct launch_options {
  detail::gpu_stream stream =
      nullptr;  ///< a hipStream_t or cudaStream_t of the current device; null: its default stream
};

namespace detail {

/// Kernel<Arch>::followed_by, for every target.
template <template <class> class Kernel>
struct follower_of {
  template <class Arch>
  struct type : Kernel<Arch>::followed_by {};
};

/// The __global__ functions of a kernel and of those that follow it: at most two.
struct gpu_functions {
  const void *kernel = nullptr, *follower = nullptr, *last = nullptr;

  gpu_functions after() const { return {follower, last}; }

  /// This list after one more kernel.
  gpu_functions with_first(const void* first) const { return {first, kernel, follower}; }

  template <class Kernel>
  static gpu_functions of() {
    gpu_functions later;
    if constexpr (HasFollower<Kernel>) later = of<typename Kernel::followed_by>();
    return later.with_first(reinterpret_cast<const void*>(&run_kernel<Kernel, launched_args_t<Kernel>>));
  }
  template <template <class> class Kernel>
  static gpu_functions of() {
    using any = Kernel<arch::current>;
    gpu_functions later;
    if constexpr (HasFollower<any>) later = of<follower_of<Kernel>::template type>();
    return later.with_first(reinterpret_cast<const void*>(&run_kernel<Kernel, launched_args_t<any>>));
  }
};

/// The caller has checked the arguments.
struct unchecked {};

}  // namespace detail

#if TILEWRIGHT_AMDGCN_PASS

// This pass only has to see which kernels the host launches.
template <class Kernel>
struct prepared_launch {
  /// As on the host.
  explicit prepared_launch(const typename Kernel::args_type&) { (void)detail::gpu_functions::of<Kernel>(); }
  prepared_launch(const typename Kernel::args_type&, const detail::gpu_functions&, detail::unchecked) {}
  /// As on the host.
  detail::launched_args_t<Kernel>& prepared();
  void operator()(detail::gpu_stream = nullptr) const {}
};
/// As on the host.
template <class Kernel>
void launch(const typename Kernel::args_type&, const launch_options& = {}) {
  static_assert(require_ready_kernel<Kernel>());
  if constexpr (ReadyKernel<Kernel>) (void)detail::gpu_functions::of<Kernel>();
}
/// As on the host.
template <template <class> class Kernel, class... Archs,
          class Args = typename detail::args_of_first<Kernel, Archs..., arch::current>::type>
void launch(const Args&, const launch_options& = {}) {
  (void)detail::gpu_functions::of<Kernel>();
}

#else

template <class Kernel>
class prepared_launch;

namespace detail {

/// The launch of the kernel that follows another one, if there is one.
struct no_launch {
  no_launch(const auto&, const gpu_functions&) {}
  void operator()(gpu_stream) const {}
};
template <class Kernel>
struct launch_after {
  using type = no_launch;
};
template <HasFollower Kernel>
struct launch_after<Kernel> {
  using type = prepared_launch<typename Kernel::followed_by>;
};

}  // namespace detail

/// A launch on the current device that can be repeated: the arguments are checked and prepared once. Memory that they
/// point to must live as long as launches use it.
template <class Kernel>
class prepared_launch {
 public:
  using args_type = typename Kernel::args_type;
  static_assert(require_ready_kernel<Kernel>());

  /// Checks and prepares the arguments, on the host; queues nothing. Throws launch_error as launch() does.
  explicit prepared_launch(const args_type& args) : prepared_launch(args, detail::gpu_functions::of<Kernel>()) {}

  /// For Kernel<Arch> of a template: `functions` are the template's __global__ functions.
  prepared_launch(const args_type& args, const detail::gpu_functions& functions)
      : prepared_launch(checked(args), functions, detail::unchecked{}) {}

  /// The same without check().
  prepared_launch(const args_type& args, const detail::gpu_functions& functions, detail::unchecked)
      : follower_(args, functions.after()) {
    if constexpr (detail::HasArch<Kernel>) {
      const std::string here = detail::target_of(functions.kernel);
      if (here != Kernel::arch::value.name)
        throw launch_error(std::string("launch: the kernel is for ") + Kernel::arch::value.name +
                           ", but this GPU runs code for " + here);
    }
    // One by one: nvcc takes an assigned list with designators for one without.
    kernel_.function = functions.kernel;
    kernel_.block_size = Kernel::block_size;
    kernel_.lds_bytes = Kernel::lds_bytes;
    kernel_.cluster = detail::cluster_of<Kernel>();
    kernel_.overlaps_previous = detail::overlaps_previous_of<Kernel>();
    detail::allow_lds(kernel_);
    if constexpr (detail::HasDeviceArgs<Kernel>) {
      device_args_ = Kernel::prepare(args, detail::facts_of(kernel_));
    } else {
      device_args_ = args;
    }
    kernel_.overlaps_previous = detail::overlaps_previous<Kernel>(device_args_);
    const auto grid = Kernel::grid(device_args_);
    detail::require_threads(is_amd(arch::current::value), long_index_t(grid.x) * Kernel::block_size);
    kernel_.grid = dim3(unsigned(grid.x), unsigned(grid.y), unsigned(grid.z));
  }

  /// What the kernel gets: args_type, or the device_args that prepare() made.
  const detail::launched_args_t<Kernel>& prepared() const { return device_args_; }
  /// Changes apply to later launches; they are not checked, and the grid stays.
  detail::launched_args_t<Kernel>& prepared() { return device_args_; }

  /// Queues the kernel and those that follow it, except those whose grid is empty. Throws launch_error with the
  /// runtime's message.
  void operator()(detail::gpu_stream stream = nullptr) const {
    if (kernel_.grid.x > 0) detail::queue(kernel_, &device_args_, stream);
    follower_(stream);
  }

 private:
  static const args_type& checked(const args_type& args) {
    if (const char* why = Kernel::check(args)) throw launch_error(why);
    return args;
  }

  detail::launched_args_t<Kernel> device_args_;
  detail::gpu_launch kernel_;
  typename detail::launch_after<Kernel>::type follower_;
};

/// Queues a kernel on a stream of the current device and returns. Throws launch_error, before anything is queued, with
/// the error message of Kernel::check(args), where the program has no code for this GPU, or with the message of HIP or
/// CUDA.
template <class Kernel>
void launch(const typename Kernel::args_type& args, const launch_options& options = {}) {
  static_assert(require_ready_kernel<Kernel>());
  if constexpr (ReadyKernel<Kernel>) prepared_launch<Kernel>{args}(options.stream);
}

/// launch() of Kernel<Arch> for the one of Archs that is the GPU's target; without Archs, of
/// launch_amd_targets or arch::nvidia_targets. Throws launch_error where it is none of them. Each of these
/// targets for which this file is compiled gets its kernel.
template <template <class> class Kernel, class... Archs,
          class Args = typename detail::args_of_first<Kernel, Archs..., arch::current>::type>
void launch(const Args& args, const launch_options& options = {}) {
  if constexpr (sizeof...(Archs) > 0) {
    using expected = detail::launched_args_t<Kernel<arch::current>>;
    static_assert((__is_same(detail::launched_args_t<Kernel<Archs>>, expected) && ...),
                  "launch: device_args of a kernel for several targets must be one type, by which host and device name "
                  "the kernel: declare it outside of the kernel");
    const detail::gpu_functions functions = detail::gpu_functions::of<Kernel>();
    const std::string here = detail::target_of(functions.kernel);
    const bool found =
        ((here == Archs::value.name && (prepared_launch<Kernel<Archs>>(args, functions)(options.stream), true)) || ...);
    if (!found)
      throw launch_error("launch: the program has no kernel for this GPU, " + here +
                         "; name targets after the kernel, as in launch<my_kernel, arch::gfx1151>(args)");
  } else {
    using makers = detail::conditional_t<is_amd(arch::current::value), launch_amd_targets, arch::nvidia_targets>;
    [&]<class... Known>(arch::target_list<Known...>) { launch<Kernel, Known...>(args, options); }(makers{});
  }
}

#endif

}  // namespace tilewright
