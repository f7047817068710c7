// SPDX-License-Identifier: MIT
// Descriptors of plain tensors: given strides, packed, or rows aligned to a number of elements.
#pragma once

#include <tilewright/descriptor/tensor_descriptor.hpp>

namespace tilewright {

namespace detail {

template <transform_spec Spec>
TILEWRIGHT_HD constexpr tensor_graph single_node_graph() {
  tensor_graph graph;
  graph_node node{Spec, 0, {}, {}};
  node.lower.push_back(0);
  for (signed char i = 0; i < Spec.num_upper; ++i) {
    node.upper.push_back(static_cast<signed char>(1 + i));
    graph.top.push_back(static_cast<signed char>(1 + i));
  }
  graph.nodes.push_back(node);
  graph.num_hidden = 1 + Spec.num_upper;
  graph.num_values = Spec.num_dynamic();
  return graph;
}

template <transform_spec Spec>
TILEWRIGHT_HD constexpr auto make_single_node_descriptor(const coordinate_transform<Spec>& transform, long_index_t space) {
  return tensor_descriptor<single_node_graph<Spec>()>{transform.values, space};
}

}  // namespace detail

/// Element (i0, i1, ...) at offset i0 * stride0 + i1 * stride1 + ... . Lengths and strides are number<N>{} (static) or index_t.
/// GuaranteedVector: all run-time lengths and strides are multiples of it, and the tensor begins at a multiple of it; vectors
/// along the dimension of stride 1 may be that wide.
template <class... Lengths, class... Strides, index_t GuaranteedVector = 1>
TILEWRIGHT_HD constexpr auto make_naive_tensor_descriptor(const tuple<Lengths...>& lengths, const tuple<Strides...>& strides,
                                                          number<GuaranteedVector> guaranteed_vector = {}) {
  static_assert(sizeof...(Lengths) == sizeof...(Strides), "make_naive_tensor_descriptor: as many strides as lengths are needed");
  const auto embed = make_embed_transform(lengths, strides, guaranteed_vector);
  long_index_t space = 1;
  unroll<sizeof...(Lengths)>([&](auto i) {
    space += (long_index_t(lengths.template get<i.value>()) - 1) * strides.template get<i.value>();
  });
  return detail::make_single_node_descriptor(embed, space);
}

/// Row-major without gaps: the last dimension is the fastest.
template <class... Lengths>
TILEWRIGHT_HD constexpr auto make_naive_tensor_descriptor_packed(const tuple<Lengths...>& lengths) {
  long_index_t space = 1;
  unroll<sizeof...(Lengths)>([&](auto i) { space *= lengths.template get<i.value>(); });
  return detail::make_single_node_descriptor(make_unmerge_transform(lengths), space);
}

namespace detail {

template <class Align, class Last>
TILEWRIGHT_HD constexpr auto aligned_pitch(Last last, Align align) {
  if constexpr (is_number_v<Last> && is_number_v<Align>) {
    return number<round_up<index_t>(Last::value, Align::value)>{};
  } else {
    return round_up<index_t>(last, align);
  }
}

template <class A, class B>
TILEWRIGHT_HD constexpr auto multiply_lengths(A a, B b) {
  if constexpr (is_number_v<A> && is_number_v<B>) {
    return number<A::value * B::value>{};
  } else {
    return index_t(a) * index_t(b);
  }
}

template <index_t I, class... Lengths, class Align>
TILEWRIGHT_HD constexpr auto aligned_stride(const tuple<Lengths...>& lengths, Align align) {
  constexpr index_t n = sizeof...(Lengths);
  if constexpr (I == n - 1) {
    return number<1>{};
  } else if constexpr (I == n - 2) {
    return aligned_pitch(lengths.template get<n - 1>(), align);
  } else {
    return multiply_lengths(aligned_stride<I + 1>(lengths, align), lengths.template get<I + 1>());
  }
}

}  // namespace detail

/// Row-major, each row's pitch rounded up to a multiple of `align` elements. The last row ends with its last element.
template <class... Lengths, class Align>
TILEWRIGHT_HD constexpr auto make_naive_tensor_descriptor_aligned(const tuple<Lengths...>& lengths, Align align) {
  return [&]<index_t... Is>(std::integer_sequence<index_t, Is...>) {
    return make_naive_tensor_descriptor(lengths, make_tuple(detail::aligned_stride<Is>(lengths, align)...));
  }(std::make_integer_sequence<index_t, sizeof...(Lengths)>{});
}

}  // namespace tilewright
