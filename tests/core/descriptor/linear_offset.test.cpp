// SPDX-License-Identifier: MIT
// Strides and constant terms of linear descriptors are those that offsets show.
#include "sample_descriptors.hpp"

#include <tilewright/core/descriptor/linear_offset.hpp>
#include <tilewright/core/descriptor/transform_descriptor.hpp>

#include <gtest/gtest.h>

#include <type_traits>

namespace tilewright {
namespace {

template <class Descriptor>
void expect_known(const char* name, const Descriptor& descriptor) {
  const index_t zero = descriptor.calculate_offset(multi_index<Descriptor::ndim>{});
  EXPECT_EQ(detail::constant_term(descriptor), zero) << name;
  unroll<Descriptor::ndim>([&](auto d) {
    multi_index<Descriptor::ndim> unit{};
    unit[d] = 1;
    EXPECT_EQ(detail::linear_stride<d.value>(descriptor), descriptor.calculate_offset(unit) - zero) << name;
  });
}
template <bool Static>
int linear_samples() {
  int count = 0;
  samples::sample_maker<Static>::each([&](const char* name, const auto& descriptor, auto) {
    if constexpr (detail::is_linear(std::remove_cvref_t<decltype(descriptor)>::graph)) {
      ++count;
      expect_known(name, descriptor);
    }
  });
  return count;
}

TEST(LinearOffset, StridesAndConstantsAreThoseOfSmallTensors) {
  EXPECT_GT(linear_samples<true>(), 5);
  EXPECT_GT(linear_samples<false>(), 5);
  const auto matrix = make_naive_tensor_descriptor_with_offset(make_tuple(8, 12), make_tuple(100, 3), 7);
  const auto on_columns = [&](const auto& transform) {
    return transform_tensor_descriptor(matrix, make_tuple(make_pass_through_transform(8), transform),
                                       make_tuple(sequence<0>{}, sequence<1>{}),
                                       make_tuple(sequence<0>{}, sequence<2, 1>{}));
  };
  expect_known("strides of strides", on_columns(make_embed_transform(make_tuple(2, 3), make_tuple(5, 2))));
  expect_known("a stride of zero", on_columns(make_embed_transform(make_tuple(2, 3), make_tuple(number<0>{}, 2))));
  expect_known("lengths of strides", on_columns(make_unmerge_transform(make_tuple(4, 3))));
}

template <class Descriptor>
constexpr bool grows(const Descriptor&) {
  return detail::grows_linearly(Descriptor::graph);
}
TEST(LinearOffset, OffsetsMayStayButNotFallWhereAnIndexGrows) {
  const auto with_stride = [](auto stride) {
    return make_naive_tensor_descriptor(make_tuple(8, 8), make_tuple(stride, number<1>{}));
  };
  EXPECT_TRUE(grows(with_stride(number<0>{})));
  EXPECT_TRUE(grows(with_stride(index_t(8))));
  EXPECT_FALSE(grows(with_stride(number<-1>{})));
}

}  // namespace
}  // namespace tilewright
