// SPDX-License-Identifier: MIT
// Transforms tensor descriptors: the way every derived layout is made.
#pragma once

#include <tilewright/descriptor/make_descriptor.hpp>
#include <tilewright/descriptor/transform_adaptor.hpp>

namespace tilewright {

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
