// SPDX-License-Identifier: MIT
// Static and run-time parameters of transforms.
#include "rules.hpp"

#include <gtest/gtest.h>

namespace tilewright {
namespace {

TEST(TransformSpec, CountsWhatIsKnownOnlyAtRunTime) {
  constexpr auto t = make_embed_transform(make_tuple(4, number<8>{}), make_tuple(number<8>{}, 2));
  static_assert(t.spec.num_dynamic() == 2);
  static_assert(t.values[0] == 4 && t.values[1] == 2);
  EXPECT_TRUE(is_made_of(t, transform_kind::embed, 1, 2, {dynamic, 8, 8, dynamic, 0, 0}, {4, 2}));
}

TEST(TransformSpec, IsTheSameTypeForTheSameStaticPart) {
  static_assert(
      __is_same(decltype(make_offset_transform(number<4>{}, 1)), decltype(make_offset_transform(number<4>{}, 2))));
  static_assert(
      !__is_same(decltype(make_offset_transform(number<4>{}, 1)), decltype(make_offset_transform(number<5>{}, 1))));
  static_assert(sizeof(make_offset_transform(number<4>{}, 1)) == sizeof(index_t));
}

// As many dimensions and parameters as a transform holds.
TEST(TransformSpec, HasRoomForEightDimensions) {
  constexpr number<2> two{};
  const auto known = make_merge_transform(make_tuple(two, two, two, two, two, two, two, two));
  EXPECT_TRUE(is_made_of(known, transform_kind::merge, 8, 1, indices(8, 2), {}));
  const auto split = make_unmerge_transform(make_tuple(two, two, two, two, two, two, two, two));
  EXPECT_TRUE(is_made_of(split, transform_kind::unmerge, 1, 8, indices(8, 2), {}));
  const auto at_run_time = make_unmerge_transform(make_tuple(2, 2, 2, 2, 2, 2, 2, 2));
  EXPECT_TRUE(is_made_of(at_run_time, transform_kind::unmerge, 1, 8, indices(8, dynamic), indices(8, 2)));
  const auto divided = make_merge_transform_v3_division_mod(make_tuple(2, 2, 2, 2, 2, 2, 2, 2));
  EXPECT_TRUE(is_made_of(divided, transform_kind::merge, 8, 1, indices(8, dynamic), indices(8, 2)));
  indices lengths_and_strides(16, 2);
  lengths_and_strides[14] = lengths_and_strides[15] = 0;
  EXPECT_TRUE(is_made_of(make_embed_transform(make_tuple(two, two, two, two, two, two, two),
                                              make_tuple(two, two, two, two, two, two, two)),
                         transform_kind::embed, 1, 7, lengths_and_strides, {}));
}

TEST(TransformSpec, ArithmeticThatKnowsDynamic) {
  static_assert(detail::multiply(3, 4) == 12 && detail::multiply(dynamic, 4) == dynamic &&
                detail::multiply(3, dynamic) == dynamic);
  static_assert(detail::gcd_of_known(16, 24) == 8 && detail::gcd_of_known(16, dynamic) == 1);
}

/// Parameters with which each kind maps 5 differently: a swizzle of length 3 has one bit, which flips 2.
transform_spec sample(transform_kind kind) {
  transform_spec spec{kind, 1, 1, {}};
  for (const index_t p : {3, 4, 2, 1, 0, 7}) spec.parameters.push_back(p);
  return spec;
}

using enum transform_kind;
const std::vector<transform_kind> all_kinds = {pass_through, pad,       embed,        merge,  merge_magic, unmerge,
                                               xor_modulo,   swizzle,   cyclic_shift, offset, slice,       modulo,
                                               freeze,       replicate, indexing,     functor};

struct ten_times {
  constexpr index_t operator()(index_t i) const { return 10 * i; }
};

TEST(WithRules, FindsTheRulesOfAKind) {
  const auto lower_of_5 = [&](transform_kind kind) {
    transform_spec spec = sample(kind);
    spec.function = make_functor_transform(ten_times{}, 3).spec.function;
    if (kind == functor) spec.parameters[1] = 6;
    index_t up[2] = {5, 1}, low[2] = {};
    detail::with_rules(spec, [&](auto rules) {
      rules.lower(spec.parameters.begin(), kind == embed ? 1 : 2, up, low);
      return 0;
    });
    return 100 * low[0] + low[1];
  };
  EXPECT_EQ(lower_of_5(pass_through), 500);
  EXPECT_EQ(lower_of_5(pad), 100);
  EXPECT_EQ(lower_of_5(embed), 2200);
  EXPECT_EQ(lower_of_5(merge), 101);
  EXPECT_EQ(lower_of_5(merge_magic), 197) << "multiplier 2 and shift 1: quotient (0 + 5) >> 1, remainder 5 - 2 * 4";
  EXPECT_EQ(lower_of_5(unmerge), 2100);
  EXPECT_EQ(lower_of_5(xor_modulo), 500);
  EXPECT_EQ(lower_of_5(swizzle), 503);
  EXPECT_EQ(lower_of_5(cyclic_shift), 502);
  EXPECT_EQ(lower_of_5(offset), 900);
  EXPECT_EQ(lower_of_5(slice), 900);
  EXPECT_EQ(lower_of_5(modulo), 200);
  EXPECT_EQ(lower_of_5(freeze), 300);
  EXPECT_EQ(lower_of_5(replicate), 0);
  EXPECT_EQ(lower_of_5(indexing), -100);
  EXPECT_EQ(lower_of_5(functor), 5000);
}

TEST(WithRules, KnowWhichKindsAreLinearAndWhichMayBeInvalid) {
  std::vector<transform_kind> linear, may_be_invalid;
  for (const transform_kind kind : all_kinds) {
    transform_spec spec = sample(kind);
    spec.function = make_functor_transform(ten_times{}, 3).spec.function;
    if (detail::with_rules(spec, [](auto rules) { return rules.linear != detail::linear_rule::none; }))
      linear.push_back(kind);
    if (detail::with_rules(spec, [](auto rules) { return rules.may_be_invalid; })) may_be_invalid.push_back(kind);
  }
  EXPECT_EQ(linear, (std::vector{pass_through, pad, embed, unmerge, offset, slice, freeze, replicate}));
  EXPECT_EQ(may_be_invalid, (std::vector{pad, indexing, functor}));
}

}  // namespace
}  // namespace tilewright
