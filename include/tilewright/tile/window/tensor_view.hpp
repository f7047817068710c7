// SPDX-License-Identifier: MIT
// Memory with a descriptor: a tensor in global memory or in LDS.
#pragma once

#include <tilewright/core/base/type_traits.hpp>
#include <tilewright/core/base/vector.hpp>
#include <tilewright/core/descriptor/make_descriptor.hpp>
#include <tilewright/core/descriptor/transform_descriptor.hpp>
#include <tilewright/machine/exec/expect.hpp>

namespace tilewright {

/// Where a view's memory is.
enum class address_space_enum : signed char { global, lds };

namespace detail {
template <address_space_enum>
struct buffer_in;
template <>
struct buffer_in<address_space_enum::global> {
  using type = exec::global_buffer;
};
template <>
struct buffer_in<address_space_enum::lds> {
  using type = exec::lds_pointer;
};
}  // namespace detail

/// A tensor of T. Global memory is bounds-checked: elements outside the tensor read as zero and are never written.
template <address_space_enum Space, class T, TensorDescriptor Descriptor>
struct tensor_view {
  /// must be 0 in LDS
  static constexpr index_t num_run_time_values = Space == address_space_enum::lds ? Descriptor::graph.num_values : 0;
  static_assert(num_run_time_values == 0,
                "tensor_view: a tensor in LDS needs lengths and strides known at compile time: number<N>{}s");
  static constexpr address_space_enum address_space = Space;  ///< global memory or LDS
  using element_type = detail::remove_const_t<T>;
  static constexpr bool is_read_only = detail::is_const_v<T>;  ///< T is const
  using descriptor_type = Descriptor;

  typename detail::buffer_in<Space>::type buffer;  ///< the memory: a global_buffer or an lds_pointer
  Descriptor descriptor;                           ///< lengths, strides, transforms
};

/// A tensor in global memory that begins at p.
template <address_space_enum Space, class T, TensorDescriptor Descriptor>
TILEWRIGHT_HD constexpr auto make_tensor_view(T* p, const Descriptor& descriptor) {
  static_assert(Space == address_space_enum::global, "make_tensor_view: a plain pointer points to global memory");
  const long_index_t bytes = descriptor.get_element_space_size() * long_index_t(sizeof(T));
  return tensor_view<Space, T, Descriptor>{exec::make_global_buffer(p, bytes), descriptor};
}

/// A tensor of T in LDS that begins at p.
template <address_space_enum Space, class T, TensorDescriptor Descriptor>
TILEWRIGHT_HD constexpr auto make_tensor_view(exec::lds_pointer p, const Descriptor& descriptor) {
  static_assert(Space == address_space_enum::lds, "make_tensor_view: an lds_pointer points to LDS");
  return tensor_view<Space, T, Descriptor>{p, descriptor};
}

/// Refuses memory in LDS whose element type is not named, with an error message.
template <address_space_enum Space, TensorDescriptor Descriptor>
TILEWRIGHT_HD constexpr auto make_tensor_view(exec::lds_pointer p, const Descriptor& descriptor) {
  constexpr bool names_element_type = sizeof(Descriptor) == 0;
  static_assert(names_element_type,
                "make_tensor_view: an lds_pointer has no element type; name it after the address space, as in "
                "make_tensor_view<address_space_enum::lds, half_t>");
  return make_tensor_view<address_space_enum::lds, unsigned char>(p, descriptor);
}

namespace detail {
/// On the CPU, refuses a run-time length of the contiguous dimension or a stride that breaks the guarantee that vectors
/// rest on.
template <index_t GuaranteedVector, class Value>
TILEWRIGHT_HD constexpr void expect_multiple([[maybe_unused]] Value value) {
  if constexpr (TILEWRIGHT_CPU_PASS && GuaranteedVector > 1 && !is_number_v<Value>)
    exec::expect(value % GuaranteedVector == 0,
                 "make_naive_tensor_view: the contiguous length or a stride is no multiple of the vector that was "
                 "guaranteed; guarantee less, or make the rows longer");
}
template <index_t GuaranteedVector, class Lengths, class... Strides>
TILEWRIGHT_HD constexpr void expect_guarantee_kept(const Lengths& lengths, const tuple<Strides...>& strides) {
  if constexpr (GuaranteedVector > 1 && Lengths::size() == index_t(sizeof...(Strides))) {
    unroll<sizeof...(Strides)>([&](auto i) {
      const auto length = lengths.template get<i.value>();
      const auto stride = strides.template get<i.value>();
      if constexpr (__is_same(decltype(stride), const number<1>)) {
        expect_multiple<GuaranteedVector>(length);
      } else if constexpr (!__is_same(decltype(length), const number<1>)) {
        expect_multiple<GuaranteedVector>(stride);
      }
    });
  }
}
}  // namespace detail

/// A tensor in global memory with lengths and strides (number<N>{} or integers); see make_naive_tensor_descriptor.
/// The CPU emulator checks the guarantee GuaranteedVector.
template <address_space_enum Space, class T, class Lengths, class Strides, index_t GuaranteedVector = 0>
TILEWRIGHT_HD constexpr auto make_naive_tensor_view(T* p, const Lengths& lengths, const Strides& strides,
                                                    number<GuaranteedVector> guaranteed_vector = {}) {
  if constexpr (TILEWRIGHT_CPU_PASS) detail::expect_guarantee_kept<GuaranteedVector>(lengths, strides);
  return make_tensor_view<Space>(p, make_naive_tensor_descriptor(lengths, strides, guaranteed_vector));
}

/// A tensor in global memory without gaps between rows; see make_naive_tensor_descriptor_packed.
template <address_space_enum Space, class T, class Lengths, index_t GuaranteedVector = 0>
TILEWRIGHT_HD constexpr auto make_naive_tensor_view_packed(T* p, const Lengths& lengths,
                                                           number<GuaranteedVector> guaranteed_vector = {}) {
  detail::expect_multiple<GuaranteedVector>(lengths.template get<Lengths::size() - 1>());
  return make_tensor_view<Space>(p, make_naive_tensor_descriptor_packed(lengths, guaranteed_vector));
}

/// The view with its descriptor transformed; see transform_tensor_descriptor.
template <address_space_enum Space, class T, class Descriptor, class Transforms, class Lower, class Upper>
TILEWRIGHT_HD constexpr auto transform_tensor_view(const tensor_view<Space, T, Descriptor>& view,
                                                   const Transforms& transforms, Lower lower, Upper upper) {
  const auto descriptor = transform_tensor_descriptor(view.descriptor, transforms, lower, upper);
  return tensor_view<Space, T, detail::remove_const_t<decltype(descriptor)>>{view.buffer, descriptor};
}

}  // namespace tilewright
