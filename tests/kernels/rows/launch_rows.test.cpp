// SPDX-License-Identifier: MIT
#include "../../launch_sentence.hpp"
#include "matrix.hpp"

#include <tilewright/kernels/rows/launch_rows.hpp>
#include <tilewright/kernels/rows/quantise_rows.hpp>

namespace rows_test {

namespace {

template <row_tile Tile>
using quantise = quantise_rows<arch::sm90, half_t, int8_t, Tile>;

}  // namespace

TEST(LaunchRows, TakesRowsOfAnyLengthAndAlignment) {
  std::mt19937 random(61);
  for (const index_t cols : {16, 17, 304, 403, 1600, 2003}) {
    matrix<half_t> x(3, cols, 0, random);
    matrix<int8_t> y(3, cols, 0, int8_t(0));
    std::vector<float> scale(3);
    launch_rows<quantise, 300, 700>(quantise_args<half_t, int8_t>{.x = x.data(),
                                                                  .y = y.data(),
                                                                  .scale = scale.data(),
                                                                  .rows = 3,
                                                                  .cols = cols,
                                                                  .x_stride = cols,
                                                                  .y_stride = cols});
    for (index_t r = 0; r < 3; ++r)
      for (index_t c = 0; c < cols; ++c)
        ASSERT_NEAR(y(r, c) * scale[std::size_t(r)], x(r, c), 0.51 * scale[std::size_t(r)]) << r << ", " << c;
  }
}

TEST(LaunchRows, TakesUnalignedRowsFarApart) {
  constexpr index_t stride = (1 << 25) + 1;
  const far_memory<half_t> x(stride + 304);
  x.data[stride] = half_t(2.0f);
  matrix<int8_t> y(2, 304, 0, int8_t(0));
  float scale[2];
  launch_rows<quantise, 300, 700>(quantise_args<half_t, int8_t>{
      .x = x.data, .y = y.data(), .scale = scale, .rows = 2, .cols = 304, .x_stride = stride, .y_stride = 304});
  EXPECT_FLOAT_EQ(float(y(1, 0)) * scale[1], 2);
}

template <row_tile Tile>
struct refuses : quantise<Tile> {
  static const char* check(const auto&, const row_tile& tile = Tile) {
    return tile.unaligned ? "any start" : "aligned";
  }
};

/// What launch_rows throws.
template <template <row_tile> class Kernel>
std::string sentence_of() {
  return tilewright::sentence_of([] { launch_rows<Kernel, 300>(quantise_args<half_t, int8_t>{}); });
}

TEST(LaunchRows, ThrowsTheSentenceOfAlignedRowsUnlessTheyAreUnaligned) { EXPECT_EQ(sentence_of<refuses>(), "aligned"); }

/// Its sentence has an address of its own, as that of another translation unit has.
template <row_tile Tile>
struct wants_vectors : quantise<Tile> {
  static const char* check(const auto&, const row_tile& tile = Tile) {
    static const std::string sentence = detail::needs_vectors;
    return tile.unaligned ? "any start" : sentence.c_str();
  }
};

TEST(LaunchRows, ComparesSentencesByTheirText) { EXPECT_EQ(sentence_of<wants_vectors>(), "any start"); }

static_assert(choose_unaligned_tile<arch::sm90, bfloat16_t>(1337) == row_tile{256, 32, 6, 8, 1, true});
static_assert(choose_unaligned_tile<arch::sm90, bfloat16_t>(5003) == row_tile{128, 128, 5, 8, 1, true});
static_assert(choose_unaligned_tile<arch::sm90, bfloat16_t>(1337, 5) == row_tile{128, 64, 3, 8, 1, true});
static_assert(choose_unaligned_tile<arch::sm90, bfloat16_t>(50257) == row_tile{256, 256, 5, 8, 1, true, 4});
static_assert(choose_unaligned_tile<arch::sm90, float>(131072) == row_tile{256, 256, 4, 4, 8, true, 3});
static_assert(choose_unaligned_tile<arch::sm90, fp8_ocp_t>(300) == row_tile{128, 64, 1, 16, 1, true});
static_assert(choose_unaligned_tile<arch::gfx942, float>(20001) == row_tile{256, 256, 5, 4, 1, true, 1});

}  // namespace rows_test
