// SPDX-License-Identifier: MIT
// What docs/distributions.md shows.
#include <tilewright/core.hpp>
#include <tilewright/viz/text.hpp>

#include <gtest/gtest.h>

namespace tw = tilewright;
using tw::index_t, tw::make_tuple, tw::number, tw::sequence, tw::tuple;

namespace {

// 64 x 32 halves, in vectors of 8, by two waves of 64 lanes.
using pattern = tw::tile_distribution_encoding_pattern_2d<128, 64, 32, 8, tw::tile_distribution_pattern::block_raked>;
constexpr auto copy = pattern::make_2d_static_tile_distribution();
static_assert(copy.calculate_index({1, 5}) ==
              tw::multi_index<2>{17, 8});  // wave 1 begins at row 16, lane 5 in its second row

// The same as a value, from numbers that a program may have computed.
constexpr tw::distribution_encoding by_value = tw::make_pattern_encoding(
    tw::tile_distribution_pattern::block_raked, {.rows = 64, .cols = 32, .vector = 8, .waves = 2, .wave_size = 64});
static_assert(by_value == pattern::value);

// One number per row: what a reduction along dimension 1 leaves.
constexpr tw::distribution_encoding row_sums = tw::reduce(by_value, tw::multi_index<1>{1});
static_assert(row_sums.x_length(0) == 64 && row_sums.num_elements_per_thread() == 2);
static_assert(row_sums.r[0] == 4);  // the four lanes of a row now hold the same

// The lower half of the rows: the second of the two that each thread holds.
constexpr tw::encoding_slice half = tw::slice(by_value, tw::multi_index<2>{32, 0}, tw::multi_index<2>{64, 32});
static_assert(half.fault == tw::slice_fault::none && half.y_begins[0] == 1 && half.y_lengths[0] == 1);
// The rows of one wave cannot be cut out: the other would hold nothing.
static_assert(tw::slice(by_value, tw::multi_index<2>{0, 0}, tw::multi_index<2>{16, 32}).fault ==
              tw::slice_fault::cuts_threads);

using base = tw::base_tile<tw::half_t, 8, 8>;  // 64 lanes, 16 bytes each
static_assert(base::rows == 8 && base::cols == 64);
constexpr auto layout = base::make_lds_descriptor<128, 64>();
constexpr tw::distribution_encoding down_the_rows =
    tw::tile_distribution_encoding<sequence<>, tuple<sequence<16>, sequence<1>>, tuple<sequence<>>, tuple<sequence<>>,
                                   sequence<1>, sequence<0>>::value;
using wave = tw::tile_distribution<tw::embed(down_the_rows, base::encoding)>;  // one wave takes 16 base tiles
static_assert(
    tw::analyze_lds_access<tw::arch::gfx942>(layout, wave{}, 2, tw::lds_access_kind::write).is_conflict_free());

TEST(docs_distributions, grids) {
  // Which tile block 5 of a grid of 3 x 4 computes.
  static_assert(tw::hilbert_curve{.rows = 3, .cols = 4}.get_index(5) == tw::multi_index<2>{2, 1});
  static_assert(tw::row_group_curve{.rows = 3, .cols = 4, .group_rows = 2}.get_index(5) == tw::multi_index<2>{1, 2});

  EXPECT_EQ(tw::to_string(tw::hilbert_curve{3, 4}), "Hilbert curve of 3 x 4 tiles");
}

TEST(docs_distributions, analysis) {
  using walk = tw::space_filling_curve<2, sequence<4, 6>, sequence<0, 1>, sequence<1, 1>>;
  constexpr tw::access_locality steps = tw::access_pattern_analyzer<walk>::analyze_locality();
  static_assert(steps.sequential_steps == 20 && steps.cache_line_jumps == 3 && steps.large_jumps == 0);

  // The copy above, in a matrix whose rows begin every 4096 halves.
  using analyzer = tw::memory_access_analyzer<decltype(copy), tw::half_t>;
  static_assert(analyzer::bandwidth_utilization() == 25.0f);  // 16 bytes of one thread are a quarter of a cache line
  static_assert(analyzer::cost(4096).lines == 64 && analyzer::cost(4096).utilization() == 100.0f);
  static_assert(analyzer::is_perfectly_coalesced(4096));
  EXPECT_EQ(analyzer::cost(4096).wave_accesses, 4);
}

TEST(docs_distributions, text) {
  EXPECT_EQ(tw::to_string(by_value), R"(tile distribution encoding
  X0 = 64: 2 (Y0) x 2 (P0) x 16 (P1)
  X1 = 32: 4 (P1) x 8 (Y1)
  P0: X0.1
  P1: X0.2 X1.0
  Y: X0.0 X1.1
)");
}

}  // namespace
