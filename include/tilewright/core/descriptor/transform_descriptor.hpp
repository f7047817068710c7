// SPDX-License-Identifier: MIT
// Adaptors and descriptors seen through transforms: the way every derived layout is made.
#pragma once

#include <tilewright/core/descriptor/detail/chain.hpp>
#include <tilewright/core/descriptor/make_descriptor.hpp>
#include <tilewright/core/descriptor/tensor_adaptor.hpp>

namespace tilewright {

namespace detail {

/// NumBottom dimensions that are bottom and top at once.
template <index_t NumBottom>
TILEWRIGHT_HD constexpr tensor_graph bottom_graph() {
  static_assert(NumBottom <= tensor_graph::max_top, "make_single_stage_tensor_adaptor: too many bottom dimensions");
  tensor_graph graph;
  for (signed char i = 0; i < NumBottom; ++i) graph.top.push_back(i);
  graph.num_bottom = NumBottom;
  graph.num_hidden = NumBottom;
  return graph;
}

/// Transforms on top of a graph; a variable, so that its value is computed once and leaves no traces in device code.
template <tensor_graph Graph, class LowerIds, class UpperIds, transform_spec... Specs>
inline constexpr chained_graph chained_v{};
template <tensor_graph Graph, class... LowerIds, class... UpperIds, transform_spec... Specs>
inline constexpr chained_graph chained_v<Graph, tuple<LowerIds...>, tuple<UpperIds...>, Specs...> =
    chain<sizeof...(Specs)>(Graph, {Specs...}, {ids_of(LowerIds{})...}, {ids_of(UpperIds{})...});

template <tensor_graph First, tensor_graph Second>
inline constexpr chained_graph joined_v = join(First, Second);

/// The adaptor of a chained graph, as a type: functions that name it may be device code, which knows no variables of
/// the host.
template <const chained_graph& Chained>
struct sound_adaptor {
  static_assert(is_sound_chain<Chained.fault, Chained.dimension, printable_v<Chained.length>,
                               printable_v<Chained.transform_length>>());
  using type = tensor_adaptor<Chained.graph>;
};

template <tensor_graph Graph, transform_spec... Specs, class... LowerIds, class... UpperIds, index_t N>
TILEWRIGHT_HD constexpr auto transformed_adaptor(
    const array<index_t, N>& values, [[maybe_unused]] const tuple<coordinate_transform<Specs>...>& transforms,
    tuple<LowerIds...>, tuple<UpperIds...>) {
  static_assert(sizeof...(Specs) == sizeof...(LowerIds) && sizeof...(Specs) == sizeof...(UpperIds),
                "tensor transforms: one lower and one upper sequence is needed for each transform");
  typename sound_adaptor<chained_v<Graph, tuple<LowerIds...>, tuple<UpperIds...>, Specs...>>::type adaptor{};
  for (index_t i = 0; i < N; ++i) adaptor.values[i] = values[i];
  if constexpr ((Specs.num_dynamic() + ... + 0) != 0) {
    index_t next = N;
    unroll<sizeof...(Specs)>([&](auto t) {
      const auto& own = transforms.template get<t.value>().values;
      for (index_t i = 0; i < own.size(); ++i) adaptor.values[next++] = own[i];
    });
  }
  return adaptor;
}

}  // namespace detail

/// One layer of transforms. Transform i maps to the bottom dimensions that the i-th sequence of `lower_ids` lists from
/// the top dimensions of the i-th sequence of `upper_ids`. Bottom and top dimensions are 0, 1, ... with each used once.
template <transform_spec... Specs, class... LowerIds, class... UpperIds>
TILEWRIGHT_HD constexpr auto make_single_stage_tensor_adaptor(
    const tuple<detail::coordinate_transform<Specs>...>& transforms, tuple<LowerIds...> lower_ids,
    tuple<UpperIds...> upper_ids) {
  constexpr index_t num_bottom = (0 + ... + LowerIds::size());
  return detail::transformed_adaptor<detail::bottom_graph<num_bottom>()>(array<index_t, 0>{}, transforms, lower_ids,
                                                                         upper_ids);
}

/// The adaptor seen through transforms; as transform_tensor_descriptor.
template <tensor_graph Graph, transform_spec... Specs, class... LowerIds, class... UpperIds>
TILEWRIGHT_HD constexpr auto transform_tensor_adaptor(const tensor_adaptor<Graph>& adaptor,
                                                      const tuple<detail::coordinate_transform<Specs>...>& transforms,
                                                      tuple<LowerIds...> lower_ids, tuple<UpperIds...> upper_ids) {
  return detail::transformed_adaptor<Graph>(adaptor.values, transforms, lower_ids, upper_ids);
}

/// Adaptors on top of each other: the bottom dimensions of each are the top dimensions of the one before it.
template <tensor_graph Graph>
TILEWRIGHT_HD constexpr tensor_adaptor<Graph> chain_tensor_adaptors(const tensor_adaptor<Graph>& adaptor) {
  return adaptor;
}
template <tensor_graph First, tensor_graph Second, class... Adaptors>
TILEWRIGHT_HD constexpr auto chain_tensor_adaptors(const tensor_adaptor<First>& first,
                                                   const tensor_adaptor<Second>& second, const Adaptors&... others) {
  typename detail::sound_adaptor<detail::joined_v<First, Second>>::type result{};
  for (index_t i = 0; i < First.num_values; ++i) result.values[i] = first.values[i];
  for (index_t i = 0; i < Second.num_values; ++i) result.values[First.num_values + i] = second.values[i];
  return chain_tensor_adaptors(result, others...);
}

/// The member of a cluster of threads that has an id: an adaptor from the id to an index of `lengths`,
/// of whose dimensions the last in `order` moves fastest.
template <class... Lengths, index_t... Order>
TILEWRIGHT_HD constexpr auto make_cluster_descriptor(const tuple<Lengths...>& lengths, sequence<Order...> order) {
  static_assert(sizeof...(Lengths) == sizeof...(Order),
                "make_cluster_descriptor: the order must name each dimension once");
  return make_single_stage_tensor_adaptor(
      make_tuple(make_merge_transform(make_tuple(lengths.template get<Order>()...))), make_tuple(order),
      make_tuple(sequence<0>{}));
}

/// The adaptor as a descriptor of memory of that many elements; it must have one bottom dimension.
template <tensor_graph Graph>
TILEWRIGHT_HD constexpr tensor_descriptor<Graph> make_tensor_descriptor_from_adaptor(
    const tensor_adaptor<Graph>& adaptor, long_index_t element_space_size) {
  return {adaptor, element_space_size};
}

/// The descriptor seen through transforms. Transform i takes the old dimensions that the i-th sequence of `lower_ids`
/// lists and makes the new dimensions of the i-th sequence of `upper_ids`. Every old dimension is used once;
/// new ids are 0, 1, ... .
template <tensor_graph Graph, transform_spec... Specs, class... LowerIds, class... UpperIds>
TILEWRIGHT_HD constexpr auto transform_tensor_descriptor(
    const tensor_descriptor<Graph>& descriptor, const tuple<detail::coordinate_transform<Specs>...>& transforms,
    tuple<LowerIds...> lower_ids, tuple<UpperIds...> upper_ids) {
  if constexpr (sizeof...(Specs) == sizeof...(LowerIds) && sizeof...(Specs) == sizeof...(UpperIds) &&
                (Graph.num_values + ... + Specs.num_dynamic()) == 0) {
    using adaptor = typename detail::sound_adaptor<
        detail::chained_v<Graph, tuple<LowerIds...>, tuple<UpperIds...>, Specs...>>::type;
    return tensor_descriptor<adaptor::graph>{{}, descriptor.element_space_size};
  } else {
    return make_tensor_descriptor_from_adaptor(
        detail::transformed_adaptor<Graph>(descriptor.values, transforms, lower_ids, upper_ids),
        descriptor.element_space_size);
  }
}

}  // namespace tilewright
