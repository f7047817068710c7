// SPDX-License-Identifier: MIT
// Descriptors of plain tensors: given strides, packed, or rows aligned to a number of elements.
#pragma once

#include <tilewright/core/descriptor/tensor_descriptor.hpp>

namespace tilewright {

namespace detail {

/// LastOffset: of the last element, if it is static.
template <long_index_t LastOffset>
TILEWRIGHT_HD constexpr void require_offsets_fit() {
  static_assert(LastOffset <= largest_index,
                "tensor descriptor: the offset of the last element does not fit into 32 bits; give a length as an "
                "integer instead of "
                "a number<>, and reach the tensor through tile windows, whose origin has 64 bits");
}

template <transform_spec Spec>
TILEWRIGHT_HD constexpr auto make_single_node_descriptor(const coordinate_transform<Spec>& transform,
                                                         long_index_t space) {
  if constexpr (Spec.num_dynamic() == 0) {
    constexpr long_index_t last =
        transform_rules<Spec.kind>::least_lower_length(Spec.parameters.begin(), Spec.num_upper, 0) - 1;
    if constexpr (last > largest_index) require_offsets_fit<last>();
  }
  return tensor_descriptor<single_node_graph(Spec)>{{transform.values}, space};
}

/// What make_single_node_descriptor makes of a transform all of whose parameters are known, and its element space:
/// without the templates of the factories on the way.
template <transform_kind Kind, index_t NumUpper, class... Parameters>
using static_descriptor = tensor_descriptor<single_node_graph(
    make_spec(Kind, 1, NumUpper, array<index_t, sizeof...(Parameters)>{static_value_v<Parameters>...}))>;
template <transform_kind Kind, index_t NumUpper, class... Parameters>
inline constexpr long_index_t static_space_v =
    max(0ll, transform_rules<Kind>::least_lower_length(
                 array<index_t, sizeof...(Parameters)>{static_value_v<Parameters>...}.data(), NumUpper, 0));

template <class A, class B>
TILEWRIGHT_HD constexpr auto multiply_lengths(A a, B b) {
  if constexpr (is_number_v<A> && is_number_v<B>) {
    static_assert(
        long_index_t{A::value} * B::value <= largest_index,
        "tensor descriptor: a stride does not fit into 32 bits; give a length as an integer instead of a number<>");
    return number<A::value * B::value>{};
  } else {
    return index_t(min(long_index_t(a) * long_index_t(b), long_index_t(largest_index)));  // see offsets_fit
  }
}

template <class Align, class Last>
TILEWRIGHT_HD constexpr auto aligned_pitch(Last last, Align align) {
  if constexpr (is_number_v<Last> && is_number_v<Align>) {
    return number<round_up<index_t>(Last::value, Align::value)>{};
  } else {
    return index_t(min(round_up<long_index_t>(last, align), largest_index));
  }
}

/// Stride of dimension Nth of a row-major tensor whose rows are as long as the next multiple of `align`.
template <index_t Nth, class... Lengths, class Align>
TILEWRIGHT_HD constexpr auto aligned_stride(const tuple<Lengths...>& lengths, Align align) {
  constexpr index_t n = sizeof...(Lengths);
  if constexpr (Nth == n - 1) {
    return number<1>{};
  } else if constexpr (Nth == n - 2) {
    return aligned_pitch(lengths.template get<n - 1>(), align);
  } else {
    return multiply_lengths(aligned_stride<Nth + 1>(lengths, align), lengths.template get<Nth + 1>());
  }
}

template <class... Lengths, class Align>
TILEWRIGHT_HD constexpr auto aligned_strides(const tuple<Lengths...>& lengths, Align align) {
  return [&]<index_t... Is>(sequence<Is...>) TILEWRIGHT_INLINE_LAMBDA {
    return make_tuple(aligned_stride<Is>(lengths, align)...);
  }(make_sequence<sizeof...(Lengths)>{});
}

}  // namespace detail

/// Element (i0, i1, ...) at offset `offset` + i0 * stride0 + i1 * stride1 + ... . Lengths, strides and offset are
/// number<N>{} (static) or index_t. The guarantee number<GuaranteedVector>: it divides the address of the tensor's
/// first element (in elements) and those of the contiguous dimension's length, the other strides and the offset that
/// are known only at run time; no vector is longer. Without a guarantee run-time values allow no vectors, and static
/// ones allow all that they divide by, of a tensor whose memory is aligned to 16 bytes. The element space includes the
/// offset; run-time strides must not be negative.
template <class... Lengths, class... Strides, class Offset, index_t GuaranteedVector = 0>
TILEWRIGHT_HD constexpr auto make_naive_tensor_descriptor_with_offset(const tuple<Lengths...>& lengths,
                                                                      const tuple<Strides...>& strides, Offset offset,
                                                                      number<GuaranteedVector> guaranteed_vector = {}) {
  static_assert(sizeof...(Lengths) == sizeof...(Strides),
                "make_naive_tensor_descriptor: as many strides as lengths are needed");
  static_assert(sizeof...(Lengths) >= 1, "make_naive_tensor_descriptor: at least one dimension is needed");
  if constexpr (detail::KnownLengths<Lengths...> &&
                (detail::is_number_v<Strides> && ... && detail::is_number_v<Offset>) && GuaranteedVector >= 0) {
    constexpr index_t n = sizeof...(Lengths);
    constexpr long_index_t space =
        detail::static_space_v<transform_kind::embed, n, Lengths..., Strides..., Offset, number<GuaranteedVector>>;
    if constexpr (space > detail::largest_index + 1) detail::require_offsets_fit<space - 1>();
    return detail::static_descriptor<transform_kind::embed, n, Lengths..., Strides..., Offset,
                                     number<GuaranteedVector>>{{}, space};
  } else {
    const auto embed = make_embed_transform(lengths, strides, guaranteed_vector, offset);
    long_index_t space = long_index_t(offset) + 1;
    [&]<index_t... Is>(sequence<Is...>) TILEWRIGHT_INLINE_LAMBDA {
      ((space += detail::static_value_v<Strides> == dynamic || detail::static_value_v<Strides> > 0
                     ? (long_index_t(lengths.template get<Is>()) - 1) * strides.template get<Is>()
                     : 0),
       ...);
    }(make_sequence<sizeof...(Lengths)>{});
    return detail::make_single_node_descriptor(embed, max(space, 0ll));
  }
}

/// make_naive_tensor_descriptor_with_offset at offset 0.
template <class... Lengths, class... Strides, index_t GuaranteedVector = 0>
TILEWRIGHT_HD constexpr auto make_naive_tensor_descriptor(const tuple<Lengths...>& lengths,
                                                          const tuple<Strides...>& strides,
                                                          number<GuaranteedVector> guaranteed_vector = {}) {
  return make_naive_tensor_descriptor_with_offset(lengths, strides, number<0>{}, guaranteed_vector);
}

/// Row-major without gaps: the last dimension is the fastest. The guarantee number<GuaranteedVector>: it divides the
/// address of the first element and, if it is known only at run time, the last length.
template <class... Lengths, index_t GuaranteedVector = 0>
TILEWRIGHT_HD constexpr auto make_naive_tensor_descriptor_packed(const tuple<Lengths...>& lengths,
                                                                 number<GuaranteedVector> guaranteed_vector = {}) {
  static_assert(sizeof...(Lengths) >= 1, "make_naive_tensor_descriptor_packed: at least one dimension is needed");
  if constexpr (GuaranteedVector != 0) {  // an unmerge has no guarantee
    return make_naive_tensor_descriptor(lengths, detail::aligned_strides(lengths, number<1>{}), guaranteed_vector);
  } else if constexpr (detail::KnownLengths<Lengths...>) {
    constexpr long_index_t space = detail::static_space_v<transform_kind::unmerge, sizeof...(Lengths), Lengths...>;
    if constexpr (space > detail::largest_index + 1) detail::require_offsets_fit<space - 1>();
    return detail::static_descriptor<transform_kind::unmerge, sizeof...(Lengths), Lengths...>{{}, space};
  } else {
    long_index_t space = 1;
    unroll<sizeof...(Lengths)>([&](auto i) { space *= lengths.template get<i.value>(); });
    return detail::make_single_node_descriptor(make_unmerge_transform(lengths), space);
  }
}

/// A packed descriptor that starts at an offset, which counts to the element space.
template <class... Lengths, class Offset, index_t GuaranteedVector = 0>
TILEWRIGHT_HD constexpr auto make_naive_tensor_descriptor_packed_with_offset(
    const tuple<Lengths...>& lengths, Offset offset, number<GuaranteedVector> guaranteed_vector = {}) {
  return make_naive_tensor_descriptor_with_offset(lengths, detail::aligned_strides(lengths, number<1>{}), offset,
                                                  guaranteed_vector);
}

/// Row-major, each row's pitch rounded up to a multiple of `align` elements. The last row ends with its last element.
template <class... Lengths, class Align>
TILEWRIGHT_HD constexpr auto make_naive_tensor_descriptor_aligned(const tuple<Lengths...>& lengths, Align align) {
  static_assert(detail::IndexLike<Align>,
                "make_naive_tensor_descriptor_aligned: the alignment must be number<N>{} or an integer");
  static_assert(detail::static_value_v<Align> == dynamic || detail::static_value_v<Align> >= 1,
                "make_naive_tensor_descriptor_aligned: the alignment must be positive");
  return make_naive_tensor_descriptor(lengths, detail::aligned_strides(lengths, align));
}

}  // namespace tilewright
