// SPDX-License-Identifier: MIT
#include "matrix.hpp"

#include <tilewright/launch/launch.hpp>
#include <tilewright/rows/transpose.hpp>

namespace rows_test {

namespace {

/// Element numbers, so that each is found where it belongs.
template <class Kernel>
void expect_transposed(index_t rows, index_t cols, index_t batch, index_t gap) {
  using T = std::remove_cvref_t<decltype(*Kernel::args_type::x)>;
  SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(cols) + ", batch " + std::to_string(batch));
  const index_t x_stride = cols + gap, y_stride = rows + 2 * gap;
  std::vector<T> x(std::size_t(batch * rows * x_stride)), y(std::size_t(batch * cols * y_stride), T(~0u));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = T(i * 7 % 65521);
  const transpose_args<T> args{x.data(), y.data(),        rows,           cols, batch, x_stride,
                               y_stride, x_stride * rows, y_stride * cols};
  const auto report = launch<Kernel>(args, {.check_lds = emulator::lds_checks::on});
  EXPECT_EQ(report.totals.conflicts, 0);
  index_t wrong = 0;
  for (index_t b = 0; b < batch; ++b) {
    for (index_t c = 0; c < cols; ++c) {
      for (index_t r = 0; r < y_stride; ++r) {
        const T found = y[std::size_t((b * cols + c) * y_stride + r)];
        wrong += found != (r < rows ? x[std::size_t((b * rows + r) * x_stride + c)] : T(~0u));
      }
    }
  }
  EXPECT_EQ(wrong, 0);
}

using of_halves = transpose<arch::gfx942, unsigned short>;
using of_words = transpose<arch::sm90, unsigned>;
using one_by_one = transpose<arch::gfx1201, unsigned short, 1>;

}  // namespace

TEST(Transpose, MatricesOfAnyLengths) {
  std::mt19937 random(1);
  for (int i = 0; i < 4; ++i) {
    expect_transposed<of_halves>(random_length(random, 400, 8), random_length(random, 400, 8), 1 + i % 3, i % 2 * 8);
    expect_transposed<of_words>(random_length(random, 200, 4), random_length(random, 200, 4), 1 + i % 3, i % 2 * 4);
    expect_transposed<one_by_one>(random_length(random, 200, 1), random_length(random, 200, 1), 1, i % 2);
  }
  expect_transposed<of_halves>(8, 2000, 1, 0);
  expect_transposed<one_by_one>(1, 1, 1, 0);
}

TEST(Transpose, RefusesWhatItCannotDo) {
  alignas(16) static unsigned short memory[4 * 64 * 64];
  const transpose_args<unsigned short> good{memory, memory + 2 * 64 * 64, 64, 64, 1, 64, 64};
  EXPECT_EQ(of_halves::check(good), nullptr);
  const auto refuse = [&](auto change, const char* words) {
    auto args = good;
    change(args);
    expect_refusal<of_halves>(args, words);
  };
  refuse([](auto& a) { a.rows = 0; }, "must be positive");
  refuse([](auto& a) { a.batch = -1; }, "must be positive");
  refuse([](auto& a) { a.cols = 0x7fffffff; }, "too close to 2^31");
  refuse([](auto& a) { a.y = nullptr; }, "null");
  refuse([](auto& a) { ++a.x; }, "aligned");
  refuse([](auto& a) { a.cols = 60; }, "multiples");
  refuse([](auto& a) { a.y_stride = 68; }, "multiples");
  refuse([](auto& a) { a.x_stride = 56; }, "rows would overlap");
  refuse([](auto& a) { a.y_stride = 1 << 30; }, "2 GiB");
  refuse([](auto& a) { a.batch = 2; }, "matrices would overlap");
  refuse([](auto& a) { a.y = memory + 64 * 32; }, "overlaps the input");
  refuse(
      [](auto& a) {
        a.rows = a.y_stride = 256;
        a.batch = 1 << 30;
        a.x_batch_stride = a.y_batch_stride = 256 * 64;
      },
      "2^31 tiles");
}

}  // namespace rows_test
