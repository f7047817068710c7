// SPDX-License-Identifier: MIT
// Views of the same memory with other coordinates.
#include <tilewright/tile/window/tensor_view.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace tilewright {
namespace {

TEST(TransformTensorView, ExchangesDimensions) {
  const auto memory = std::vector<int>(40 * 50);
  const auto view = make_naive_tensor_view<address_space_enum::global>(memory.data(), make_tuple(40, 50),
                                                                       make_tuple(50, number<1>{}));
  const auto transposed =
      transform_tensor_view(view, make_tuple(make_pass_through_transform(50), make_pass_through_transform(40)),
                            make_tuple(sequence<1>{}, sequence<0>{}), make_tuple(sequence<0>{}, sequence<1>{}));
  EXPECT_EQ(transposed.descriptor.calculate_offset({7, 3}), 3 * 50 + 7);
  EXPECT_EQ(transposed.buffer.base, view.buffer.base);
}

}  // namespace
}  // namespace tilewright
