// SPDX-License-Identifier: MIT
// Elements that share a place, places without an element.
#include "sample_descriptors.hpp"

#include <tilewright/core/descriptor/properties.hpp>

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace tilewright {
namespace {

TEST(Properties, AgreeWithWhatTheElementsSay) {
  std::set<std::string> unique, exhaustive;
  const auto compare = [&](const char* name, const auto& descriptor, auto formula) {
    std::multiset<index_t> places;
    samples::each_index(descriptor.get_lengths(), [&](const auto& index) {
      if (const auto offset = formula(index)) places.insert(*offset);
    });
    const std::set<index_t> different(places.begin(), places.end());
    EXPECT_EQ(is_unique(descriptor), different.size() == places.size()) << name;
    EXPECT_EQ(is_exhaustive(descriptor), long_index_t(different.size()) == descriptor.get_element_space_size()) << name;
    if (is_unique(descriptor)) unique.insert(name);
    if (is_exhaustive(descriptor)) exhaustive.insert(name);
  };
  samples::sample_maker<true>::each(compare);
  samples::sample_maker<false>::each(compare);
  EXPECT_TRUE(unique.contains("merge above xor") && !unique.contains("broadcast") && !unique.contains("gathered"));
  EXPECT_TRUE(exhaustive.contains("shifted cyclically") && !exhaustive.contains("strided"));
}

TEST(Properties, AreConstantExpressionsForWholeTiles) {
  constexpr auto tile = make_naive_tensor_descriptor_packed(make_tuple(number<128>{}, number<8>{}, number<8>{}));
  constexpr auto swizzled = transform_tensor_descriptor(
      tile,
      make_tuple(make_xor_transform(make_tuple(number<128>{}, number<8>{})), make_pass_through_transform(number<8>{})),
      make_tuple(sequence<0, 1>{}, sequence<2>{}), make_tuple(sequence<0, 1>{}, sequence<2>{}));
  constexpr auto matrix = transform_tensor_descriptor(
      swizzled,
      make_tuple(make_pass_through_transform(number<128>{}),
                 make_merge_transform(make_tuple(number<8>{}, number<8>{}))),
      make_tuple(sequence<0>{}, sequence<1, 2>{}), make_tuple(sequence<0>{}, sequence<1>{}));
  static_assert(is_unique(matrix) && is_exhaustive(matrix));
  constexpr auto padded =
      make_naive_tensor_descriptor(make_tuple(number<128>{}, number<64>{}), make_tuple(number<72>{}, number<1>{}));
  static_assert(is_unique(padded) && !is_exhaustive(padded));
}

TEST(Properties, StridesThatInterleave) {
  const auto strided = [](index_t n0, index_t n1, index_t s0, index_t s1) {
    return make_naive_tensor_descriptor(make_tuple(n0, n1), make_tuple(s0, s1));
  };
  EXPECT_TRUE(is_unique(strided(2, 2, 3, 2))) << "0 2 3 5";
  EXPECT_FALSE(is_unique(strided(3, 4, 3, 2))) << "6 = 2 * 3 = 3 * 2";
  EXPECT_TRUE(is_unique(strided(4, 6, 1, 4)));
  EXPECT_TRUE(is_exhaustive(strided(4, 6, 1, 4)));
  EXPECT_FALSE(is_unique(strided(4, 6, 1, 3)));
  EXPECT_TRUE(is_exhaustive(strided(4, 6, 1, 3)));
  EXPECT_FALSE(is_unique(strided(4, 6, 1, 0)));
  EXPECT_TRUE(is_exhaustive(strided(4, 6, 1, 0)));
  EXPECT_TRUE(is_unique(strided(1, 6, 0, 1))) << "a stride that is never taken";
}

TEST(Properties, OfHugeTensorsAreSeenThrough) {
  const auto huge = make_naive_tensor_descriptor_packed(make_tuple(30000, 70000));
  EXPECT_TRUE(is_unique(huge));
  EXPECT_TRUE(is_exhaustive(huge));
  const auto pitched = make_naive_tensor_descriptor(make_tuple(30000, 70000), make_tuple(70016, number<1>{}));
  EXPECT_TRUE(is_unique(pitched));
  EXPECT_FALSE(is_exhaustive(pitched));
}

TEST(Properties, OffsetsBeforeTheTensorOrBehindIt) {
  const auto turned = [](index_t constant, long_index_t space) {
    const auto base = make_single_stage_tensor_adaptor(
        make_tuple(make_embed_transform(make_tuple(2, number<3>{}), make_tuple(number<-3>{}, number<1>{}), number<1>{},
                                        constant)),
        make_tuple(sequence<0>{}), make_tuple(sequence<0, 1>{}));
    return make_tensor_descriptor_from_adaptor(base, space);
  };
  EXPECT_TRUE(is_unique(turned(3, 6)) && is_exhaustive(turned(3, 6)));
  EXPECT_TRUE(is_unique(turned(2, 6)) && !is_exhaustive(turned(2, 6)));
  EXPECT_TRUE(is_unique(turned(4, 6)) && !is_exhaustive(turned(4, 6)));
  const auto twice = [&](index_t constant, long_index_t space) {
    return transform_tensor_descriptor(
        turned(constant, space), make_tuple(make_modulo_transform(1, 2), make_pass_through_transform(number<3>{})),
        make_tuple(sequence<0>{}, sequence<1>{}), make_tuple(sequence<0>{}, sequence<1>{}));
  };
  EXPECT_TRUE(!is_unique(twice(0, 3)) && is_exhaustive(twice(0, 3)));
  EXPECT_TRUE(!is_unique(twice(-3, 3)) && !is_exhaustive(twice(-3, 3))) << "all of them before the tensor";
  EXPECT_TRUE(!is_unique(twice(3, 3)) && !is_exhaustive(twice(3, 3))) << "all of them behind it";
}

TEST(Properties, OfNothing) {
  const auto none = make_naive_tensor_descriptor_packed(make_tuple(0, 4));
  EXPECT_TRUE(is_unique(none) && is_exhaustive(none));
  EXPECT_EQ(none.get_element_space_size(), 0);
}

// Taking the merge away would leave more dimensions than a graph has room for at its top.
TEST(Properties, OfManyDimensions) {
  constexpr number<2> two{};
  const auto packed = make_naive_tensor_descriptor_packed(make_tuple(two, two, two, two, two, two, two, number<8>{}));
  const auto merged = transform_tensor_descriptor(
      packed,
      make_tuple(make_merge_transform(make_tuple(two, two, two, two, two, two, two)),
                 make_pass_through_transform(number<8>{})),
      make_tuple(sequence<0, 1, 2, 3, 4, 5, 6>{}, sequence<7>{}), make_tuple(sequence<0>{}, sequence<1>{}));
  constexpr number<1> one{};
  const auto sliding = transform_tensor_descriptor(
      merged,
      make_tuple(make_pass_through_transform(number<128>{}),
                 make_embed_transform(make_tuple(two, two, two, two, two, two, two),
                                      make_tuple(one, one, one, one, one, one, one))),
      make_tuple(sequence<0>{}, sequence<1>{}), make_tuple(sequence<0>{}, sequence<1, 2, 3, 4, 5, 6, 7>{}));
  EXPECT_EQ(is_unique(merged), true);  // not a condition, which the compiler would work out
  EXPECT_EQ(is_exhaustive(merged), true);
  EXPECT_EQ(is_unique(sliding), false);
  EXPECT_EQ(is_exhaustive(sliding), true);
}

// A problem without rows is one, too: nothing exists, and nothing is divided by.
TEST(EmptyTensors, MergedAtRunTime) {
  for (const auto& lengths : {multi_index<2>{{4, 0}}, multi_index<2>{{0, 4}}, multi_index<2>{{0, 0}}}) {
    const index_t a = lengths[0], b = lengths[1];
    const auto merged = transform_tensor_descriptor(make_naive_tensor_descriptor_packed(make_tuple(a, b)),
                                                    make_tuple(make_merge_transform(make_tuple(a, b))),
                                                    make_tuple(sequence<0, 1>{}), make_tuple(sequence<0>{}));
    EXPECT_EQ(merged.get_lengths(), multi_index<1>{});
    EXPECT_FALSE(merged.is_valid({0}));
    EXPECT_TRUE(is_unique(merged) && is_exhaustive(merged) && merged.offsets_fit());
    EXPECT_EQ(merged.get_element_space_size(), 0);
  }
}

}  // namespace
}  // namespace tilewright
