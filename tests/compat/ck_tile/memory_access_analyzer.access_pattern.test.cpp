// SPDX-License-Identifier: MIT
// Locality of the documented curves, and accesses that coalesce.
#include <tilewright/compat/ck_tile/memory_access_analyzer.hpp>
#include <tilewright/core/base/types.hpp>

#include <gtest/gtest.h>

#include <set>

namespace tilewright {
namespace {

using row_major = space_filling_curve<2, sequence<4, 6>, sequence<0, 1>, sequence<1, 1>, false>;
using column_major = space_filling_curve<2, sequence<4, 6>, sequence<1, 0>, sequence<1, 1>, false>;
using vectorized = space_filling_curve<2, sequence<4, 8>, sequence<0, 1>, sequence<1, 4>, false>;

TEST(AccessPattern, StepsInTheCoordinates) {
  static_assert(access_pattern_analyzer<row_major>::analyze_locality() == access_locality{20, 3, 0});
  static_assert(access_pattern_analyzer<column_major>::analyze_locality() == access_locality{18, 5, 0});
  static_assert(access_pattern_analyzer<row_major>::analyze_locality(5) == access_locality{20, 0, 3});
  static_assert(access_pattern_analyzer<vectorized>::analyze_locality() == access_locality{4, 3, 0});
  using wide = space_filling_curve<2, sequence<4, 32>, sequence<0, 1>, sequence<1, 1>>;
  static_assert(access_pattern_analyzer<wide>::analyze_locality() == access_locality{124, 0, 3});
}

// Unless said otherwise a cache line has 64 bytes: 16 floats.
TEST(AccessPattern, TheDefaultCacheLine) {
  using rows_of_16 = space_filling_curve<2, sequence<2, 16>, sequence<0, 1>, sequence<1, 1>>;
  using rows_of_17 = space_filling_curve<2, sequence<2, 17>, sequence<0, 1>, sequence<1, 1>>;
  static_assert(access_pattern_analyzer<rows_of_16>::analyze_locality() == access_locality{30, 1, 0});
  static_assert(access_pattern_analyzer<rows_of_17>::analyze_locality() == access_locality{32, 0, 1});
  EXPECT_EQ(detail::analyze_locality(rows_of_17::traversal), (access_locality{32, 0, 1}));
}

TEST(AccessPattern, ASnakeOnlyTakesSequentialSteps) {
  using snake = space_filling_curve<2, sequence<4, 32>, sequence<0, 1>, sequence<1, 1>, true>;
  static_assert(access_pattern_analyzer<snake>::analyze_locality() == access_locality{127, 0, 0});
  EXPECT_EQ(detail::analyze_locality(curve<3>{{{3, 4, 6}}, {{2, 0, 1}}, {{1, 2, 2}}, true}),
            (access_locality{17, 0, 0}));
}

/// Cache lines that the first warp's accesses touch in a packed matrix.
template <class Walk>
std::size_t lines_of_a_warp(index_t row_stride, index_t col_stride, index_t element_bytes) {
  std::set<index_t> lines;
  for (index_t lane = 0; lane < 32; ++lane) {
    const auto first = Walk::get_index(lane);
    lines.insert((first[0] * row_stride + first[1] * col_stride) * element_bytes / 64);
  }
  return lines.size();
}

TEST(AccessPattern, CoalescedAccessesFillTheirCacheLines) {
  using rows = coalesced_access_pattern<half_t, 64, 64>;
  static_assert(rows::vector_size == 8 && rows::num_warp_accesses == 16);
  static_assert(coalesced_access_pattern<float, 64, 64>::vector_size == 4);
  EXPECT_EQ(lines_of_a_warp<rows::optimal_pattern>(64, 1, 2), 8u) << "32 lanes of 16 bytes";
  using columns = coalesced_access_pattern<half_t, 64, 64, 32, 0>;
  EXPECT_EQ(lines_of_a_warp<columns::optimal_pattern>(1, 64, 2), 8u);
  // The page's order, columns slowest, with vectors along a row: each lane has a line of its own.
  using as_printed = space_filling_curve<2, sequence<64, 64>, sequence<1, 0>, sequence<1, 8>>;
  EXPECT_EQ(lines_of_a_warp<as_printed>(64, 1, 2), 32u);
}

TEST(AccessPattern, APartialWarpAccessCounts) {
  static_assert(coalesced_access_pattern<float, 3, 20>::num_warp_accesses == 1);
  static_assert(coalesced_access_pattern<float, 3, 20>::optimal_pattern::get_num_of_access() == 15);
  static_assert(coalesced_access_pattern<float, 9, 20, 32>::num_warp_accesses == 2);
}

}  // namespace
}  // namespace tilewright
