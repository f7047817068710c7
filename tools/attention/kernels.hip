// SPDX-License-Identifier: MIT
// The kernels of the attention program: as C++ for the CPU, and for GPUs (ATTENTION_ON_GPU).
#include <type_traits>

#include <tilewright/core/arch/arch.hpp>
#include <tilewright/kernels/attention/backward/hopper_backward.hpp>
#include <tilewright/kernels/attention/forward/attention_forward.hpp>
#include <tilewright/kernels/attention/forward/hopper_attention.hpp>
#include <tilewright/launch/launch.hpp>

#if TILEWRIGHT_CPU_PASS
#include "machine.hpp"
#else
#include "kernel_choice.hpp"
#endif

namespace attention_program {

namespace {

namespace tw = tilewright;

/// The kernels for one type and head dimension.
template <class T, tw::index_t Dim>
struct kernels {
  template <class Arch>
  struct forward : tw::attention_forward<tw::attention_policy<Arch, T, Dim>> {};
  template <class Arch>
  struct backward : tw::attention_backward<tw::attention_backward_policy<Arch, T, Dim>> {};
  struct hopper_forward : tw::attention_forward<tw::hopper_attention_policy<T, Dim>> {};
  struct hopper_backward : tw::attention_backward<tw::hopper_backward_policy<T, Dim>> {};
};

/// Launches the kernel; Archs: targets of the portable one, all of the GPU's maker if there are none.
template <class... Archs, class Kernels>
void launch(Kernels, const kernel_choice& choice, const tw::attention_backward_args& args,
            const tw::launch_options& how) {
  const tw::attention_args& forward_args = args;
  if (choice.for_hopper) {
#if TILEWRIGHT_CPU_PASS || defined(__CUDACC__)
    if (choice.backward) {
      tw::launch<typename Kernels::hopper_backward>(args, how);
    } else {
      tw::launch<typename Kernels::hopper_forward>(forward_args, how);
    }
#endif
  } else if (choice.backward) {
    tw::launch<Kernels::template backward, Archs...>(args, how);
  } else {
    tw::launch<Kernels::template forward, Archs...>(forward_args, how);
  }
}

template <class T, class... Archs>
void launch_for(const kernel_choice& choice, const tw::attention_backward_args& args, const tw::launch_options& how) {
#ifdef ATTENTION_HEAD_DIM
  launch<Archs...>(kernels<T, ATTENTION_HEAD_DIM>{}, choice, args, how);
#else
  choice.dim == 64    ? launch<Archs...>(kernels<T, 64>{}, choice, args, how)
  : choice.dim == 128 ? launch<Archs...>(kernels<T, 128>{}, choice, args, how)
                      : launch<Archs...>(kernels<T, 256>{}, choice, args, how);
#endif
}

/// e4m3, forward. Nothing launches what stands there for targets without 8-bit floats.
template <tw::index_t Dim>
struct fp8_kernels {
  template <class Arch>
  using element_type =
      std::conditional_t<Arch::value.fp8 == tw::arch::fp8_kind::fnuz, tw::fp8_fnuz_t,
                         std::conditional_t<Arch::value.fp8 == tw::arch::fp8_kind::none, tw::half_t, tw::fp8_ocp_t>>;
  template <class Arch>
  struct forward : tw::attention_forward<tw::attention_policy<Arch, element_type<Arch>, Dim>> {};
  struct hopper_forward : tw::attention_forward<tw::hopper_attention_policy<tw::fp8_ocp_t, Dim>> {};
};
template <class Kernels>
void launch_fp8(Kernels, const kernel_choice& choice, const tw::attention_args& args, const tw::launch_options& how) {
  if (choice.for_hopper) {
#if TILEWRIGHT_CPU_PASS || defined(__CUDACC__)
    tw::launch<typename Kernels::hopper_forward>(args, how);
#endif
  } else {
#if TILEWRIGHT_CPU_PASS
    tw::launch<Kernels::template forward, tw::arch::gfx942>(args, how);
#elif !defined(__CUDACC__)
    tw::launch<Kernels::template forward, tw::arch::gfx942, tw::arch::gfx950, tw::arch::gfx1201>(args, how);
#endif
  }
}

template <class... Archs>
void launch(const kernel_choice& choice, const tw::attention_backward_args& args, const tw::launch_options& how) {
#ifdef ATTENTION_HEAD_DIM
  if (choice.is_fp8) return launch_fp8(fp8_kernels<ATTENTION_HEAD_DIM>{}, choice, args, how);
#else
  if (choice.is_fp8)
    return choice.dim == 128 ? launch_fp8(fp8_kernels<128>{}, choice, args, how)
                             : launch_fp8(fp8_kernels<256>{}, choice, args, how);
#endif
  choice.is_f16 ? launch_for<tw::half_t, Archs...>(choice, args, how)
                : launch_for<tw::bfloat16_t, Archs...>(choice, args, how);
}

}  // namespace

#if TILEWRIGHT_CPU_PASS

std::vector<std::string> emulated_targets() { return {"gfx942", "sm_90"}; }

outcome attend_on_cpu(inputs& data, const options& o, const std::function<void(double)>& progress) {
  quantise(data, o.target, o.kernel);
  const bool is_fp8 = gemm_program::is_fp8(data.q.type), is_hopper = o.target == "sm_90";
  host_tensors tensors = kernel_tensors(data);
  std::array<void*, num_tensors> places;
  for (std::size_t i = 0; i < num_tensors; ++i) places[i] = tensors[i].data();
  const tw::attention_backward_args args = arguments_of(data, places);
  kernel_choice choice{data.q.type == element::f16, is_fp8, int(kernel_dim(data)),
                       o.kernel == kernel_kind::hopper || (is_fp8 && is_hopper)};
  const double parts = data.has_gradients() ? 3 : 1;  // the gradients take twice as long
  launch<tw::arch::gfx942, tw::arch::sm90>(
      choice, args,
      {.emulate = *tw::arch::find_target(o.target.c_str()),
       .progress = [&](tw::long_index_t done, tw::long_index_t all) { progress(double(done) / double(all) / parts); }});
  choice.backward = true;
  if (data.has_gradients())
    launch<tw::arch::gfx942, tw::arch::sm90>(choice, args, {.emulate = *tw::arch::find_target(o.target.c_str())});
  take_results(data, tensors);
  return {"emulated " + o.target + (choice.for_hopper ? ", the kernel for Hopper" : ""), {}};
}

#else

std::string queue_attention(const kernel_choice& choice, const tw::attention_backward_args& args) {
  try {
    launch<>(choice, args, {});
  } catch (const tw::launch_error& error) {
    return error.what();
  }
  return {};
}

#endif

}  // namespace attention_program
