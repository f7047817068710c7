// SPDX-License-Identifier: MIT
// Memory with a descriptor: a tensor in global memory or in LDS.
#pragma once

#include <tilewright/descriptor/make_descriptor.hpp>
#include <tilewright/exec/exec.hpp>
#include <tilewright/numeric/vector.hpp>
#include <tilewright/util/type_traits.hpp>

namespace tilewright {

/// Where a view's memory is.
enum class address_space_enum : signed char { global, lds };

/// A tensor of T. Global memory is bounds-checked: what lies outside of the tensor reads as zero and is never written.
template <address_space_enum Space, class T, TensorDescriptor Descriptor>
struct tensor_view;

template <class T, TensorDescriptor Descriptor>
struct tensor_view<address_space_enum::global, T, Descriptor> {
  static constexpr address_space_enum address_space = address_space_enum::global;
  using element_type = detail::remove_const_t<T>;
  static constexpr bool is_read_only = detail::is_const_v<T>;
  using descriptor_type = Descriptor;

  exec::global_buffer buffer;
  Descriptor descriptor;
};

template <class T, TensorDescriptor Descriptor>
struct tensor_view<address_space_enum::lds, T, Descriptor> {
  static_assert(Descriptor::graph.num_values == 0,
                "tensor_view: a tensor in LDS needs lengths and strides known at compile time");
  static constexpr address_space_enum address_space = address_space_enum::lds;
  using element_type = detail::remove_const_t<T>;
  static constexpr bool is_read_only = detail::is_const_v<T>;
  using descriptor_type = Descriptor;

  exec::lds_pointer buffer;
  Descriptor descriptor;
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

/// A tensor in global memory with lengths and strides (number<N>{} or integers); see make_naive_tensor_descriptor.
template <address_space_enum Space, class T, class Lengths, class Strides, index_t GuaranteedVector = 1>
TILEWRIGHT_HD constexpr auto make_naive_tensor_view(T* p, const Lengths& lengths, const Strides& strides,
                                                    number<GuaranteedVector> guaranteed_vector = {}) {
  return make_tensor_view<Space>(p, make_naive_tensor_descriptor(lengths, strides, guaranteed_vector));
}

/// The same without gaps: rows follow each other; see make_naive_tensor_descriptor_packed.
template <address_space_enum Space, class T, class Lengths, index_t GuaranteedVector = 1>
TILEWRIGHT_HD constexpr auto make_naive_tensor_view_packed(T* p, const Lengths& lengths,
                                                           number<GuaranteedVector> guaranteed_vector = {}) {
  return make_tensor_view<Space>(p, make_naive_tensor_descriptor_packed(lengths, guaranteed_vector));
}

}  // namespace tilewright
