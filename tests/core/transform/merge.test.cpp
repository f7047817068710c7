// SPDX-License-Identifier: MIT
// Several lower dimensions as one.
#include "rules.hpp"

#include <gtest/gtest.h>

namespace tilewright {
namespace {

using merge = rules_of<transform_kind::merge>;

TEST(Merge, CountsThroughTheLowerDimensionsWithTheLastOneFastest) {
  const merge m{{3, 4, 5}, 3, 1};
  index_t next = 0;
  for (index_t i = 0; i < 3; ++i) {
    for (index_t j = 0; j < 4; ++j) {
      for (index_t k = 0; k < 5; ++k) EXPECT_EQ(m.lower({next++}), (indices{i, j, k}));
    }
  }
  EXPECT_EQ(m.lower({60}), (indices{3, 0, 0})) << "past the end, only the first index leaves its length";
  EXPECT_EQ(m.upper_lengths(), indices{60});
  EXPECT_EQ(m.lower_lengths(), (indices{3, 4, 5}));
}

TEST(Merge, OfOneDimension) {
  const merge m{{8}, 1, 1};
  EXPECT_EQ(m.lower({5}), indices{5});
  EXPECT_EQ(m.upper_lengths(), indices{8});
  EXPECT_EQ(m.run({4}), indices{4});
}

TEST(Merge, LengthIsUnknownWhenAFactorIs) {
  EXPECT_EQ((merge{{dynamic, 4}, 2, 1}.upper_lengths()), indices{dynamic});
  EXPECT_EQ((merge{{4, dynamic}, 2, 1}.upper_lengths()), indices{dynamic});
}

TEST(Merge, Run) {
  EXPECT_EQ((merge{{3, 16}, 2, 1}.run({1, 16})), indices{16});
  EXPECT_EQ((merge{{3, 12}, 2, 1}.run({1, 8})), indices{4});
  EXPECT_EQ((merge{{3, 16}, 2, 1}.run({64, 1})), indices{1}) << "the first dimension's run is of no use";
  EXPECT_EQ((merge{{3, dynamic}, 2, 1}.run({1, 16})), indices{16}) << "a run divides a run-time length";
}

TEST(Merge, IsF2LinearUnlessALengthAfterTheFirstIsOdd) {
  EXPECT_TRUE((merge{{3, 16, 2}, 3, 1}.f2_linear()));
  EXPECT_TRUE((merge{{dynamic, 16}, 2, 1}.f2_linear()));
  EXPECT_FALSE((merge{{4, 12}, 2, 1}.f2_linear()));
  EXPECT_FALSE((merge{{4, dynamic}, 2, 1}.f2_linear()));
}

using merge_magic = rules_of<transform_kind::merge_magic>;

/// Parameters as make_merge_transform_v2_magic_division computes them.
indices with_magic(indices lengths) {
  indices parameters = lengths;
  for (std::size_t i = 1; i < lengths.size(); ++i)
    parameters.push_back(index_t(detail::make_magic_division(lengths[i]).multiplier));
  for (std::size_t i = 1; i < lengths.size(); ++i) parameters.push_back(detail::make_magic_division(lengths[i]).shift);
  return parameters;
}

TEST(MergeMagic, SplitsAsDivisionDoes) {
  for (const indices& lengths : {indices{3, 4, 5}, indices{7}, indices{2, 1, 6, 5, 3}}) {
    const index_t n = index_t(lengths.size());
    const merge by_division{lengths, n, 1};
    const merge_magic by_magic{with_magic(lengths), n, 1};
    EXPECT_EQ(by_magic.upper_lengths(), by_division.upper_lengths());
    EXPECT_EQ(by_magic.lower_lengths(), by_division.lower_lengths());
    for (index_t i = 0; i < 200; ++i) EXPECT_EQ(by_magic.lower({i}), by_division.lower({i})) << i;
  }
}

/// Lower indices on both sides of zero, and moves between them.
template <transform_kind Kind>
void expect_counts_through_zero(const indices& parameters) {
  using rules = detail::transform_rules<Kind>;
  const auto place = [&](index_t up) {
    indices low(4);
    detail::lower_anywhere(rules{}, parameters.data(), 3, &up, low.data());
    return low;
  };
  for (index_t up = -100; up <= 100; ++up) {
    const indices low = place(up);
    EXPECT_EQ(low[0] * 20 + low[1] * 5 + low[2], up);
    EXPECT_TRUE(0 <= low[1] && low[1] < 4 && 0 <= low[2] && low[2] < 5) << up;
    for (index_t step = -70; step <= 70; ++step) {
      const index_t target = up + step;
      indices low_step(4);
      detail::move_lower(rules{}, parameters.data(), 3, 1, &target, &step, low.data(), low_step.data());
      const indices there = place(target);
      for (std::size_t d = 0; d < 3; ++d) EXPECT_EQ(low[d] + low_step[d], there[d]) << up << " moved by " << step;
    }
  }
}

TEST(Merge, MovesThroughZero) { expect_counts_through_zero<transform_kind::merge>({3, 4, 5}); }
TEST(MergeMagic, MovesThroughZero) { expect_counts_through_zero<transform_kind::merge_magic>(with_magic({3, 4, 5})); }

/// Moves from one place of a dimension of 2^30 and more to another.
template <transform_kind Kind>
void expect_moves_along(const indices& parameters, index_t length) {
  using rules = detail::transform_rules<Kind>;
  for (const index_t from : {index_t(0), length / 2 + 5, length - 1}) {
    for (const index_t to : {index_t(1), length / 2, length - 3}) {
      index_t low[3], low_step[3] = {};
      const index_t step = to - from;
      rules::lower_anywhere(parameters.data(), 2, &from, low);
      detail::move_lower(rules{}, parameters.data(), 2, 1, &to, &step, low, low_step);
      EXPECT_EQ(low_step[0], 0) << from << " to " << to << " of " << length;
      EXPECT_EQ(low[1] + low_step[1], to) << "from " << from << " of " << length;
    }
  }
}

TEST(Merge, MovesAlongDimensionsOfAllLengths) {
  for (const index_t length : {1 << 30, 1610612736, 2147483647}) {
    expect_moves_along<transform_kind::merge>({1, length}, length);
    expect_moves_along<transform_kind::merge_magic>(with_magic({1, length}), length);
  }
}

TEST(Merge, KnowsWhenItsLengthIsTooLarge) {
  EXPECT_TRUE((merge{{1 << 15, 1 << 15}, 2, 1}.fits()));
  EXPECT_TRUE((merge{{2147483647, 1}, 2, 1}.fits()));
  EXPECT_FALSE((merge{{1 << 16, 1 << 15}, 2, 1}.fits()));
  EXPECT_FALSE((merge{{1 << 30, 1 << 30, 1 << 30, 1 << 30, 1 << 30}, 5, 1}.fits()));
  EXPECT_TRUE((merge{{1 << 30, dynamic}, 2, 1}.fits())) << "as far as is known";
}

TEST(Merge, OfRunTimeLengthsDividesByMagic) {
  const detail::magic_division four = detail::make_magic_division(4), five = detail::make_magic_division(5);
  EXPECT_TRUE(is_made_of(make_merge_transform(make_tuple(3, number<4>{}, 5)), transform_kind::merge_magic, 3, 1,
                         {dynamic, 4, dynamic, index_t(four.multiplier), dynamic, four.shift, dynamic},
                         {3, 5, index_t(five.multiplier), five.shift}));
  EXPECT_TRUE(
      is_made_of(make_merge_transform(make_tuple(3, number<4>{})), transform_kind::merge, 2, 1, {dynamic, 4}, {3}))
      << "nothing is divided by the first length";
  EXPECT_TRUE(is_made_of(make_merge_transform(make_tuple(2, 2, 2, 2, 2, 2, 2)), transform_kind::merge, 7, 1,
                         indices(7, dynamic), indices(7, 2)))
      << "too many for magic";
}

TEST(Merge, IsMadeFromItsLengths) {
  EXPECT_TRUE(is_made_of(make_merge_transform_v3_division_mod(make_tuple(3, number<4>{}, 5)), transform_kind::merge, 3,
                         1, {dynamic, 4, dynamic}, {3, 5}));
}

}  // namespace
}  // namespace tilewright
