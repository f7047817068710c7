// SPDX-License-Identifier: MIT
// Random chains of transforms, twice: as a graph, and as a list of layers that is evaluated in another way.
#pragma once

#include "check_property.hpp"

#include <tilewright/core/descriptor/transform_descriptor.hpp>

#include <optional>
#include <string>
#include <vector>

namespace tilewright::property {

using indices = std::vector<index_t>;

/// One transform with all parameters known, between two layers of dimensions.
struct placed_transform {
  transform_kind kind;
  indices parameters;
  indices lower, upper;   // dimensions of the layer below and of the layer above
  transform_spec spec{};  // as the library has it, some parameters known only at run time
};

/// Lower indices of one transform, by definition: quotients and remainders of strides, sums of digits, bits one by one,
/// counting. Nothing where no element exists.
std::optional<indices> lowered(const placed_transform& t, const indices& up);

/// A layer: maps an index of its dimensions to one of the layer below.
struct layer {
  index_t num_lower = 0;
  indices lengths;  // of the upper dimensions
  std::vector<placed_transform> transforms;
};

/// Layers from the bottom, whose only dimension is memory, to the top.
struct layout_model {
  std::vector<layer> layers;

  const indices& lengths() const { return layers.back().lengths; }

  /// The offset, or nothing where the index is outside of the lengths or in a pad.
  std::optional<index_t> offset(indices index) const;
};

/// The same layout as the library has it. Some parameters are known only at run time; their values are kept apart.
struct random_layout {
  layout_model model;
  tensor_graph graph;
  indices values;
  std::string description;
};

/// Lengths stay so small that every element can be looked at. With `all_static` no parameter is left to run time.
random_layout make_random_layout(tape& choices, bool all_static = false);

/// The same layout with nothing left to run time.
tensor_graph all_static(const random_layout& layout);

/// The graph with one more layer.
detail::chained_graph chained(const tensor_graph& graph, const layer& next);

/// f(index) for every index below the lengths, until it says something; that is returned.
std::string for_each_index(const indices& lengths, const std::function<std::string(const indices&)>& f);

std::string text(const indices& list);

}  // namespace tilewright::property
