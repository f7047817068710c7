// SPDX-License-Identifier: MIT
#include "../explored.hpp"
#include "matrix.hpp"

#include <tilewright/kernels/rows/norm_gradient.hpp>
#include <tilewright/kernels/rows/norm_gradient_choice.hpp>
#include <tilewright/launch/launch.hpp>

namespace rows_test {

namespace {

using layer = row_norm_gradient<arch::gfx942, float, row_tile{256, 256, 1, 4}, norm_kind::layer_norm>;
using rms = row_norm_gradient<arch::sm90, bfloat16_t, row_tile{64, 64, 2, 8, 2, true}>;
using any_layer = row_norm_gradient<arch::sm90, bfloat16_t, row_tile{64, 64, 2, 8, 2, true}, norm_kind::layer_norm>;

/// LDS of the kernel that a target gets for rows of this length.
template <class Arch, class T, norm_kind Kind>
constexpr index_t chosen_lds_bytes(auto cols, auto is_aligned) {
  constexpr row_tile tile = choose_norm_gradient_tile(Arch::value, sizeof(T), cols.value, is_aligned.value, Kind);
  return row_norm_gradient<Arch, T, tile, Kind>::lds_bytes;
}
template <class Arch, class T, index_t Cols>
constexpr bool chosen_tiles_fit() {
  const auto fits = [](auto kind, auto is_aligned) {
    return chosen_lds_bytes<Arch, T, kind.value>(number<Cols>{}, is_aligned) <= Arch::value.lds_bytes;
  };
  return fits(number<norm_kind::rms_norm>{}, number<true>{}) && fits(number<norm_kind::layer_norm>{}, number<true>{}) &&
         fits(number<norm_kind::rms_norm>{}, number<false>{}) && fits(number<norm_kind::layer_norm>{}, number<false>{});
}
static_assert([] {
  for (const row_tile& t : norm_gradient_tiles)  // a block has whole waves and one row
    if (t.threads % 64 != 0 || t.threads_per_row != t.threads || t.threads > 512) return false;
  return true;
}());
static_assert(chosen_tiles_fit<arch::gfx942, half_t, 2048>() && chosen_tiles_fit<arch::gfx942, half_t, 70001>());
static_assert(chosen_tiles_fit<arch::gfx1100, float, 8000>() && chosen_tiles_fit<arch::sm80, half_t, 8192>());
static_assert(choose_norm_gradient_tile(arch::sm90::value, 2, 65536, true, norm_kind::rms_norm) ==
              row_tile{512, 512, 2, 8, 8});
static_assert(choose_norm_gradient_tile(arch::sm90::value, 2, 50001, false, norm_kind::rms_norm).blocks == 4);
static_assert(choose_norm_gradient_tile(arch::sm90::value, 2, 50001, false, norm_kind::layer_norm).blocks == 8);
static_assert(choose_norm_gradient_tile(arch::gfx942::value, 2, 65536, true, norm_kind::rms_norm) ==
              row_tile{256, 256, 2, 8});
static_assert(choose_num_partials(100, 264, {}) == 100 && choose_num_partials(1000, 263, {.unaligned = true}) == 256 &&
              choose_num_partials(1000, 263, {}) == 263 && choose_num_partials(1000, 9, {.unaligned = true}) == 8);

/// What row_norm_gradient must write, from the statistics that it is given.
struct exact_gradients {
  std::vector<double> dx, dweight, dbias;

  template <class T>
  exact_gradients(const matrix<T>& dy, const matrix<T>& s, const matrix<T>& weight, const std::vector<float>& mean,
                  const std::vector<float>& rstd, bool is_layer_norm)
      : dweight(std::size_t(s.cols)), dbias(std::size_t(s.cols)) {
    for (index_t r = 0; r < s.rows; ++r) {
      const double m = is_layer_norm ? double(mean[std::size_t(r)]) : 0.0, f = double(rstd[std::size_t(r)]);
      double sum = 0, products = 0;
      for (index_t c = 0; c < s.cols; ++c) {
        const double e = (s(r, c) - m) * f, g = dy(r, c) * weight(0, c);
        sum += is_layer_norm ? g / s.cols : 0.0;
        products += g * e / s.cols;
        dweight[std::size_t(c)] += dy(r, c) * e;
        dbias[std::size_t(c)] += dy(r, c);
      }
      for (index_t c = 0; c < s.cols; ++c)
        dx.push_back(f * (dy(r, c) * weight(0, c) - sum - (s(r, c) - m) * f * products));
    }
  }
};

template <class Kernel, class T>
void expect_gradients(index_t rows, index_t cols, index_t gap, index_t num_partials, bool adds, double error,
                      std::mt19937& random) {
  SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(cols) + " in " + std::to_string(num_partials));
  matrix<T> dy(rows, cols, gap, random), s(rows, cols, num_partials < rows ? gap : 0, random, 3),
      weight(1, cols, 0, random), ds(rows, cols, 0, random), dx(rows, cols, gap, T(-7.0f)),
      dweight(1, cols, 0, T(-7.0f)), dbias = dweight;
  const bool has_bias = Kernel::is_layer_norm && num_partials != 1;
  std::vector<float> mean, rstd, partials(std::size_t(2 * num_partials * detail::round_up(cols, 8)), -7.0f);
  std::uniform_real_distribution<float> numbers(0.1f, 1.0f);
  for (index_t r = 0; r < rows; ++r) mean.push_back(numbers(random)), rstd.push_back(numbers(random));
  norm_gradient_args<T> args{.dy = dy.data(),
                             .s = s.data(),
                             .weight = weight.data(),
                             .mean = Kernel::is_layer_norm ? mean.data() : nullptr,
                             .rstd = rstd.data(),
                             .ds = adds ? ds.data() : nullptr,
                             .dx = dx.data(),
                             .dweight = dweight.data(),
                             .dbias = has_bias ? dbias.data() : nullptr,
                             .partials = partials.data(),
                             .num_partials = num_partials,
                             .rows = rows,
                             .cols = cols,
                             .dy_stride = dy.stride,
                             .s_stride = s.stride,
                             .ds_stride = ds.stride,
                             .dx_stride = dx.stride};
  launch<Kernel>(args, {.check_lds = emulator::lds_checks::on});
  EXPECT_TRUE(dx.has_clean_gaps(T(-7.0f)));
  const exact_gradients wanted(dy, s, weight, mean, rstd, Kernel::is_layer_norm);
  double worst = 0, worst_sum = 0;
  for (index_t c = 0; c < cols; ++c) {
    for (index_t r = 0; r < rows; ++r)
      worst = max_error(worst, std::abs(dx(r, c) - wanted.dx[std::size_t(r * cols + c)] - (adds ? ds(r, c) : 0)));
    const auto off = [&](const matrix<T>& found, const std::vector<double>& exact) {
      const double e = exact[std::size_t(c)];
      return std::abs(found(0, c) - e) / std::max(10.0, std::abs(e));
    };
    worst_sum = max_error(worst_sum, off(dweight, wanted.dweight));
    if (has_bias) worst_sum = max_error(worst_sum, off(dbias, wanted.dbias));
  }
  EXPECT_LT(worst, 10 * error);
  EXPECT_LT(worst_sum, error);
  const auto of_bias = partials.begin() + num_partials * detail::round_up(cols, 8);
  EXPECT_TRUE(has_bias || std::all_of(of_bias, partials.end(), [](float x) { return x == -7.0f; }));
}

}  // namespace

TEST(NormGradient, RowsOfAnyLength) {
  std::mt19937 random(31);
  for (int i = 0; i < 4; ++i) {
    const index_t rows = 8 + index_t(random() % 20), num_partials = 1 + index_t(random() % 3), gap = i % 2 * 4;
    const index_t odd_gap = i % 2 ? i : 4 * i;  // odd: rows of dy and s do not start at the same element of a vector
    expect_gradients<layer, float>(rows, random_length(random, 3000, 4), gap, num_partials, i > 1, 1e-5, random);
    expect_gradients<rms, bfloat16_t>(rows, random_length(random, 2000, 1), odd_gap, 1 + index_t(random() % 8), i > 1,
                                      0x1p-8, random);
    expect_gradients<any_layer, bfloat16_t>(rows, random_length(random, 2000, 1), odd_gap, 2 + index_t(random() % 7),
                                            i > 1, 0x1p-8, random);
  }
  expect_gradients<layer, float>(2, 130000, 0, 1, true, 1e-5, random);
}

TEST(NormGradient, NaNStaysInItsRow) {
  std::mt19937 random(33);
  const index_t rows = 9, cols = 333, ill = 4;  // neighbours share vectors with this row
  matrix<bfloat16_t> dy(rows, cols, 0, random), s(rows, cols, 0, random), weight(1, cols, 0, random),
      dx(rows, cols, 0, bfloat16_t(0.0f)), dweight(1, cols, 0, bfloat16_t(0.0f));
  const std::vector<float> rstd(std::size_t(rows), 0.5f);
  std::vector<float> partials(std::size_t(2 * rows * detail::round_up(cols, 8)));
  const auto run = [&] {
    launch<rms>({.dy = dy.data(),
                 .s = s.data(),
                 .weight = weight.data(),
                 .rstd = rstd.data(),
                 .dx = dx.data(),
                 .dweight = dweight.data(),
                 .partials = partials.data(),
                 .num_partials = rows,
                 .rows = rows,
                 .cols = cols,
                 .dy_stride = cols,
                 .s_stride = cols,
                 .dx_stride = cols});
    return dx;
  };
  const matrix<bfloat16_t> sound = run();
  for (index_t c = 0; c < cols; ++c) dy.at(ill, c) = bfloat16_t(std::numeric_limits<float>::quiet_NaN());
  const matrix<bfloat16_t> found = run();
  for (index_t r = 0; r < rows; ++r)
    for (index_t c = 0; c < cols; ++c)
      ASSERT_TRUE(r == ill ? std::isnan(found(r, c)) : found(r, c) == sound(r, c)) << "row " << r << ", column " << c;
}

TEST(NormGradient, PassesInExploredSchedules) {
  tilewright::testing_schedules::expect_in_explored_schedules([] {
    std::mt19937 random(7);
    expect_gradients<rms, bfloat16_t>(5, 600, 0, 2, true, 0x1p-8, random);
    expect_gradients<any_layer, bfloat16_t>(5, 600, 1, 2, true, 0x1p-8, random);
  });
}

TEST(NormGradient, RefusesWhatItCannotDo) {
  alignas(16) static float memory[16384];
  const norm_gradient_args<float> good{.dy = memory,
                                       .s = memory + 2048,
                                       .weight = memory + 4096,
                                       .mean = memory + 7200,
                                       .rstd = memory + 7202,
                                       .dx = memory,
                                       .dweight = memory + 6144,
                                       .partials = memory + 8192,
                                       .num_partials = 2,
                                       .rows = 2,
                                       .cols = 1000,
                                       .dy_stride = 1000,
                                       .s_stride = 1000,
                                       .dx_stride = 1000};
  EXPECT_EQ(layer::check(good), nullptr);
  const auto refuse = [&](auto change, const char* words) {
    auto args = good;
    change(args);
    expect_refusal<layer>(args, words);
  };
  refuse([](auto& a) { a.rows = -1; }, "must be positive");
  refuse([](auto& a) { a.mean = nullptr; }, "rstd, or mean");
  refuse([](auto& a) { a.partials = nullptr; }, "null: dweight, or parts");
  refuse([](auto& a) { ++a.partials; }, "16 bytes");
  refuse([](auto& a) { a.num_partials = 3; }, "at most rows");
  refuse([](auto& a) { a.dx_stride = 1004; }, "overlaps that of dy or ds");
  refuse([](auto& a) { a.dx = memory + 2048; }, "overlaps that of s");
  refuse([](auto& a) { a.rstd = memory + 999; }, "rstd or mean");
  refuse([](auto& a) { a.dweight = memory + 2048; }, "overlaps another result's or an input's");
  refuse([](auto& a) { ++a.weight; }, "aligned");
  refuse([](auto& a) { a.s_stride = 996; }, "rows would overlap");
  alignas(16) static bfloat16_t halves[4096];
  norm_gradient_args<bfloat16_t> any{.dy = halves,
                                     .s = halves,
                                     .weight = halves,
                                     .rstd = memory,
                                     .dx = halves + 2048,
                                     .dweight = halves,
                                     .partials = memory,
                                     .num_partials = 10,
                                     .rows = 10,
                                     .cols = 7,
                                     .dy_stride = 7,
                                     .s_stride = 7,
                                     .dx_stride = 7};
  any.dbias = halves;
  expect_refusal<rms>(any, "no bias");
}

}  // namespace rows_test
