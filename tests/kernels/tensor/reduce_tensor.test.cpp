// SPDX-License-Identifier: MIT
#include "tensor.hpp"

#include <tilewright/kernels/tensor/reduce_tensor.hpp>

namespace rows_test {

namespace {

using enum reduce_kind;
using sums = reduce_tensor<arch::sm90, bfloat16_t, sum>;
using sums_of_bytes = reduce_tensor<arch::sm90, fp8_ocp_t, sum>;
using maxima = reduce_tensor<arch::gfx942, float, maximum>;
using moments = reduce_tensor<arch::gfx1201, half_t, mean_variance>;

/// Reduces x along the dimensions whose bit is set, with or without a workspace, and compares with double precision.
template <class Kernel, class T>
void expect_reduced(const tensor<T>& x, unsigned reduced, bool has_workspace, std::mt19937& random,
                    index_t wanted_splits = 0) {
  std::string words = "reduced " + std::to_string(reduced) + ":";
  std::vector<index_t> lengths;
  for (index_t d = 0; d < x.view.dims; ++d) {
    words += " " + std::to_string(x.view.lengths[d]) + "(" + std::to_string(x.view.strides[d]) + ")";
    lengths.push_back(reduced >> d & 1 ? 1 : index_t(x.view.lengths[d]));
  }
  SCOPED_TRACE(words);
  tensor<float> y(lengths, random, 3, 0, true), variance = y;
  std::vector<index_t> position(y.values.size(), -7);
  reduce_args<T> args{.x = x.input(), .y = y.view};
  const bool is_max = std::is_same_v<Kernel, maxima>, has_moments = std::is_same_v<Kernel, moments>;
  if (is_max) args.position = position.data();
  if (has_moments) args.variance = variance.values.data();
  std::vector<unsigned> workspace(std::size_t(Kernel::workspace_bytes(args)) / 4 + 1, 0xffffffffu);
  if (has_workspace) args.workspace = workspace.data();
  if (wanted_splits > 0) {
    EXPECT_EQ(Kernel::prepare(args, 0).splits, wanted_splits);
  }
  const auto report = launch<Kernel>(args, {.check_lds = emulator::lds_checks::on});
  EXPECT_EQ(report.totals.conflicts, 0);
  EXPECT_EQ(workspace.back(), 0xffffffffu);

  for (long_index_t i = 0; i < y.elements(); ++i) {
    const long_index_t at = offset_of(y.view, i);
    long_index_t base = 0, rest = i, elements = 1;
    strided_tensor<const T> gone = x.input();
    for (index_t d = x.view.dims; d-- > 0; rest /= y.view.lengths[d]) {
      base += rest % y.view.lengths[d] * x.view.strides[d];
      if (y.view.lengths[d] > 1 || x.view.lengths[d] == 1) gone.lengths[d] = 1;
      elements *= gone.lengths[d];
    }
    const auto element = [&](long_index_t j) { return double(float(x.view.data[base + offset_of(gone, j)])); };
    double total = 0, absolute = 0, squares = 0;
    long_index_t first = 0;
    for (long_index_t j = 0; j < elements; ++j) {
      total += element(j);
      absolute += std::abs(element(j));
      if (element(j) > element(first)) first = j;
    }
    const double mean = total / double(elements), found = y.values[std::size_t(at)];
    for (long_index_t j = 0; j < elements; ++j) squares += (element(j) - mean) * (element(j) - mean) / double(elements);
    if (is_max) {
      ASSERT_EQ(found, element(first));
      ASSERT_EQ(position[std::size_t(at)], first);
    } else if (has_moments) {
      ASSERT_NEAR(found, mean, absolute / double(elements) * 1e-6);
      ASSERT_NEAR(variance.values[std::size_t(at)], squares, squares * 2e-3 + 1e-9);
    } else {
      ASSERT_NEAR(found, total, absolute * 1e-6);
    }
  }
}

}  // namespace

TEST(ReduceTensor, AnyDimensionsOfAnyLengths) {
  std::mt19937 random(11);
  for (int i = 0; i < 6; ++i) {
    std::vector<index_t> lengths = random_lengths(random, 6000);
    if (i % 2)
      for (index_t& length : lengths) length = ceil_div(length, 8) * 8;
    const unsigned reduced = 1 + unsigned(random()) % ((1u << lengths.size()) - 1);
    const index_t gap = i % 4 == 1 ? 8 : i % 4 / 3;
    const bool has_workspace = i % 3 != 0;
    expect_reduced<sums>(tensor<bfloat16_t>(lengths, random, gap, 0, true), reduced, has_workspace, random);
    tensor<float> few_values(lengths, random, gap, 0, true);
    for (float& e : few_values.values) e = std::floor(e * 2);  // the largest is there many times
    expect_reduced<maxima>(few_values, reduced, has_workspace, random);
    tensor<half_t> with_large_mean(lengths, random, gap, i == 4, true);
    for (half_t& e : with_large_mean.values) e = half_t(float(e) + 200.0f);
    expect_reduced<moments>(with_large_mean, reduced, has_workspace, random);
  }
}

TEST(ReduceTensor, LongRowsAndColumnsAreSplit) {
  std::mt19937 random(12);
  const tensor<float> row({2, 130000}, random, 0, 0, false), column({20001, 12}, random, 0, 0, false);
  expect_reduced<maxima>(row, 2, false, random, 1);
  expect_reduced<maxima>(row, 2, true, random, 16);
  expect_reduced<maxima>(column, 1, true, random, 40);
  expect_reduced<sums>(tensor<bfloat16_t>({20001, 16}, random, 0, 0, false), 1, true, random);
  expect_reduced<maxima>(tensor<float>({70001}, random, 0, 0, false), 1, true, random);
  tensor<float> lowest({3, 2000}, random, 0, 0, false);
  for (float& e : lowest.values) e = -std::numeric_limits<float>::infinity();
  expect_reduced<maxima>(lowest, 2, false, random);
  std::fill_n(lowest.values.begin(), 4000, std::numeric_limits<float>::quiet_NaN());
  lowest.view.data[1337] = -5;
  std::vector<float> y(3);
  std::vector<index_t> position(3);
  launch<maxima>({.x = lowest.input(), .y = strided_tensor<float>(y.data(), {3, 1}), .position = position.data()});
  EXPECT_EQ(position, (std::vector<index_t>{1337, 0x7fffffff, 0}));
  EXPECT_TRUE(y[0] == -5 && std::isnan(y[1]));
  std::vector<index_t> of_columns(8);
  std::vector<float> maxima_of_columns(8);
  launch<maxima>({.x = strided_tensor<const float>(lowest.view.data + 2000, {5, 8}),
                  .y = strided_tensor<float>(maxima_of_columns.data(), {1, 8}),
                  .position = of_columns.data()});
  EXPECT_EQ(of_columns, std::vector<index_t>(8, 0x7fffffff)) << "of NaN alone";
  tensor<half_t> same({2, 50}, random, 0, 0, false);
  for (half_t& e : same.values) e = half_t(0.3f);
  same.view.data[60] = half_t(std::numeric_limits<float>::quiet_NaN());
  float mean[2], variance[2];
  launch<moments>({.x = same.input(), .y = strided_tensor<float>(mean, {2, 1}), .variance = variance});
  EXPECT_TRUE(mean[0] == float(half_t(0.3f)) && variance[0] == 0 && std::isnan(mean[1]) && std::isnan(variance[1]));
  tensor<half_t> ones({4, 6, 18}, random, 0, 0, false);  // slices without an element have one of another result
  for (index_t i = 0; i < 4 * 6 * 18; ++i)
    ones.view.data[i] = half_t(i / 18 == 3 ? std::numeric_limits<float>::quiet_NaN() : 1.0f);
  float means[6], variances[6];
  launch<moments>({.x = ones.input(), .y = strided_tensor<float>(means, {1, 6, 1}), .variance = variances});
  for (const int i : {0, 1, 2, 4, 5}) EXPECT_TRUE(means[i] == 1 && variances[i] == 0) << i;
}

TEST(ReduceTensor, RowsThatStartAndEndWithinVectors) {
  std::mt19937 random(13);
  for (const index_t length : {33, 1337}) {
    expect_reduced<sums>(tensor<bfloat16_t>({9, length}, random, 0, 1, false), 2, false, random);
    expect_reduced<maxima>(tensor<float>({9, length}, random, 0, 3, false), 2, false, random);
    expect_reduced<moments>(tensor<half_t>({9, length}, random, 0, 7, false), 2, false, random);
    expect_reduced<sums_of_bytes>(tensor<fp8_ocp_t>({9, length}, random, 0, 3, false), 2, false, random);
  }
  expect_reduced<maxima>(tensor<float>({2, 130001}, random, 0, 1, false), 2, true, random, 16);
  expect_reduced<sums>(tensor<bfloat16_t>({3, 9001}, random, 0, 5, false), 2, false, random);
  tensor<float> twice({9, 1337}, random, 0, 3, false);  // lanes whose first access is before their row repeat the last
  for (index_t i = 0; i < 9 * 1337; ++i) twice.view.data[i] = i % 1337 == 511 || i % 1337 == 1333 ? 1.0f : 0.0f;
  expect_reduced<maxima>(twice, 2, false, random);
  tensor<float> repeated({9, 40}, random, 0, 0, false);
  repeated.view.strides[0] = 0;
  expect_reduced<maxima>(repeated, 2, false, random);
  for (const unsigned reduced : {2u, 5u}) {  // neighbours are results, or elements of one result in rows of 45
    expect_reduced<sums>(tensor<bfloat16_t>({300, 3, 45}, random, 0, 1, false), reduced, true, random);
    expect_reduced<maxima>(tensor<float>({300, 3, 45}, random, 0, 3, false), reduced, true, random);
    expect_reduced<moments>(tensor<half_t>({29, 38, 11}, random, 0, 7, false), reduced, false, random);
  }
}

TEST(ReduceTensor, ElementsFarApart) {
  const far_memory<float> x((1ll << 31) + 600);
  x.data[599] = 3, x.data[(1ll << 31) + 598] = 5;
  const strided_tensor<const float> far(x.data, {2, 600}, {1ll << 31, 1});
  std::vector<float> of_rows(2), of_cols(600);
  launch<maxima>({.x = far, .y = strided_tensor<float>(of_rows.data(), {2, 1})});
  launch<maxima>({.x = far, .y = strided_tensor<float>(of_cols.data(), {1, 600})});
  EXPECT_EQ(of_rows, (std::vector<float>{3, 5}));
  EXPECT_EQ(of_cols[598] + of_cols[599] * 10 + of_cols[0], 35);
}

TEST(ReduceTensor, HowManyThreadsShareAResult) {
  alignas(16) static float memory[4];
  const auto plan = [&]<class Kernel>(Kernel, long_index_t results, long_index_t elements, long_index_t neighbours) {
    const reduce_args<float> args{strided_tensor<const float>(memory, {results, elements, neighbours}),
                                  strided_tensor<float>(memory, {results, 1, neighbours})};
    return Kernel::prepare(args, 0);
  };
  const auto slices = [&](auto... of_plan) { return plan(of_plan...).team.slices(); };
  using with_waves_of_32 = reduce_tensor<arch::sm90, float, maximum>;
  EXPECT_EQ(slices(with_waves_of_32{}, 12934, 18, 138), 1);
  EXPECT_EQ(slices(with_waves_of_32{}, 76, 69, 6392), 2);
  EXPECT_EQ(slices(with_waves_of_32{}, 38, 80, 6392), 4);
  EXPECT_EQ(slices(maxima{}, 76, 69, 6392), 8) << "waves of 64 have LDS for no more states";
  EXPECT_EQ(slices(with_waves_of_32{}, 1, 1024, 32768), 16) << "eight leave a third of the GPU without a block";
  EXPECT_EQ(slices(with_waves_of_32{}, 190592, 44 * 4, 1), 4) << "eight would have 5.5 vectors of 8";
  EXPECT_EQ(slices(with_waves_of_32{}, 1048576, 64, 1), 4) << "two would read 32 bytes of each result";
  EXPECT_TRUE(plan(with_waves_of_32{}, 65536, 1024, 1).is_copied);
  EXPECT_TRUE(plan(with_waves_of_32{}, 1, 1024, 32768).is_copied);
  EXPECT_FALSE(plan(with_waves_of_32{}, 1048576, 64, 1).is_copied) << "there is nothing to copy ahead";
}

TEST(ReduceTensor, RefusesWhatItCannotDo) {
  alignas(16) static float memory[4096];
  static index_t position[2];
  const reduce_args<float> good{.x = strided_tensor<const float>(memory, {2, 512}),
                                .y = strided_tensor<float>(memory + 2048, {2, 1})};
  EXPECT_EQ(maxima::check(good), nullptr);
  const auto refuse = [&](auto change, const char* words) {
    auto args = good;
    change(args);
    expect_refusal<maxima>(args, words);
  };
  refuse([](auto& a) { a.x.lengths[1] = 0; }, "must be positive");
  refuse([](auto& a) { a.y.data = memory + 5; }, "overlaps another");
  refuse([](auto& a) { a.position = reinterpret_cast<index_t*>(memory + 2049); }, "overlaps another");
  refuse([](auto& a) { a.workspace = reinterpret_cast<char*>(memory) + 8194; }, "workspace is not aligned");
  refuse([](auto& a) { a.y.data = nullptr; }, "null");
  refuse([](auto& a) { a.y.lengths[0] = 3; }, "or 1 where x is reduced");
  refuse([](auto& a) { a.y.dims = 1; }, "as many dimensions");
  refuse([](auto& a) { a.y.strides[0] = 0; }, "one address");
  refuse([](auto& a) { a.x.lengths[1] = 0x7fffffff; }, "2^31");
  refuse([](auto& a) { ++reinterpret_cast<const char*&>(a.x.data); }, "not aligned");
  refuse([](auto& a) { a.x.strides[0] = -1; }, "negative");
  refuse([](auto& a) { a.x.data += 1ll << 40, a.x.lengths[0] = a.y.lengths[0] = 0x7fffffff; }, "too many results");
  refuse([](auto& a) { a.variance = memory + 2080; }, "only for it");
  using float_moments = reduce_tensor<arch::gfx942, float, mean_variance>;
  expect_refusal<float_moments>(good, "variance must be given");
  auto args = good;
  args.variance = memory + 2080, args.position = position;
  expect_refusal<float_moments>(args, "only a maximum");
  args.position = nullptr, args.variance = memory;
  expect_refusal<float_moments>(args, "overlaps another");
}

}  // namespace rows_test
