// SPDX-License-Identifier: MIT
// What docs/distributions.md shows.
#include <tilewright/ck_tile.hpp>
#include <tilewright/core.hpp>
#include <tilewright/viz/text.hpp>

#include <gtest/gtest.h>

namespace tw = tilewright;
using tw::half_t, tw::index_t, tw::make_tuple, tw::number, tw::sequence, tw::tuple;

namespace {

namespace reading {

// The copy of a 128 x 32 tile by 256 threads in waves of 64. R: none. H: 128 = 2 * 4 * 16 and 32 = 4 * 8.
// P: the wave is factor (1, 1), the lane is (1, 2) and (2, 0). Y: a thread holds (1, 0) times (2, 1), 2 x 8 elements.
using copy = tw::tile_distribution_encoding<sequence<>, tuple<sequence<2, 4, 16>, sequence<4, 8>>,
                                            tuple<sequence<1>, sequence<1, 2>>, tuple<sequence<1>, sequence<2, 0>>,
                                            sequence<1, 2>, sequence<0, 1>>;
using distribution = decltype(tw::make_static_tile_distribution(copy{}));

static_assert(distribution::get_lengths() == tw::multi_index<2>{128, 32});
static_assert(distribution::num_threads() == 256 && distribution::num_elements == 16);
// Wave 0, lane 5: 5 = 1 * 4 + 1, so row 1 and the second chunk of columns.
static_assert(distribution::calculate_index({0, 5}) == tw::multi_index<2>{1, 8});
// Its registers 8 ... 15 are 64 rows further down.
static_assert(distribution::y_to_x({1, 0}) == tw::multi_index<2>{64, 0});
static_assert(distribution::y_to_register({1, 0}) == 8);

// The same as a value, for programs that compute their distributions.
constexpr tw::distribution_encoding copy_by_value() {
  tw::distribution_encoding e;
  e.h.push_back({});
  for (index_t factor : {2, 4, 16}) e.h[0].push_back(factor);
  e.h.push_back({});
  for (index_t factor : {4, 8}) e.h[1].push_back(factor);
  e.p.push_back({});
  e.p[0].push_back({1, 1});
  e.p.push_back({});
  e.p[1].push_back({1, 2});
  e.p[1].push_back({2, 0});
  e.y.push_back({1, 0});
  e.y.push_back({2, 1});
  return e;
}
static_assert(copy_by_value() == copy::value);
static_assert(tw::check_encoding(copy_by_value()).is_sound());

// 128 x 32 halves over 256 threads in waves of 64: the distribution of the picture above.
constexpr auto by_name = tw::make_copy_distribution<128, 32, half_t, 256, 64>();
static_assert(by_name.encoding == distribution::encoding);
// With contiguous columns: lane 1 is 8 rows below lane 0, wave 1 four columns on.
constexpr auto columns = tw::make_column_copy_distribution<128, 32, half_t, 256, 64>();
static_assert(columns.calculate_index({1, 1}) == tw::multi_index<2>{8, 4});

// Operand A of a matrix instruction: the lane map is data, its distribution follows.
constexpr auto mfma = tw::arch::describe(tw::arch::matrix_op::mfma_32x32x8);
static_assert(mfma.a.at(40, 3) == tw::arch::matrix_position{8, 7});  // lane 40, register 3: row 8, column 7
using operand = tw::tile_distribution<tw::encoding_of(mfma.a)>;
static_assert(operand::calculate_index({40}) == tw::multi_index<2>{8, 4});

}  // namespace reading

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

TEST(DocsDistributions, Text) {
  EXPECT_EQ(tw::to_string(by_value), R"(tile distribution encoding
  X0 = 64: 2 (Y0) x 2 (P0) x 16 (P1)
  X1 = 32: 4 (P1) x 8 (Y1)
  P0: X0.1
  P1: X0.2 X1.0
  Y: X0.0 X1.1
)");
}

}  // namespace
