// SPDX-License-Identifier: MIT
// Graphs from values are those that the factories of descriptors make.
#include <tilewright/core/descriptor/make_graph.hpp>
#include <tilewright/core/descriptor/transform_descriptor.hpp>

#include <gtest/gtest.h>

namespace tilewright {
namespace {

constexpr number<6> six{};
constexpr number<8> eight{};

TEST(MakeGraph, PackedAndStrided) {
  static_assert(packed_graph(4, 6, 8) ==
                make_naive_tensor_descriptor_packed(make_tuple(number<4>{}, six, eight)).graph);
  static_assert(strided_graph(6, 8, 9, 1) ==
                make_naive_tensor_descriptor(make_tuple(six, eight), make_tuple(number<9>{}, number<1>{})).graph);
}

TEST(MakeGraph, Transformed) {
  constexpr auto transformed = transform_tensor_descriptor(
      make_naive_tensor_descriptor_packed(make_tuple(six, eight)),
      make_tuple(make_slice_transform(six, number<1>{}, number<5>{}),
                 make_unmerge_transform(make_tuple(number<4>{}, number<2>{}))),
      make_tuple(sequence<0>{}, sequence<1>{}), make_tuple(sequence<1>{}, sequence<0, 2>{}));
  using enum transform_kind;
  static_assert(transform_graph(packed_graph(6, 8), place_transform(slice, {0}, {1}, 6, 1, 5),
                                place_transform(unmerge, {1}, {0, 2}, 4, 2)) == transformed.graph);
}

TEST(MakeGraph, AtRunTime) {
  for (index_t rows = 1; rows < 5; ++rows) {
    const tensor_graph graph =
        transform_graph(packed_graph(rows, 8), place_transform(transform_kind::merge, {0, 1}, {0}, rows, 8));
    EXPECT_EQ(graph.ndim(), 1);
    EXPECT_EQ(detail::hidden_length(graph, graph.top[0]), 8 * rows);
  }
}

}  // namespace
}  // namespace tilewright
