// SPDX-License-Identifier: MIT
// What docs/curves.md shows.
#include <tilewright/ck_tile.hpp>
#include <tilewright/core.hpp>
#include <tilewright/viz/text.hpp>

#include <gtest/gtest.h>

namespace tw = tilewright;
using tw::make_tuple, tw::number, tw::sequence;

namespace {

// 64 x 32 halves, in vectors of 8, by two waves of 64 lanes.
using pattern = tw::tile_distribution_encoding_pattern_2d<128, 64, 32, 8, tw::tile_distribution_pattern::block_raked>;
using copy = decltype(pattern::make_2d_static_tile_distribution());
using traits = tw::load_store_traits<copy, tw::half_t>;
static_assert(traits::vector_dim_y == 1 && traits::scalar_per_vector == 8 && traits::num_access == 2);
static_assert(traits::get_y_indices(1) == tw::multi_index<2>{1, 0});

TEST(DocsCurves, Grids) {
  // Which tile block 5 of a grid of 3 x 4 computes.
  static_assert(tw::hilbert_curve{.rows = 3, .cols = 4}.get_index(5) == tw::multi_index<2>{2, 1});
  static_assert(tw::row_group_curve{.rows = 3, .cols = 4, .group_rows = 2}.get_index(5) == tw::multi_index<2>{1, 2});

  EXPECT_EQ(tw::to_string(tw::hilbert_curve{3, 4}), "Hilbert curve of 3 x 4 tiles");
}

TEST(DocsCurves, Analysis) {
  using by_rows = tw::space_filling_curve<2, sequence<4, 6>, sequence<0, 1>, sequence<1, 1>>;
  constexpr tw::access_locality steps = tw::access_pattern_analyzer<by_rows>::analyze_locality();
  static_assert(steps.sequential_steps == 20 && steps.cache_line_jumps == 3 && steps.large_jumps == 0);

  // That copy, in a matrix whose rows begin every 4096 halves.
  using analyzer = tw::memory_access_analyzer<copy, tw::half_t>;
  static_assert(analyzer::bandwidth_utilization() == 25.0f);  // 16 bytes of one thread are a quarter of a cache line
  static_assert(analyzer::cost(4096).lines == 64 && analyzer::cost(4096).utilization() == 100.0f);
  static_assert(analyzer::is_perfectly_coalesced(4096));
  EXPECT_EQ(analyzer::cost(4096).wave_accesses, 4);
}

}  // namespace
