// SPDX-License-Identifier: MIT
// launch() on a HIP or CUDA stream.
#pragma once

#include <tilewright/launch/run_kernel.hpp>

#if TILEWRIGHT_AMDGCN_PASS
struct ihipStream_t;
#else
#include <tilewright/arch/arch.hpp>
#include <tilewright/launch/gpu_runtime.hpp>
#endif

namespace tilewright {

#if TILEWRIGHT_AMDGCN_PASS
namespace detail {

using gpu_stream = ihipStream_t*;  // hipStream_t, in a pass that needs no header of the runtime

}  // namespace detail
#endif

/// Where a kernel is queued.
struct launch_options {
  detail::gpu_stream stream = nullptr;  // a hipStream_t or cudaStream_t; null: the default stream
};

namespace detail {

/// Kernel<Arch>::followed_by, for every target.
template <template <class> class Kernel>
struct follower_of {
  template <class Arch>
  struct type : Kernel<Arch>::followed_by {};
};

/// The __global__ functions of a kernel and of the one that follows it.
struct gpu_functions {
  const void *kernel = nullptr, *follower = nullptr;

  template <class Kernel>
  static gpu_functions of() {
    gpu_functions result{reinterpret_cast<const void*>(&run_kernel<Kernel, launched_args_t<Kernel>>)};
    if constexpr (HasFollower<Kernel>)
      result.follower =
          reinterpret_cast<const void*>(&run_kernel<typename Kernel::followed_by, typename Kernel::args_type>);
    return result;
  }
  template <template <class> class Kernel>
  static gpu_functions of() {
    using any = Kernel<arch::current>;
    gpu_functions result{reinterpret_cast<const void*>(&run_kernel<Kernel, launched_args_t<any>>)};
    if constexpr (HasFollower<any>)
      result.follower =
          reinterpret_cast<const void*>(&run_kernel<follower_of<Kernel>::template type, typename any::args_type>);
    return result;
  }
};

}  // namespace detail

#if TILEWRIGHT_AMDGCN_PASS

// This pass only has to see which kernels the host launches.
template <class Kernel>
void launch(const typename Kernel::args_type&, const launch_options& = {}) {
  static_assert(require_ready_kernel<Kernel>());
  (void)detail::gpu_functions::of<Kernel>();
}
template <template <class> class Kernel, class... Archs>
void launch(const auto&, const launch_options& = {}) {
  (void)detail::gpu_functions::of<Kernel>();
}

#else

/// A launch that can be repeated: the arguments are checked and prepared once.
template <class Kernel>
class prepared_launch {
 public:
  using args_type = typename Kernel::args_type;
  static_assert(require_ready_kernel<Kernel>());

  /// Throws launch_error as launch() does. Queues nothing.
  explicit prepared_launch(const args_type& args) : prepared_launch(args, detail::gpu_functions::of<Kernel>()) {}

  /// With the __global__ functions of a template that Kernel is made from.
  prepared_launch(const args_type& args, const detail::gpu_functions& functions) : args_(args) {
    if (const char* why = Kernel::check(args)) throw launch_error(why);
    if constexpr (detail::HasArch<Kernel>) {
      const std::string here = detail::target_of(functions.kernel);
      if (here != Kernel::arch::value.name)
        throw launch_error(std::string("launch: the kernel is for ") + Kernel::arch::value.name +
                           ", but this GPU runs code for " + here);
    }
    kernel_ = shape<Kernel>(functions.kernel);
    detail::allow_lds(kernel_);
    if constexpr (detail::HasDeviceArgs<Kernel>) {
      device_args_ = Kernel::prepare(args, detail::facts_of(kernel_));
      set_grid(kernel_, Kernel::grid(device_args_));
    } else {
      device_args_ = args;
      set_grid(kernel_, Kernel::grid(args));
    }
    if constexpr (detail::HasFollower<Kernel>) {
      follower_ = shape<typename Kernel::followed_by>(functions.follower);
      detail::allow_lds(follower_);
      set_grid(follower_, Kernel::followed_by::grid(args));
    }
  }

  /// What the kernel gets.
  const detail::launched_args_t<Kernel>& prepared() const { return device_args_; }

  /// Queues the kernel, and the one that follows it unless its grid is empty.
  void operator()(detail::gpu_stream stream = nullptr) const {
    detail::queue(kernel_, &device_args_, stream);
    if (follower_.function && follower_.grid.x > 0) detail::queue(follower_, &args_, stream);
  }

 private:
  template <class K>
  static detail::gpu_launch shape(const void* function) {
    return {.function = function,
            .block_size = K::block_size,
            .lds_bytes = K::lds_bytes,
            .cluster = detail::cluster_of<K>(),
            .overlaps_previous = detail::overlaps_previous_of<K>()};
  }
  static void set_grid(detail::gpu_launch& launch, const auto& grid) {
    launch.grid = dim3(unsigned(grid.x), unsigned(grid.y), unsigned(grid.z));
  }

  args_type args_;
  detail::launched_args_t<Kernel> device_args_;
  detail::gpu_launch kernel_, follower_;
};

/// Queues a kernel on a stream. Throws launch_error, before anything is queued, with the sentence of
/// Kernel::check(args), where the program has no code for this GPU, or with the message of HIP or CUDA.
template <class Kernel>
void launch(const typename Kernel::args_type& args, const launch_options& options = {}) {
  prepared_launch<Kernel>{args}(options.stream);
}

/// Queues Kernel<Arch> for the one of Archs that is the GPU's target. Without Archs: for any target of the GPU's maker.
/// Each of these targets for which this file is compiled gets its kernel.
template <template <class> class Kernel, class... Archs>
void launch(const auto& args, const launch_options& options = {}) {
  if constexpr (sizeof...(Archs) > 0) {
    const detail::gpu_functions functions = detail::gpu_functions::of<Kernel>();
    const std::string here = detail::target_of(functions.kernel);
    const bool found =
        ((here == Archs::value.name && (prepared_launch<Kernel<Archs>>(args, functions)(options.stream), true)) || ...);
    if (!found) throw launch_error("launch: the program has no kernel for this GPU, " + here);
  } else if constexpr (is_amd(arch::current::value)) {
    launch<Kernel, arch::gfx90a, arch::gfx942, arch::gfx950, arch::gfx1100, arch::gfx1201>(args, options);
  } else {
    launch<Kernel, arch::sm80, arch::sm90>(args, options);
  }
}

#endif

}  // namespace tilewright
