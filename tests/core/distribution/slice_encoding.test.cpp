// SPDX-License-Identifier: MIT
// Parts of distributed tiles: which can be cut, and where their elements are in the whole.
#include "naive_distribution.hpp"

#include <tilewright/core/base/math.hpp>
#include <tilewright/core/distribution/slice_encoding.hpp>

#include <gtest/gtest.h>

namespace tilewright {
namespace {

using naive::indices;

// 4 waves of 64 share 128 x 32; a thread holds 2 rows, 64 apart, and 8 columns.
using copy = tile_distribution_encoding<sequence<>, tuple<sequence<2, 4, 16>, sequence<4, 8>>,
                                        tuple<sequence<1>, sequence<1, 2>>, tuple<sequence<1>, sequence<2, 0>>,
                                        sequence<1, 2>, sequence<0, 1>>;
// One thread's tile of 24: three digits, all in registers.
using registers = tile_distribution_encoding<sequence<>, tuple<sequence<2, 3, 4>>, tuple<sequence<>>, tuple<sequence<>>,
                                             sequence<1, 1, 1>, sequence<0, 1, 2>>;

slice_fault fault_of_copy(index_t row0, index_t row1, index_t col0, index_t col1) {
  return slice(copy::value, multi_index<2>{{row0, col0}}, multi_index<2>{{row1, col1}}).fault;
}

TEST(SliceEncoding, LowerHalfOfTheRows) {
  constexpr encoding_slice part = slice(copy::value, multi_index<2>{{64, 0}}, multi_index<2>{{128, 32}});
  static_assert(part.fault == slice_fault::none && check_encoding(part.encoding).is_sound());
  static_assert(part.encoding.x_length(0) == 64 && part.encoding.x_length(1) == 32);
  static_assert(part.y_begins[0] == 1 && part.y_lengths[0] == 1 && part.y_begins[1] == 0 && part.y_lengths[1] == 8);
  EXPECT_EQ(naive::ownership_fault(part.encoding), "");
  naive::each_index({4, 64, 1, 8}, [&](const indices& i) {
    const indices whole = naive::position(copy::value, {i[0], i[1]}, {i[2] + 1, i[3]});
    EXPECT_EQ(naive::position(part.encoding, {i[0], i[1]}, {i[2], i[3]}), (indices{whole[0] - 64, whole[1]}));
  });
}

TEST(SliceEncoding, TheWholeIsAPart) {
  constexpr encoding_slice part = slice(copy::value, multi_index<2>{{0, 0}}, multi_index<2>{{128, 32}});
  static_assert(part.fault == slice_fault::none && part.encoding == copy::value);
}

TEST(SliceEncoding, ThreadsMayNotBeCut) {
  EXPECT_EQ(fault_of_copy(0, 16, 0, 32), slice_fault::cuts_threads) << "a wave's rows";
  EXPECT_EQ(fault_of_copy(0, 128, 0, 8), slice_fault::cuts_threads) << "the columns of a quarter of the lanes";
  EXPECT_EQ(fault_of_copy(0, 128, 0, 4), slice_fault::cuts_threads) << "half of them";
  EXPECT_EQ(fault_of_copy(0, 128, 4, 12), slice_fault::no_box);
  EXPECT_EQ(fault_of_copy(32, 96, 0, 32), slice_fault::no_box);
}

TEST(SliceEncoding, RangesOutsideOfTheTile) {
  EXPECT_EQ(fault_of_copy(64, 64, 0, 32), slice_fault::empty);
  EXPECT_EQ(fault_of_copy(64, 0, 0, 32), slice_fault::empty);
  EXPECT_EQ(fault_of_copy(-64, 64, 0, 32), slice_fault::out_of_range);
  EXPECT_EQ(fault_of_copy(64, 192, 0, 32), slice_fault::out_of_range);
  EXPECT_EQ(slice(copy::value, multi_index<2>{{0, 30}}, multi_index<2>{{128, 40}}).dimension, 1);
}

// Ranges that are a box keep exactly their elements; the others are refused.
TEST(SliceEncoding, OfOneThreadsRegisters) {
  constexpr distribution_encoding e = registers::value;
  for (index_t begin = 0; begin < 24; ++begin) {
    for (index_t end = begin + 1; end <= 24; ++end) {
      const encoding_slice part = slice(e, multi_index<1>{{begin}}, multi_index<1>{{end}});
      // A box by definition: the digits of the range are a product of ranges.
      index_t low[3] = {9, 9, 9}, high[3] = {-1, -1, -1}, box = 1;
      for (index_t x = begin; x < end; ++x) {
        const index_t digits[3] = {x / 12, x / 4 % 3, x % 4};
        for (index_t d = 0; d < 3; ++d) {
          low[d] = min(low[d], digits[d]);
          high[d] = max(high[d], digits[d]);
        }
      }
      for (index_t d = 0; d < 3; ++d) box *= high[d] - low[d] + 1;
      ASSERT_EQ(part.fault, box == end - begin ? slice_fault::none : slice_fault::no_box) << begin << " to " << end;
      if (part.fault != slice_fault::none) continue;
      for (index_t d = 0; d < 3; ++d) {
        EXPECT_EQ(part.y_begins[d], low[d]);
        EXPECT_EQ(part.y_lengths[d], high[d] - low[d] + 1);
      }
      EXPECT_EQ(part.encoding.x_length(0), end - begin);
    }
  }
}

TEST(SliceEncoding, HasCkTilesSpelling) {
  constexpr auto part =
      slice_distribution_from_x(make_static_tile_distribution(copy{}), sequence<0, 0>{}, sequence<64, 32>{});
  static_assert(part.get<0>().get_lengths() == multi_index<2>{{64, 32}} && part.get<0>().num_threads() == 256);
  static_assert(part.get<1>() == multi_index<2>{{0, 0}} && part.get<2>() == multi_index<2>{{1, 8}});
}

}  // namespace
}  // namespace tilewright
