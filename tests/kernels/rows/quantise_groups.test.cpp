// SPDX-License-Identifier: MIT
// Rows in narrow formats: scales by their definitions, each code the nearest to its element over the scale.
#include "matrix.hpp"

#include <tilewright/kernels/rows/norm.hpp>
#include <tilewright/kernels/rows/quantise_groups.hpp>
#include <tilewright/launch/launch.hpp>

namespace rows_test {

namespace {

/// A magnitude of a floating-point format without sign, from its fields.
double small_float(unsigned bits, int exponent_bits, int mantissa_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1, exponent = int(bits >> mantissa_bits),
            fraction = int(bits & ((1u << mantissa_bits) - 1));
  return std::ldexp(fraction + (exponent > 0 ? 1 << mantissa_bits : 0), std::max(exponent, 1) - bias - mantissa_bits);
}

/// The numbers of an ascending list, of which number `i` is even where i + first_is_odd is: rounding by search.
struct number_list {
  std::vector<double> numbers;
  bool first_is_odd = false;

  /// Nearest, ties to the even one; beyond the ends the last one.
  double nearest(double x) const {
    const auto above = std::lower_bound(numbers.begin(), numbers.end(), x);
    if (above == numbers.begin()) return numbers.front();
    if (above == numbers.end()) return numbers.back();
    const double low = above[-1], high = *above;
    const bool high_is_even = ((above - numbers.begin()) + first_is_odd) % 2 == 0;
    return x - low < high - x || (x - low == high - x && !high_is_even) ? low : high;
  }
};

/// The numbers of Format's codes and of its scales, as their specifications define them.
template <class Format>
struct oracle {
  using Scale = typename Format::scale_type;
  static constexpr bool by_powers = __is_same(Scale, e8m0_t);
  static constexpr bool is_int4 = Format::bits == 4 && sizeof(Scale) > 1;
  static constexpr bool is_int8 = __is_same(Format, int8_groups<Format::group, Scale>);

  static double number(unsigned code) {
    if (is_int4) return int(code) - 8;
    if (is_int8) return int(code ^ 128) - 128;
    const unsigned sign = 1u << (Format::bits - 1), magnitude = code & (sign - 1);
    if (Format::bits == 8 && magnitude == 127) return std::nan("");
    return (code & sign ? -1 : 1) * (Format::bits == 4 ? small_float(magnitude, 2, 1) : small_float(magnitude, 4, 3));
  }
  static number_list codes() {
    number_list list;
    for (unsigned code = 0; code < 1u << Format::bits; ++code)
      if (const double x = number(code); x == x) list.numbers.push_back(x);
    std::sort(list.numbers.begin(), list.numbers.end());
    // -0 and 0 are both in the list of floats: one of them would make neighbours of equal parity.
    list.numbers.erase(std::unique(list.numbers.begin(), list.numbers.end()), list.numbers.end());
    list.first_is_odd = !is_int4 && !is_int8 && list.numbers.size() % 4 == 3;  // 0 is even
    return list;
  }
  static number_list scales() {
    constexpr unsigned count = by_powers ? 255 : sizeof(Scale) == 1 ? 127 : __is_same(Scale, half_t) ? 0x7c00 : 0x7f80;
    number_list list;
    for (unsigned bits = 0; bits < count; ++bits)
      list.numbers.push_back(by_powers                  ? std::ldexp(1.0, int(bits) - 127)
                             : sizeof(Scale) == 1       ? small_float(bits, 4, 3)
                             : __is_same(Scale, half_t) ? small_float(bits, 5, 10)
                                                        : small_float(bits, 8, 7));
    return list;
  }
  static constexpr double most = is_int4 ? 7 : is_int8 ? 127 : Format::bits == 4 ? 6 : 448;
  /// What NaN becomes.
  static double of_nan() { return is_int4 || is_int8 ? 0 : Format::bits == 4 ? 6 : std::nan(""); }
};

/// f(row, col): what is quantised.
template <class Format, class T>
void expect_groups(const std::vector<unsigned char>& y, const std::vector<typename Format::scale_type>& scales,
                   const quantise_groups_args<T>& g, auto f) {
  using of = oracle<Format>;
  const number_list codes = of::codes(), all_scales = of::scales();
  const double tensor_scale = double(g.result.tensor_scale);
  for (index_t r = 0; r < g.rows; ++r) {
    for (index_t first = 0; first < g.cols; first += Format::group) {
      const index_t end = std::min(first + Format::group, g.cols);
      double largest = 0;
      for (index_t c = first; c < end; ++c)
        if (f(r, c) == f(r, c)) largest = std::max(largest, std::abs(f(r, c)));
      SCOPED_TRACE("row " + std::to_string(r) + ", group from " + std::to_string(first) + ", largest " +
                   std::to_string(largest));
      const double scale = double(float(scales[std::size_t(r * g.result.scale_stride + first / Format::group)]));
      double error = 0;  // relative, of an element over the scale
      largest = std::min(largest, double(std::numeric_limits<float>::max()));
      if constexpr (of::by_powers) {
        const double power = largest == 0 ? 0 : std::exp2(std::ilogb(largest) - std::ilogb(of::most));
        ASSERT_EQ(scale, all_scales.nearest(power));
      } else {
        error = 0x1p-22;  // of two or three roundings of float
        const double raised = largest > 0 ? std::max(largest, of::most * 0x1p-125) : 0,
                     wanted = raised / (of::most * tensor_scale);
        ASSERT_GE(scale, all_scales.nearest(wanted * (1 - error)));
        ASSERT_LE(scale, all_scales.nearest(wanted * (1 + error)));
      }
      const double unit = scale * tensor_scale;
      for (index_t c = first; c < end; ++c) {
        const std::size_t bit = std::size_t(r * g.result.stride + c) * Format::bits;
        const double is = of::number(unsigned(y[bit / 8]) >> bit % 8 & ((1u << Format::bits) - 1)), x = f(r, c);
        const double over = x != x     ? of::of_nan()
                            : unit > 0 ? x / unit
                                       : 0,
                     slack = std::isinf(over) ? 0 : std::abs(over) * error;
        ASSERT_TRUE((is != is && over != over) ||
                    (is >= codes.nearest(over - slack) && is <= codes.nearest(over + slack)))
            << "column " << c << ": " << x << " / " << unit << " is " << is << ", not " << codes.nearest(over);
      }
    }
  }
}

/// Rows of one kind each: random; zeros; middles between numbers; all magnitudes; denormal; next to the largest float;
/// infinite; NaN.
template <class Format>
void fill_rows(matrix<float>& x, std::mt19937& random, float tensor_scale) {
  const number_list codes = oracle<Format>::codes();
  const auto any = [&](int least, int count) {
    return std::ldexp(1 + float(random() % 0x800000) * 0x1p-23f, least + int(random() % unsigned(count))) *
           (random() % 2 ? -1.0f : 1.0f);
  };
  for (index_t r = 0; r < x.rows; ++r) {
    for (index_t c = 0; c < x.cols; ++c) {
      const auto i = random() % (codes.numbers.size() - 1);
      const float power = std::ldexp(tensor_scale, 3 - int(c / Format::group) % 7);
      const bool is_first = c % Format::group == 0;
      float& to = x.at(r, c);
      switch (r % 8) {
        case 1: to = c / Format::group % 2 ? -0.0f : 0.0f; break;
        case 2:
          to = power * float(is_first ? oracle<Format>::most : (codes.numbers[i] + codes.numbers[i + 1]) / 2);
          break;
        case 3: to = any(-149, 277); break;
        case 4: to = is_first && c % 3 == 0 ? 0x1p-127f * float(c % 5) : any(-149, 23 - c / Format::group % 9); break;
        case 5: to = is_first ? std::numeric_limits<float>::max() : any(100, 28); break;
        case 6: to = random() % 24 == 0 ? any(200, 1) : any(-3, 5); break;
        case 7: to = random() % 8 == 0 || c / Format::group == 1 ? std::nanf("") : any(-3, 5); break;
        default: break;  // normally distributed
      }
    }
  }
}

template <class Arch, class Format, row_tile Tile>
void expect_quantised_groups(index_t rows, index_t cols, float tensor_scale = 1) {
  std::mt19937 random(51);
  matrix<float> x(rows, cols, 8, random, 3);
  fill_rows<Format>(x, random, tensor_scale);
  const index_t groups = ceil_div(cols, Format::group), stride = cols + 16;
  std::vector<unsigned char> y(std::size_t(rows * stride * Format::bits / 8), 0x5a);
  std::vector<typename Format::scale_type> scales(std::size_t(rows * (groups + 1)));
  const quantise_groups_args<float> args{.x = x.data(),
                                         .result = {y.data(), scales.data(), stride, groups + 1, tensor_scale},
                                         .rows = rows,
                                         .cols = cols,
                                         .x_stride = x.stride};
  using kernel = quantise_groups<Arch, float, Format, Tile>;
  ASSERT_EQ(kernel::check(args), nullptr);
  launch<kernel>(args);
  expect_groups<Format>(y, scales, args, [&](index_t r, index_t c) { return x(r, c); });
  for (index_t r = 0; r < rows; ++r)
    for (index_t at = cols * Format::bits / 8; at < stride * Format::bits / 8; ++at)
      ASSERT_EQ(y[std::size_t(r * stride * Format::bits / 8 + at)], 0x5a) << "memory between rows";
}

constexpr row_tile short_rows{256, 32, 2, 4}, long_rows{256, 256, 1, 4};

}  // namespace

TEST(QuantiseGroups, Mxfp4) {
  expect_quantised_groups<arch::gfx942, mxfp4_format, short_rows>(25, 252);
  expect_quantised_groups<arch::sm90, mxfp4_format, long_rows>(8, 2604);
}
TEST(QuantiseGroups, Mxfp8) { expect_quantised_groups<arch::gfx950, mxfp8_format, short_rows>(24, 100); }
TEST(QuantiseGroups, Nvfp4WithAFactorOfTheTensor) {
  expect_quantised_groups<arch::sm90, nvfp4_format, short_rows>(16, 204, 0.05f);
  expect_quantised_groups<arch::sm90, nvfp4_format, short_rows>(16, 20, 0x1p-126f);
  expect_quantised_groups<arch::sm90, nvfp4_format, short_rows>(16, 68);
}
TEST(QuantiseGroups, Int4) {
  expect_quantised_groups<arch::gfx1201, int4_groups<32>, short_rows>(24, 524);
  expect_quantised_groups<arch::sm90, int4_groups<128, half_t>, long_rows>(8, 404);
}
TEST(QuantiseGroups, Int8) { expect_quantised_groups<arch::sm90, int8_groups<64, bfloat16_t>, short_rows>(16, 140); }

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
  fused.result = {codes.data(), scales.data(), cols, groups, __is_same(Scale, e8m0_t) ? 1.0f : 0.5f};
  using kernel = row_norm<Arch, float, Tile, Kind, float, scale_kind::none, Format>;
  ASSERT_EQ(kernel::check(fused), nullptr);
  launch<kernel>(fused);
  g.y = y.data(), g.y_stride = y.stride;
  launch<row_norm<Arch, float, Tile, Kind>>(g);
  group_codes result = fused.result;
  result.codes = wanted.data(), result.scales = wanted_scales.data();
  launch<quantise_groups<Arch, float, Format, Tile>>(
      {.x = y.data(), .result = result, .rows = rows, .cols = cols, .x_stride = y.stride});
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
  matrix<float> x(4, 256, 0, random), x2(4, 256, 0, random);
  std::vector<unsigned char> y(4 * 128);
  std::vector<e8m0_t> scales(4 * 8);
  launch<quantise_groups<arch::sm90, float, mxfp4_format, short_rows, swiglu_function>>(
      {x.data(), x2.data(), {y.data(), scales.data(), 256, 8}, 4, 256, 256, 256});
  for (index_t r = 0; r < 4; ++r) {
    for (index_t c = 0; c < 256; ++c) {
      const double scale = double(float(scales[std::size_t(r * 8 + c / 32)]));
      const double is =
          oracle<mxfp4_format>::number(unsigned(y[std::size_t(r * 256 + c) / 2]) >> c % 2 * 4 & 15) * scale;
      const double should = x(r, c) / (1 + std::exp(-x(r, c))) * x2(r, c);
      ASSERT_LE(std::abs(is - should), std::max(2.01 * scale, std::abs(should) * 0.25)) << r << ", " << c;
    }
  }
}

TEST(QuantiseGroups, RefusesWhatItCannotDo) {
  using kernel = quantise_groups<arch::sm90, half_t, mxfp4_format, short_rows>;
  alignas(16) static half_t x[256];
  alignas(16) static unsigned char y[256], scales[16];
  const quantise_groups_args<half_t> good{.x = x, .result = {y, scales, 64, 2}, .rows = 2, .cols = 64, .x_stride = 64};
  EXPECT_EQ(kernel::check(good), nullptr);
  const auto refused = [&](auto change) {
    auto g = good;
    change(g);
    return kernel::check(g);
  };
  EXPECT_STREQ(refused([](auto& g) { g.cols = 62; }),
               "cols and the stride of codes must be multiples of the tile's vector");
  EXPECT_STREQ(refused([](auto& g) { g.result.stride = 56; }), "the stride of codes is smaller than a row");
  EXPECT_STREQ(refused([](auto& g) { g.result.scale_stride = 1; }), "scale_stride is smaller than the scales of a row");
  EXPECT_STREQ(refused([](auto& g) { g.result.tensor_scale = 0x1p-127f; }),
               "tensor_scale must be a positive normal number");
  EXPECT_STREQ(refused([](auto& g) { g.result.tensor_scale = 2; }),
               "scales that are powers of two take no tensor_scale: it must be 1");
  EXPECT_STREQ(refused([](auto& g) { g.result.codes = y + 1; }), "codes are not aligned to those of a vector");
  EXPECT_STREQ(refused([](auto& g) { g.result.scales = y + 8; }), "codes, scales and the input share memory");
}

}  // namespace rows_test
