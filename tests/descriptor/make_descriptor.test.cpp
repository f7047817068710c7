// SPDX-License-Identifier: MIT
// Plain tensors: strided, packed, aligned.
#include <tilewright/descriptor/make_descriptor.hpp>

#include <gtest/gtest.h>

namespace tilewright {
namespace {

TEST(MakeNaiveTensorDescriptor, SpaceEndsWithTheLastElement) {
  constexpr auto d =
      make_naive_tensor_descriptor(make_tuple(number<3>{}, number<4>{}), make_tuple(number<10>{}, number<2>{}));
  static_assert(d.get_element_space_size() == d.calculate_offset({2, 3}) + 1);
  const auto large = make_naive_tensor_descriptor(make_tuple(100000, 4), make_tuple(1000000, number<1>{}));
  EXPECT_EQ(large.get_element_space_size(), 99999ll * 1000000 + 4) << "64 bits";
}

TEST(MakeNaiveTensorDescriptor, StrideZeroRepeatsARow) {
  constexpr auto d =
      make_naive_tensor_descriptor(make_tuple(number<3>{}, number<4>{}), make_tuple(number<0>{}, number<1>{}));
  static_assert(d.calculate_offset({2, 3}) == 3 && d.get_element_space_size() == 4);
}

TEST(MakeNaiveTensorDescriptor, UpToSevenDimensions) {
  constexpr number<2> two{};
  constexpr auto d = make_naive_tensor_descriptor(
      make_tuple(two, two, two, two, two, two, two),
      make_tuple(number<64>{}, number<32>{}, number<16>{}, number<8>{}, number<4>{}, two, number<1>{}));
  static_assert(d.calculate_offset({1, 0, 1, 0, 1, 0, 1}) == 85);
}

TEST(MakeNaiveTensorDescriptorPacked, IsRowMajorWithoutGaps) {
  constexpr auto d = make_naive_tensor_descriptor_packed(make_tuple(number<3>{}, number<4>{}, number<5>{}));
  static_assert(d.calculate_offset({2, 3, 4}) == 59 && d.get_element_space_size() == 60);
  const auto mixed = make_naive_tensor_descriptor_packed(make_tuple(3, number<4>{}, 5));
  EXPECT_EQ(mixed.calculate_offset({2, 3, 4}), 59);
  EXPECT_EQ(mixed.get_element_space_size(), 60);
  EXPECT_EQ(make_naive_tensor_descriptor_packed(make_tuple(7)).calculate_offset({6}), 6);
}

TEST(MakeNaiveTensorDescriptorAligned, RoundsThePitchUp) {
  constexpr auto d =
      make_naive_tensor_descriptor_aligned(make_tuple(number<3>{}, number<4>{}, number<5>{}), number<8>{});
  static_assert(d.is_static() && d.calculate_offset({1, 0, 0}) == 32 && d.calculate_offset({0, 1, 0}) == 8 &&
                d.calculate_offset({0, 0, 1}) == 1);
  static_assert(d.get_element_space_size() == 2 * 32 + 3 * 8 + 5, "the last row ends with its last element");
  const auto run_time = make_naive_tensor_descriptor_aligned(make_tuple(3, 4, 5), 8);
  EXPECT_EQ(run_time.calculate_offset({2, 3, 4}), d.calculate_offset({2, 3, 4}));
  EXPECT_EQ(run_time.get_element_space_size(), d.get_element_space_size());
  const auto mixed = make_naive_tensor_descriptor_aligned(make_tuple(3, number<4>{}, number<5>{}), number<8>{});
  EXPECT_EQ(mixed.calculate_offset({2, 3, 4}), d.calculate_offset({2, 3, 4}));
  static_assert(make_naive_tensor_descriptor_aligned(make_tuple(number<5>{}), number<8>{}).get_element_space_size() ==
                5);
}

}  // namespace
}  // namespace tilewright
