// SPDX-License-Identifier: MIT
// Descriptors against formulas, with lengths that the compiler knows and with lengths of run time.
#include "sample_descriptors.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace tilewright {
namespace {

template <bool Static>
void expect_formulas() {
  samples::sample_maker<Static>::each([](const char* name, const auto& descriptor, auto formula) {
    EXPECT_EQ(descriptor.is_static(), Static) << name;
    index_t largest = 0;
    samples::each_index(descriptor.get_lengths(), [&](const auto& index) {
      const auto expected = formula(index);
      EXPECT_EQ(descriptor.is_valid(index), expected.has_value()) << name;
      if (!expected) return;
      EXPECT_EQ(descriptor.calculate_offset(index), *expected) << name;
      largest = std::max(largest, *expected);
    });
    EXPECT_LT(largest, descriptor.get_element_space_size()) << name;
    EXPECT_TRUE(descriptor.offsets_fit()) << name;
  });
}

TEST(TensorDescriptor, FollowsTheFormulaWithStaticLengths) { expect_formulas<true>(); }
TEST(TensorDescriptor, FollowsTheFormulaWithRunTimeLengths) { expect_formulas<false>(); }

TEST(TensorDescriptor, StaticAndRunTimeFormsAgree) {
  std::map<std::string, std::vector<index_t>> offsets[2];
  const auto collect = [&](auto& into) {
    return [&into](const char* name, const auto& descriptor, auto) {
      samples::each_index(descriptor.get_lengths(), [&](const auto& index) {
        into[name].push_back(descriptor.is_valid(index) ? descriptor.calculate_offset(index) : -1);
      });
    };
  };
  samples::sample_maker<true>::each(collect(offsets[0]));
  samples::sample_maker<false>::each(collect(offsets[1]));
  EXPECT_EQ(offsets[0], offsets[1]);
}

// Outside of its lengths nothing is valid, in no direction.
TEST(TensorDescriptor, IsValidEndsWithTheLengths) {
  samples::sample_maker<false>::each([](const char* name, const auto& descriptor, auto) {
    const auto lengths = descriptor.get_lengths();
    for (index_t d = 0; d < descriptor.ndim; ++d) {
      for (const index_t outside : {-1, lengths[d], lengths[d] + 100}) {
        auto index = lengths;
        for (index_t& i : index) i /= 2;
        index[d] = outside;
        EXPECT_FALSE(descriptor.is_valid(index)) << name << ", dimension " << d;
      }
    }
  });
}

constexpr auto static_matrix =
    make_naive_tensor_descriptor(make_tuple(number<12>{}, number<20>{}), make_tuple(number<24>{}, number<1>{}));
const auto mixed_matrix = make_naive_tensor_descriptor(make_tuple(12, number<20>{}), make_tuple(24, number<1>{}));

TEST(TensorDescriptor, LengthsAreNumbersWhereTheCompilerKnowsThem) {
  static_assert(detail::is_number_v<decltype(static_matrix.get_length<0>())> && static_matrix.get_length<1>() == 20);
  static_assert(!detail::is_number_v<decltype(mixed_matrix.get_length<0>())> &&
                detail::is_number_v<decltype(mixed_matrix.get_length<1>())>);
  EXPECT_EQ(mixed_matrix.get_length<0>(), 12);
  EXPECT_EQ(mixed_matrix.get_lengths(), (multi_index<2>{{12, 20}}));
  static_assert(static_matrix.is_static() && !mixed_matrix.is_static());
  static_assert(static_matrix.get_num_of_dimension() == 2);
}

TEST(TensorDescriptor, HoldsOnlyWhatIsKnownAtRunTime) {
  static_assert(sizeof(mixed_matrix) == sizeof(long_index_t) + 2 * sizeof(index_t));
}

TEST(TensorDescriptor, EqualsOneWithTheSameValues) {
  const auto matrix = [](index_t rows) {
    return make_naive_tensor_descriptor(make_tuple(rows, 20), make_tuple(24, number<1>{}));
  };
  EXPECT_EQ(matrix(12), matrix(12));
  EXPECT_NE(matrix(12), matrix(13));
}

TEST(TensorDescriptor, OffsetsAreConstantExpressions) {
  static_assert(static_matrix.calculate_offset({3, 5}) == 77);
  static_assert(static_matrix.calculate_offset(make_tuple(number<3>{}, 5)) == 77);
  static_assert(static_matrix.is_valid({11, 19}) && !static_matrix.is_valid({12, 0}) &&
                !static_matrix.is_valid({0, -1}));
  static_assert(static_matrix.calculate_hidden_index({3, 5}) == (array<index_t, 3>{{77, 3, 5}}));
}

// An index in a left pad is negative below it, and merges make large numbers of
// negative ones: still a constant expression.
TEST(TensorDescriptor, PadsAboveMergesAreConstantExpressions) {
  constexpr auto matrix =
      make_naive_tensor_descriptor(make_tuple(number<6>{}, number<7>{}), make_tuple(number<100>{}, number<1>{}));
  constexpr auto flat =
      transform_tensor_descriptor(matrix, make_tuple(make_merge_transform(make_tuple(number<6>{}, number<7>{}))),
                                  make_tuple(sequence<0, 1>{}), make_tuple(sequence<0>{}));
  constexpr auto padded =
      transform_tensor_descriptor(flat, make_tuple(make_pad_transform(number<42>{}, number<3>{}, number<5>{})),
                                  make_tuple(sequence<0>{}), make_tuple(sequence<0>{}));
  static_assert(!padded.is_valid({2}) && padded.is_valid({3}) && padded.is_valid({44}) && !padded.is_valid({45}));
  static_assert(padded.calculate_offset({3 + 13}) == 106);
}

TEST(TensorDescriptor, IsRecognised) {
  static_assert(TensorDescriptor<std::remove_cv_t<decltype(static_matrix)>> && !TensorDescriptor<multi_index<2>> &&
                !TensorDescriptor<int>);
}

}  // namespace
}  // namespace tilewright
