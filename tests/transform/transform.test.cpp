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
  EXPECT_TRUE(is_made_of(t, transform_kind::embed, 1, 2, {dynamic, 8, 8, dynamic, 1}, {4, 2}));
}

TEST(TransformSpec, IsTheSameTypeForTheSameStaticPart) {
  static_assert(
      __is_same(decltype(make_offset_transform(number<4>{}, 1)), decltype(make_offset_transform(number<4>{}, 2))));
  static_assert(
      !__is_same(decltype(make_offset_transform(number<4>{}, 1)), decltype(make_offset_transform(number<5>{}, 1))));
  static_assert(sizeof(make_offset_transform(number<4>{}, 1)) == sizeof(index_t));
}

TEST(TransformSpec, ArithmeticThatKnowsDynamic) {
  static_assert(detail::multiply(3, 4) == 12 && detail::multiply(dynamic, 4) == dynamic &&
                detail::multiply(3, dynamic) == dynamic);
  static_assert(detail::gcd_of_known(16, 24) == 8 && detail::gcd_of_known(16, dynamic) == 1);
}

TEST(WithRules, FindsTheRulesOfAKind) {
  using enum transform_kind;
  for (const transform_kind kind : {pass_through, pad, embed, merge, unmerge, xor_modulo, swizzle, offset, freeze}) {
    const bool linear = with_rules(kind, [](auto rules) { return rules.linear; });
    EXPECT_EQ(linear, kind != merge && kind != xor_modulo && kind != swizzle);
  }
  // Each kind maps 5 differently where parameters are 3, 4, 2.
  const index_t p[] = {3, 4, 2};  // a swizzle of length 3 has one bit, which flips 2
  const auto lower_of_5 = [&](transform_kind kind) {
    index_t up[2] = {5, 1}, low[2] = {};
    with_rules(kind, [&](auto rules) {
      rules.lower(p, kind == embed ? 1 : 2, up, low);
      return 0;
    });
    return 100 * low[0] + low[1];
  };
  EXPECT_EQ(lower_of_5(pass_through), 500);
  EXPECT_EQ(lower_of_5(pad), 100);
  EXPECT_EQ(lower_of_5(embed), 2000);
  EXPECT_EQ(lower_of_5(merge), 101);
  EXPECT_EQ(lower_of_5(unmerge), 2100);
  EXPECT_EQ(lower_of_5(xor_modulo), 500);
  EXPECT_EQ(lower_of_5(swizzle), 503);
  EXPECT_EQ(lower_of_5(offset), 900);
  EXPECT_EQ(lower_of_5(freeze), 300);
}

}  // namespace
}  // namespace tilewright
