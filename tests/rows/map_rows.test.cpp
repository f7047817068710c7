// SPDX-License-Identifier: MIT
#include "matrix.hpp"

#include <tilewright/launch/launch.hpp>
#include <tilewright/rows/map_rows.hpp>

namespace rows_test {

namespace {

template <class Kernel, class T, class Result>
void expect_mapped(index_t rows, index_t cols, index_t gap, std::mt19937& random, double error, auto f) {
  SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(cols));
  matrix<T> x(rows, cols, gap, random, 3), x2(rows, cols, 2 * gap, random);
  matrix<Result> y(rows, cols, gap, type_convert<Result>(-7.0f));
  launch<Kernel>({x.data(), x2.data(), y.data(), rows, cols, x.stride, x2.stride, y.stride});
  double worst = 0;
  for (index_t r = 0; r < rows; ++r) {
    for (index_t c = 0; c < cols; ++c) {
      const double wanted = f(x(r, c), x2(r, c)), off = std::abs(y(r, c) - wanted) / std::max(std::abs(wanted), 1.0);
      worst = off <= worst ? worst : off;
    }
  }
  EXPECT_LE(worst, error);
  EXPECT_TRUE(y.has_clean_gaps(type_convert<Result>(-7.0f)));
}

using cast = map_rows<arch::gfx942, float, bfloat16_t, row_tile{256, 128, 2, 4}>;
using to_int8 = map_rows<arch::gfx1201, half_t, int8_t, row_tile{256, 32, 1, 1}>;
using swiglu = map_rows<arch::sm90, half_t, half_t, row_tile{256, 256, 2, 8}, swiglu_function>;

}  // namespace

TEST(MapRows, CastsAndFunctionsOfAnyLength) {
  std::mt19937 random(8);
  for (int i = 0; i < 4; ++i) {
    const index_t rows = 1 + index_t(random() % 30), gap = i % 2 * 8;
    expect_mapped<cast, float, bfloat16_t>(rows, random_length(random, 3000, 4), gap, random, 0x1p-8,
                                           [](double a, double) { return a; });
    expect_mapped<to_int8, half_t, int8_t>(rows, random_length(random, 300, 1), i, random, 0.5,
                                           [](double a, double) { return a; });
    expect_mapped<swiglu, half_t, half_t>(rows, random_length(random, 9000, 8), gap, random, 0x1p-10,
                                          [](double a, double b) { return a / (1 + std::exp(-a)) * b; });
  }
}

TEST(MapRows, GeluIsThatOfTanh) {
  using gelu = map_rows<arch::gfx942, float, float, row_tile{256, 256, 1, 4}, gelu_function>;
  std::mt19937 random(9);
  expect_mapped<gelu, float, float>(3, 1000, 0, random, 4e-6, [](double a, double) {
    return a / 2 * (1 + std::tanh(std::sqrt(2 / 3.14159265358979) * (a + 0.044715 * a * a * a)));
  });
}

TEST(MapRows, RefusesWhatItCannotDo) {
  alignas(16) static half_t memory[4096];
  const map_args<half_t, half_t> good{memory, memory + 1024, memory + 2048, 2, 512, 512, 512, 512};
  EXPECT_EQ(swiglu::check(good), nullptr);
  const auto refuse = [&](auto change, const char* words) {
    auto args = good;
    change(args);
    expect_refusal<swiglu>(args, words);
  };
  refuse([](auto& a) { a.rows = 0; }, "must be positive");
  refuse([](auto& a) { a.x2 = nullptr; }, "null");
  refuse([](auto& a) { ++a.x; }, "aligned");
  refuse([](auto& a) { a.y = memory + 8; }, "overlaps an input");
  refuse([](auto& a) { a.y = memory, a.y_stride = 520; }, "another stride");
}

}  // namespace rows_test
