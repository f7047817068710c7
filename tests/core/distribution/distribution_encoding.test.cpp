// SPDX-License-Identifier: MIT
// Encodings: sound and unsound ones, and their spelling as a type.
#include "naive_distribution.hpp"

#include <gtest/gtest.h>

namespace tilewright {
namespace {

// 2 waves of 8 lanes share a tile of 8 x 16; each thread holds 2 x 4, and the halves of a wave hold the same.
using type = tile_distribution_encoding<sequence<2>, tuple<sequence<2, 2, 2>, sequence<4, 4>>,
                                        tuple<sequence<1>, sequence<0, 1, 2>>, tuple<sequence<0>, sequence<0, 1, 0>>,
                                        sequence<1, 2>, sequence<2, 1>>;
constexpr distribution_encoding encoding = type::value;

TEST(DistributionEncoding, TypeListsBecomeAValue) {
  static_assert(encoding.ndim_x() == 2 && encoding.ndim_p() == 2 && encoding.ndim_y() == 2);
  static_assert(encoding.r.size() == 1 && encoding.h[0].size() == 3 && encoding.h[1][1] == 4);
  static_assert(encoding.p[0][0] == rh_id{1, 0} && encoding.p[1][0] == rh_id{0, 0} && encoding.p[1][2] == rh_id{2, 0});
  static_assert(encoding.y[0] == rh_id{1, 2} && encoding.y[1] == rh_id{2, 1});
}

TEST(DistributionEncoding, LengthsAndStrides) {
  static_assert(encoding.x_length(0) == 8 && encoding.x_length(1) == 16);
  static_assert(encoding.p_length(0) == 2 && encoding.p_length(1) == 16);
  static_assert(encoding.y_length(0) == 2 && encoding.y_length(1) == 4 && encoding.num_elements_per_thread() == 8);
  static_assert(encoding.stride({1, 0}) == 4 && encoding.stride({1, 1}) == 2 && encoding.stride({1, 2}) == 1 &&
                encoding.stride({2, 0}) == 4);
  static_assert(check_encoding(encoding).is_sound() && check_encoding(encoding).id == rh_id{-1, -1});
  EXPECT_EQ(naive::ownership_fault(encoding), "");
}

void expect_fault(distribution_encoding e, detail::encoding_fault fault, rh_id id) {
  EXPECT_EQ(check_encoding(e).fault, fault);
  EXPECT_EQ(check_encoding(e).id, id) << int(check_encoding(e).id.major) << " " << int(check_encoding(e).id.minor);
}

TEST(DistributionEncoding, CheckNamesTheFactorThatIsWrong) {
  using enum detail::encoding_fault;
  distribution_encoding e = encoding;
  e.y[0] = {1, 3};
  expect_fault(e, unknown_factor, {1, 3});
  e.y[0] = {3, 0};
  expect_fault(e, unknown_factor, {3, 0});
  e.y[0] = {1, -1};
  expect_fault(e, unknown_factor, {1, -1});
  e.y[0] = {2, 1};
  expect_fault(e, owned_twice, {2, 1});
  e.y[0] = {1, 0};
  expect_fault(e, owned_twice, {1, 0});
  e.y[0] = {0, 0};
  expect_fault(e, replicated_per_thread, {0, 0});
  e = encoding;
  e.p[1] = {};
  expect_fault(e, owned_by_none, {0, 0});
  e = encoding;
  e.h[1][0] = 0;
  expect_fault(e, bad_length, {2, 0});
  e = encoding;
  e.p[0][0] = {2, 0};
  expect_fault(e, owned_twice, {2, 0});
  e = encoding;
  e.p[0][0] = {5, 0};
  expect_fault(e, unknown_factor, {5, 0});
}

TEST(DistributionEncoding, TakesNoLargeIdForASmallOne) {
  using encoding = tile_distribution_encoding<sequence<>, tuple<sequence<4>>, tuple<sequence<257>>, tuple<sequence<0>>,
                                              sequence<>, sequence<>>;
  static_assert(check_encoding(encoding::value).fault == detail::encoding_fault::unknown_factor);
}

TEST(DistributionEncoding, HoldsAsMuchAsItSays) {
  using six = sequence<2, 1, 2, 1, 2, 1>;
  using full = tile_distribution_encoding<six, tuple<six, six, six, sequence<2>>,
                                          tuple<sequence<0, 0, 0, 0, 0, 0>, sequence<1, 1, 1, 1, 1, 1>>,
                                          tuple<sequence<0, 1, 2, 3, 4, 5>, sequence<0, 1, 2, 3, 4, 5>>,
                                          sequence<2, 2, 2, 3, 3, 3, 3, 4>, sequence<0, 2, 4, 0, 1, 2, 4, 0>>;
  constexpr distribution_encoding e = full::value;
  static_assert(check_encoding(e).is_sound());
  static_assert(e.ndim_x() == distribution_encoding::max_x && e.ndim_p() == distribution_encoding::max_p &&
                e.ndim_y() == distribution_encoding::max_y && e.h[2].size() == distribution_encoding::max_factors);
  EXPECT_EQ(naive::ownership_fault(e), "");
}

TEST(DistributionEncoding, AFactorOfOneNeedsNoOwner) {
  distribution_encoding e = encoding;
  e.h[1].push_back(1);
  EXPECT_TRUE(check_encoding(e).is_sound());
}

}  // namespace
}  // namespace tilewright
