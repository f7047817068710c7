// SPDX-License-Identifier: MIT
// A tensor descriptor: maps an index to the offset of its element in memory.
#pragma once

#include <tilewright/core/descriptor/tensor_adaptor.hpp>

namespace tilewright {

namespace detail {

/// For each dimension: how many elements one access may take along it, and the distance of these elements,
/// -1 where it is not known.
template <index_t NDim>
struct vector_lengths_and_strides {
  multi_index<NDim> lengths, strides;
};

}  // namespace detail

/// A tensor adaptor whose one bottom dimension is memory. Offsets and lengths count elements. Offsets are 32-bit:
/// larger tensors are reached through windows, which fold their origin into the pointer.
template <tensor_graph Graph>
struct tensor_descriptor : tensor_adaptor<Graph> {
  static_assert(Graph.num_bottom == 1,
                "tensor_descriptor: the adaptor must have one bottom dimension, which is memory");
  using typename tensor_adaptor<Graph>::index_type;

  long_index_t element_space_size;  ///< elements from the first one to the last one, and one

  /// Upper dimensions.
  TILEWRIGHT_HD static constexpr index_t get_num_of_dimension() { return Graph.ndim(); }

  /// Offset in elements of the element at an index.
  TILEWRIGHT_HD constexpr index_t calculate_offset(const index_type& index) const {
    array<index_t, Graph.num_hidden> hidden{};
    detail::lower_nodes<Graph>(this->values.data(), index.data(), hidden.data(), make_sequence<Graph.ndim()>{},
                               make_sequence<Graph.nodes.size()>{});
    return hidden[0];
  }

  /// The offset in elements of an index that is a tuple.
  template <class... Indices>
  TILEWRIGHT_HD constexpr index_t calculate_offset(const tuple<Indices...>& index) const {
    static_assert(sizeof...(Indices) == Graph.ndim(), "tensor_descriptor: one index is needed for each dimension");
    return apply([&](auto... i) { return calculate_offset(index_type{{index_t(i)...}}); }, index);
  }

  /// One more than the largest offset of the tensor that the descriptor was first made for;
  /// transforms do not change it.
  TILEWRIGHT_HD constexpr long_index_t get_element_space_size() const { return element_space_size; }

  /// How long vectors may be along each dimension, if the tensor begins at a multiple of `alignment` elements: vectors
  /// that begin at a multiple of their length are then contiguous, aligned,
  /// and wholly inside or wholly outside of the tensor.
  TILEWRIGHT_HD static constexpr auto get_top_dimension_safe_vector_length_strides(index_t alignment = 1 << 20) {
    const auto runs = detail::contiguous_runs(Graph, alignment);
    detail::vector_lengths_and_strides<Graph.ndim()> result{};
    for (index_t i = 0; i < Graph.ndim(); ++i) {
      result.lengths[i] = runs[Graph.top[i]];
      result.strides[i] = result.lengths[i] > 1 ? 1 : -1;
    }
    return result;
  }

  friend constexpr bool operator==(const tensor_descriptor&, const tensor_descriptor&) = default;
};

namespace detail {

template <class T>
inline constexpr bool is_tensor_descriptor_v = false;
template <tensor_graph Graph>
inline constexpr bool is_tensor_descriptor_v<tensor_descriptor<Graph>> = true;

}  // namespace detail
template <class T>
concept TensorDescriptor = detail::is_tensor_descriptor_v<T>;

}  // namespace tilewright
