// SPDX-License-Identifier: MIT
// Rows in narrow formats: scales by their definitions, each code the nearest to its element over the scale.
#include "matrix.hpp"

#include <tilewright/kernels/rows/norm.hpp>
#include <tilewright/kernels/rows/quantise_groups.hpp>
#include <tilewright/launch/launch.hpp>

namespace rows_test {

namespace {

/// The number that a code means.
template <class Format>
double number_of(unsigned code) {
  if constexpr (Format::bits == 4 && std::is_same_v<typename Format::scale_type, bfloat16_t>) return double(code) - 8;
  if constexpr (Format::bits == 4) {
    constexpr double numbers[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
    return code & 8 ? -numbers[code & 7] : numbers[code];
  }
  if constexpr (Format::bits == 8) {
    fp8_ocp_t value{};
    value.bits = static_cast<unsigned char>(code);
    return double(float(value));
  }
}

struct wanted_format {
  double most;   ///< largest number
  int exponent;  ///< of the largest power of two
};

/// f(row, col): what is quantised.
template <class Format>
void expect_groups(const std::vector<unsigned char>& y, const std::vector<typename Format::scale_type>& scales,
                   const quantise_groups_args<half_t>& g, const wanted_format& wanted, auto f) {
  const auto code_at = [&](index_t r, index_t c) {
    const std::size_t bit = std::size_t(r * g.y_stride + c) * Format::bits;
    return unsigned(y[bit / 8]) >> bit % 8 & ((1u << Format::bits) - 1);
  };
  for (index_t r = 0; r < g.rows; ++r) {
    for (index_t first = 0; first < g.cols; first += Format::group) {
      const index_t end = std::min(first + Format::group, g.cols);
      double largest = 0;
      for (index_t c = first; c < end; ++c) largest = std::max(largest, std::abs(f(r, c)));
      const double scale = double(float(scales[std::size_t(r * g.scale_stride + first / Format::group)]));
      if constexpr (std::is_same_v<typename Format::scale_type, e8m0_t>) {
        ASSERT_EQ(scale, largest == 0 ? 0x1p-127 : std::ldexp(1.0, std::ilogb(largest) - wanted.exponent)) << largest;
      } else {
        ASSERT_NEAR(scale * double(g.tensor_scale), largest / wanted.most, largest / wanted.most / 16 + 1e-4);
      }
      const double unit = scale * double(g.tensor_scale);
      for (index_t c = first; c < end; ++c) {
        const double is = number_of<Format>(code_at(r, c)), should = unit > 0 ? f(r, c) / unit : 0;
        double nearest = 1e30;
        for (unsigned code = 0; code < 1u << Format::bits; ++code) {
          const double number = number_of<Format>(code);
          if (number == number) nearest = std::min(nearest, std::abs(number - should));
        }
        ASSERT_LE(std::abs(is - should), nearest + 1e-6 * wanted.most) << r << ", " << c << ": " << f(r, c);
      }
    }
  }
}

template <class Arch, class Format, row_tile Tile, class Function = copy_function>
void expect_quantised_groups(index_t rows, index_t cols, const wanted_format& wanted, float tensor_scale = 1) {
  std::mt19937 random(51);
  matrix<half_t> x(rows, cols, 8, random, 3), x2(rows, cols, 16, random);
  for (index_t c = 0; c < std::min(cols, 64); ++c) x.at(1, c) = half_t(0.0f);
  const index_t groups = ceil_div(cols, Format::group), y_stride = cols + 16;
  std::vector<unsigned char> y(std::size_t(rows * y_stride * Format::bits / 8), 0x5a);
  std::vector<typename Format::scale_type> scales(std::size_t(rows * (groups + 1)));
  const quantise_groups_args<half_t> args{.x = x.data(),
                                          .x2 = x2.data(),
                                          .y = y.data(),
                                          .scales = scales.data(),
                                          .rows = rows,
                                          .cols = cols,
                                          .x_stride = x.stride,
                                          .x2_stride = x2.stride,
                                          .y_stride = y_stride,
                                          .scale_stride = groups + 1,
                                          .tensor_scale = tensor_scale};
  using kernel = quantise_groups<Arch, half_t, Format, Tile, Function>;
  ASSERT_EQ(kernel::check(args), nullptr);
  launch<kernel>(args);
  expect_groups<Format>(y, scales, args, wanted, [&](index_t r, index_t c) {
    if constexpr (kernel::has_two) return x(r, c) / (1 + std::exp(-x(r, c))) * x2(r, c);
    return x(r, c);
  });
  for (index_t r = 0; r < rows; ++r)
    for (index_t at = cols * Format::bits / 8; at < y_stride * Format::bits / 8; ++at)
      ASSERT_EQ(y[std::size_t(r * y_stride * Format::bits / 8 + at)], 0x5a) << "memory between rows";
}

constexpr row_tile short_rows{256, 32, 2, 8}, long_rows{256, 256, 1, 8};

}  // namespace

TEST(QuantiseGroups, Mxfp4) {
  expect_quantised_groups<arch::gfx942, mxfp4_format, short_rows>(9, 264, {6, 2});
  expect_quantised_groups<arch::sm90, mxfp4_format, long_rows>(3, 2600, {6, 2});
}
TEST(QuantiseGroups, Mxfp8) { expect_quantised_groups<arch::gfx950, mxfp8_format, short_rows>(5, 96, {448, 8}); }
TEST(QuantiseGroups, Nvfp4WithAFactorOfTheTensor) {
  expect_quantised_groups<arch::sm90, nvfp4_format, short_rows>(6, 200, {6, 2}, 0.05f);
}
TEST(QuantiseGroups, Int4) {
  expect_quantised_groups<arch::gfx1201, int4_groups<32>, short_rows>(7, 520, {7, 2});
  expect_quantised_groups<arch::sm90, int4_groups<128>, long_rows>(3, 400, {7, 2});
}
/// A norm that writes codes: the same as those of the norm's floats.
template <class Arch, class Format, row_tile Tile, norm_kind Kind>
void expect_codes_of_norm(index_t rows, index_t cols, bool has_residual) {
  std::mt19937 random(53);
  matrix<float> x(rows, cols, 8, random), residual(rows, cols, 4, random), weight(1, cols, 0, random),
      bias(1, cols, 0, random), sum(rows, cols, 0, random), y(rows, cols, 0, random);
  const index_t groups = ceil_div(cols, Format::group);
  using Scale = typename Format::scale_type;
  std::vector<unsigned char> codes(std::size_t(rows * cols * Format::bits / 8)), wanted(codes);
  std::vector<Scale> scales(std::size_t(rows * groups)), wanted_scales(scales);
  norm_groups_args<float> fused;
  norm_args<float>& g = fused;
  g.x = x.data(), g.weight = weight.data(), g.rows = rows, g.cols = cols, g.x_stride = x.stride;
  if (Kind == norm_kind::layer_norm) g.bias = bias.data();
  if (has_residual)
    g.residual = residual.data(), g.residual_stride = residual.stride, g.sum = sum.data(), g.sum_stride = sum.stride;
  fused.result = {codes.data(), scales.data(), cols, groups, 0.5f};
  using kernel = row_norm<Arch, float, Tile, Kind, float, scale_kind::none, Format>;
  ASSERT_EQ(kernel::check(fused), nullptr);
  launch<kernel>(fused);
  g.y = y.data(), g.y_stride = y.stride;
  launch<row_norm<Arch, float, Tile, Kind>>(g);
  launch<quantise_groups<Arch, float, Format, Tile>>({.x = y.data(),
                                                      .y = wanted.data(),
                                                      .scales = wanted_scales.data(),
                                                      .rows = rows,
                                                      .cols = cols,
                                                      .x_stride = y.stride,
                                                      .y_stride = cols,
                                                      .scale_stride = groups,
                                                      .tensor_scale = 0.5f});
  EXPECT_EQ(codes, wanted);
  EXPECT_EQ(std::memcmp(scales.data(), wanted_scales.data(), scales.size() * sizeof(Scale)), 0);
  EXPECT_NE(std::count(codes.begin(), codes.end(), codes[0]), std::ptrdiff_t(codes.size()));
  fused.result.scales = x.data();
  EXPECT_STREQ(kernel::check(fused), "the memory of codes or scales overlaps that of an input or of another result");
}

TEST(QuantiseGroups, AfterANorm) {
  using enum norm_kind;
  constexpr row_tile tile{64, 64, 2, 4};
  expect_codes_of_norm<arch::gfx942, mxfp4_format, tile, rms_norm>(5, 264, false);
  expect_codes_of_norm<arch::sm90, nvfp4_format, tile, layer_norm>(3, 1300, true);  // more than a block's registers
  expect_codes_of_norm<arch::gfx950, mxfp8_format, tile, layer_norm>(3, 512, false);
  expect_codes_of_norm<arch::gfx1201, int4_groups<32>, tile, rms_norm>(2, 520, true);
}
TEST(QuantiseGroups, AFunctionOfTwoElements) {
  // The function's error may move an element over a boundary by a hair, so the scale alone is exact.
  std::mt19937 random(52);
  matrix<half_t> x(4, 256, 0, random), x2(4, 256, 0, random);
  std::vector<unsigned char> y(4 * 128);
  std::vector<e8m0_t> scales(4 * 8);
  launch<quantise_groups<arch::sm90, half_t, mxfp4_format, short_rows, swiglu_function>>(
      {x.data(), x2.data(), y.data(), scales.data(), 4, 256, 256, 256, 256, 8});
  for (index_t r = 0; r < 4; ++r) {
    for (index_t c = 0; c < 256; ++c) {
      const double scale = double(float(scales[std::size_t(r * 8 + c / 32)]));
      const double is = number_of<mxfp4_format>(unsigned(y[std::size_t(r * 256 + c) / 2]) >> c % 2 * 4 & 15) * scale;
      const double should = x(r, c) / (1 + std::exp(-x(r, c))) * x2(r, c);
      ASSERT_LE(std::abs(is - should), std::max(2.01 * scale, std::abs(should) * 0.25)) << r << ", " << c;
    }
  }
}

TEST(QuantiseGroups, RefusesWhatItCannotDo) {
  using kernel = quantise_groups<arch::sm90, half_t, mxfp4_format, short_rows>;
  alignas(16) static half_t x[256];
  alignas(16) static unsigned char y[256], scales[16];
  const quantise_groups_args<half_t> good{
      .x = x, .y = y, .scales = scales, .rows = 2, .cols = 64, .x_stride = 64, .y_stride = 64, .scale_stride = 2};
  EXPECT_EQ(kernel::check(good), nullptr);
  const auto refused = [&](auto change) {
    auto g = good;
    change(g);
    return kernel::check(g);
  };
  EXPECT_STREQ(refused([](auto& g) { g.cols = 60; }), "cols and y_stride must be multiples of the tile's vector");
  EXPECT_STREQ(refused([](auto& g) { g.y_stride = 56; }), "y_stride is smaller than a row");
  EXPECT_STREQ(refused([](auto& g) { g.scale_stride = 1; }), "scale_stride is smaller than the scales of a row");
  EXPECT_STREQ(refused([](auto& g) { g.tensor_scale = 0; }), "tensor_scale must be positive");
  EXPECT_STREQ(refused([](auto& g) { g.y = y + 2; }), "y is not aligned to the codes of a vector");
  EXPECT_STREQ(refused([](auto& g) { g.scales = y + 8; }), "y, scales and the input share memory");
}

}  // namespace rows_test
