// SPDX-License-Identifier: MIT
// Views know the size of their tensor.
#include <tilewright/tile/window/tensor_view.hpp>

#include <gtest/gtest.h>

namespace tilewright {
namespace {

TEST(TensorView, OfGlobalMemoryEndsWithTheTensor) {
  half_t data[32] = {};
  const auto view =
      make_naive_tensor_view<address_space_enum::global>(data, make_tuple(3, 4), make_tuple(10, number<1>{}));
  EXPECT_EQ(view.buffer.bytes, 2 * (2 * 10 + 4));
  EXPECT_EQ(view.buffer.base, reinterpret_cast<char*>(data));
  EXPECT_EQ(view.descriptor.calculate_offset({2, 3}), 23);
  static_assert(!view.is_read_only && view.address_space == address_space_enum::global);
  static_assert(__is_same(decltype(view)::element_type, half_t));
}

TEST(TensorView, OfConstantElementsIsReadOnly) {
  const float data[4] = {};
  const auto view =
      make_tensor_view<address_space_enum::global>(data, make_naive_tensor_descriptor_packed(make_tuple(4)));
  static_assert(view.is_read_only && __is_same(decltype(view)::element_type, float));
  EXPECT_EQ(view.buffer.bytes, 16);
}

TEST(TensorView, PackedRowsFollowEachOther) {
  const float data[20] = {};
  const auto view =
      make_naive_tensor_view_packed<address_space_enum::global>(data, make_tuple(index_t(5), number<4>{}));
  EXPECT_EQ(view.buffer.bytes, 80);
  EXPECT_EQ(view.descriptor.calculate_offset({3, 2}), 14);
  static_assert(decltype(view.descriptor)::get_top_dimension_safe_vector_length_strides().lengths[1] == 4);
}

TEST(TensorView, OfLdsHasAStaticLayout) {
  const auto view = make_tensor_view<address_space_enum::lds, float>(
      exec::lds_pointer{64}, make_naive_tensor_descriptor_packed(make_tuple(number<4>{})));
  static_assert(view.address_space == address_space_enum::lds && !view.is_read_only);
  EXPECT_EQ(view.buffer.byte, 64);
}

}  // namespace
}  // namespace tilewright
