// SPDX-License-Identifier: MIT
// Weighted sums of values by the softmax of scores that arrive in tiles, against double precision.
#include "../on_cpu.hpp"

#include <tilewright/core/distribution/copy_distribution.hpp>
#include <tilewright/tile/registers/online_softmax.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace tilewright {
namespace {

using namespace testing_tiles;

constexpr index_t steps = 5, masked_row = 3;
constexpr float scale = 0.7f * 1.442695041f;

/// Rows grow, fall, and have large steps; row 3 is masked whole, and so is the first tile of row 5.
float score(index_t row, index_t col, index_t length) {
  if (row == masked_row || (row == 5 && col < length) || col % 11 == 7) return -INFINITY;
  return (row % 2 ? float(col) : float(steps * length - col)) * 0.21f + float(row * col % 17) - (row == 4 ? 1e4f : 0);
}
float value(index_t col) { return float(col % 13) - 5; }

template <class Distribution>
void expect_softmax(const arch::target& target) {
  using softmax = online_softmax<Distribution>;
  using rows = typename softmax::row_values;
  const auto where = positions<Distribution>();
  const auto row_of = positions<typename rows::distribution_type>();
  std::vector<float> outputs(row_of.size()), sums(row_of.size()), largest(row_of.size());
  const index_t length = Distribution::get_lengths()[1];
  run<Distribution>(
      target,
      [&] {
        exec::lds_pointer lds{};
        if constexpr (softmax::lds_bytes > 0) lds = exec::lds_allocate<softmax::lds_bytes>();
        softmax state;
        rows output{};
        for (index_t step = 0; step < steps; ++step) {
          typename softmax::scores s, weighted;
          const auto x = [&](index_t d) {
            return where[std::size_t(exec::thread_id() * Distribution::num_elements + d)];
          };
          for (index_t d = 0; d < s.size(); ++d) s.thread_buffer[d] = score(x(d)[0], step * length + x(d)[1], length);
          const rows factors = [&] {
            if constexpr (softmax::lds_bytes == 0) return state.update(s, scale);
            if constexpr (softmax::lds_bytes > 0) return state.update(s, scale, lds);
          }();
          exec::block_sync();
          for (index_t d = 0; d < s.size(); ++d)
            weighted.thread_buffer[d] = s.thread_buffer[d] * value(step * length + x(d)[1]);
          const rows added = reduce<1>(weighted, plus, lds);
          exec::block_sync();
          for (index_t r = 0; r < rows::num_elements; ++r)
            output.thread_buffer[r] = output.thread_buffer[r] * factors.thread_buffer[r] + added.thread_buffer[r];
        }
        const rows sum = [&] {
          if constexpr (softmax::lds_bytes == 0) return state.sum();
          if constexpr (softmax::lds_bytes > 0) return state.sum(lds);
        }();
        for (index_t r = 0; r < rows::num_elements; ++r) {
          const auto at = std::size_t(exec::thread_id() * rows::num_elements + r);
          outputs[at] = output.thread_buffer[r] / sum.thread_buffer[r];
          sums[at] = sum.thread_buffer[r];
          largest[at] = state.largest().thread_buffer[r];
        }
      },
      softmax::lds_bytes);
  for (std::size_t i = 0; i < row_of.size(); ++i) {
    const index_t row = row_of[i][0];
    if (row == masked_row) {
      ASSERT_EQ(sums[i], 0.0f) << target.name;
      ASSERT_EQ(largest[i], -INFINITY);
      continue;
    }
    double most = -INFINITY, sum = 0, output = 0;
    for (index_t col = 0; col < steps * length; ++col) most = std::fmax(most, score(row, col, length));
    for (index_t col = 0; col < steps * length; ++col) {
      const double p = std::exp2((double(score(row, col, length)) - most) * scale);
      sum += p;
      output += p * value(col);
    }
    ASSERT_EQ(largest[i], float(most)) << target.name << ", row " << row;
    ASSERT_NEAR(sums[i], sum, 1e-4 * sum) << target.name << ", row " << row;
    ASSERT_NEAR(outputs[i], output / sum, 1e-3) << target.name << ", row " << row;
  }
}

TEST(OnlineSoftmax, IsTheSoftmaxOfTheWholeRow) {
  expect_softmax<by_rows<64>>(arch::gfx942::value);
  expect_softmax<by_rows<32>>(arch::gfx1100::value);
  expect_softmax<by_rows<32>>(arch::sm90::value);
}

TEST(OnlineSoftmax, OfRowsThatWavesShare) {
  expect_softmax<decltype(make_row_distribution<6, 2 * 64 * 8, half_t, 128, 64>())>(arch::gfx942::value);
  expect_softmax<decltype(make_row_distribution<6, 2 * 32 * 8, half_t, 64, 32>())>(arch::gfx1100::value);
  expect_softmax<decltype(make_row_distribution<6, 2 * 32 * 8, half_t, 64, 32>())>(arch::sm90::value);
}

}  // namespace
}  // namespace tilewright
