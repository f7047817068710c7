// SPDX-License-Identifier: MIT
#include "../explored.hpp"
#include "matrix.hpp"

#include <tilewright/kernels/rows/softmax.hpp>
#include <tilewright/launch/launch.hpp>

namespace rows_test {

namespace {

template <class Kernel>
using element_of = std::remove_cvref_t<decltype(*Kernel::args_type::x)>;

template <class Kernel, bool Log = false>
void expect_softmax(matrix<element_of<Kernel>> x, index_t y_gap, double unit) {
  using T = element_of<Kernel>;
  SCOPED_TRACE(std::to_string(x.rows) + " x " + std::to_string(x.cols));
  const T poison = T(std::numeric_limits<float>::quiet_NaN());
  matrix<T> y(x.rows, x.cols, y_gap, poison);
  launch<Kernel>({x.data(), y.data(), x.rows, x.cols, x.stride, y.stride}, {.check_lds = emulator::lds_checks::on});
  EXPECT_TRUE(y.has_clean_gaps(poison));
  double worst = 0;
  for (index_t r = 0; r < x.rows; ++r) {
    double largest = -1e300, sum = 0;
    for (index_t c = 0; c < x.cols; ++c) largest = std::max(largest, x(r, c));
    for (index_t c = 0; c < x.cols; ++c) sum += std::exp(x(r, c) - largest);
    for (index_t c = 0; c < x.cols; ++c) {
      const double e = x(r, c) - largest, wanted = Log ? e - std::log(sum) : std::exp(e) / sum;
      const double error = std::abs(y(r, c) - wanted) / std::max(std::abs(wanted), Log ? 1.0 : 1e-4);
      worst = max_error(worst, error);
    }
  }
  EXPECT_LT(worst, unit);
}

constexpr double f16_error = 1e-3, bf16_error = 8e-3, f32_error = 4e-6;

using in_a_wave = softmax<arch::gfx942, half_t, choose_row_tile(500, 8)>;
using in_a_cluster = softmax<arch::sm90, bfloat16_t, row_tile{64, 64, 2, 8, 4}>;
using in_parts = softmax<arch::gfx1201, float, row_tile{256, 256, 2, 4}>;
using in_lds =
    softmax<arch::sm90, bfloat16_t,
            row_tile{
                .threads = 64, .threads_per_row = 64, .vectors = 1, .blocks = 2, .unaligned = true, .lds_segments = 3}>;
using unaligned =
    softmax<arch::gfx942, half_t,
            row_tile{.threads = 128, .threads_per_row = 64, .vectors = 2, .unaligned = true, .lds_segments = 2}>;
using one_by_one = softmax<arch::gfx942, float, choose_row_tile(100, 1), softmax_kind::log_softmax>;

static_assert(choose_row_tile<arch::sm90, bfloat16_t>(1000) == choose_row_tile(1000, 8));
static_assert(choose_row_tile<arch::sm90, bfloat16_t>(65536) == row_tile{512, 512, 4, 8, 1, false, 3});
static_assert(choose_row_tile<arch::sm90, float>(131072) == row_tile{512, 512, 4, 4, 4, false, 3});
static_assert(choose_row_tile<arch::gfx942, float>(131072, 256) == row_tile{256, 256, 4, 4, 1, false, 1});

}  // namespace

TEST(Softmax, RowsOfAnyLength) {
  std::mt19937 random(2);
  for (int i = 0; i < 4; ++i) {
    const index_t rows = 1 + index_t(random() % 40), gap = i % 2 * 8;
    expect_softmax<in_a_wave>({rows, random_length(random, 500, 8), gap, random, 4}, gap, f16_error);
    expect_softmax<in_a_wave>({3, random_length(random, 3000, 8), gap, random, 4}, 0, f16_error);
    expect_softmax<in_a_cluster>({5, random_length(random, 9000, 8), gap, random, 4}, gap, bf16_error);
    expect_softmax<in_lds>({3, random_length(random, 9000, 1), i, random, 4}, i + 1, bf16_error);
    expect_softmax<unaligned>({rows, random_length(random, 5000, 1), i, random, 4}, i + 3, f16_error);
    expect_softmax<in_parts>({2, random_length(random, 20000, 4), gap, random, 4}, 0, f32_error);
    expect_softmax<one_by_one, true>({rows, random_length(random, 1000, 1), i, random, 4}, 3, f32_error);
  }
  expect_softmax<in_parts>({1, 130000, 0, random, 8}, 0, f32_error);
  expect_softmax<one_by_one, true>({1, 1, 0, random}, 0, f32_error);
}

TEST(Softmax, LargeNumbersAndInfinities) {
  std::mt19937 random(3);
  matrix<float> x(3, 5000, 0, random);
  for (index_t c = 0; c < x.cols; ++c) {
    x.at(0, c) = c % 3 == 0 ? 3e38f : -3e38f;
    x.at(1, c) = c == 4321 ? -80.0f : -std::numeric_limits<float>::infinity();
  }
  expect_softmax<in_parts>(x, 0, f32_error);
}

TEST(Softmax, InPlaceAndFarApart) {
  const long_index_t stride = 67108856;
  const far_memory<half_t> x(40 * stride);  // more than 2^31 elements
  launch<in_a_wave>({x.data, x.data, 40, 512, stride, stride});
  EXPECT_EQ(x.data[39 * stride + 511], half_t(1.0f / 512));
}

TEST(Softmax, PassesInExploredSchedules) {
  tilewright::testing_schedules::expect_in_explored_schedules([] {
    std::mt19937 random(7);
    expect_softmax<in_a_cluster>({3, 4000, 0, random, 4}, 0, bf16_error);
    expect_softmax<in_lds>({3, 1500, 0, random, 4}, 0, bf16_error);
  });
}

TEST(Softmax, RefusesWhatItCannotDo) {
  alignas(16) static half_t memory[4096];
  const softmax_args<half_t> good{memory, memory + 2048, 4, 512, 512, 512};
  EXPECT_EQ(in_a_wave::check(good), nullptr);
  const auto refuse = [&](auto change, const char* words) {
    auto args = good;
    change(args);
    expect_refusal<in_a_wave>(args, words);
  };
  refuse([](auto& a) { a.rows = -3; }, "must be positive");
  refuse([](auto& a) { a.cols = 0; }, "must be positive");
  refuse([](auto& a) { a.x = nullptr; }, "null");
  refuse([](auto& a) { ++a.y; }, "aligned");
  refuse([](auto& a) { a.cols = 500; }, "multiples");
  refuse([](auto& a) { a.x_stride = 504; }, "rows would overlap");
  refuse([](auto& a) { a.y_stride = 1 << 30; }, "2 GiB");
  refuse([](auto& a) { a.y = memory + 8; }, "overlaps the input");
  // Columns beside those of x in one matrix.
  refuse([](auto& a) { a.x_stride = a.y_stride = 1024, a.rows = 2, a.y = memory + 512; },
         "the memory from the result's first element to its last overlaps the input's");
  refuse([](auto& a) { a.rows = 0x7ffffff0; }, "close to 2^31");
}

}  // namespace rows_test
