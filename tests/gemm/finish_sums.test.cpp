// SPDX-License-Identifier: MIT
// Epilogues of a tile in the registers of one wave, as wgmma leaves it.
#include <tilewright/gemm/finish_sums.hpp>

#include <tilewright/arch/arch.hpp>
#include <tilewright/emulator/launch.hpp>
#include <tilewright/gemm/hopper/hopper_tile.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace tilewright {
namespace {

using box = tile_distribution<wave_tile_encoding(4, wgmma_result)>;  // 16 x 64

/// Two matrices of 21 x 72 of C; boxes at their lower right corners hang over. Values are small, so that all sums are
/// exact.
struct epilogue_case {
  static constexpr index_t m = 21, n = 72, ld = 76, batch = 2;
  std::vector<float> row_scale, column_scale;
  std::vector<half_t> bias, residual;
  gemm_args args{.m = m, .n = n, .batch = batch};

  epilogue_case() {
    for (index_t i = 0; i < m; ++i) row_scale.push_back(float(1 << i % 3));
    for (index_t j = 0; j < n; ++j) column_scale.push_back(float(1 << j % 4));
    for (index_t j = 0; j < n; ++j) bias.push_back(half_t(float(j)));
    for (index_t i = 0; i < batch * m * ld; ++i) residual.push_back(half_t(float(i % 1999)));
    args.row_scale = row_scale.data();
    args.column_scale = column_scale.data();
    args.bias = bias.data();
    args.residual = residual.data();
    args.ld_residual = ld;
    args.batch_stride_residual = m * ld;
    args.activation = activation::relu;
  }

  /// What becomes of sum(i, j) = i - j.
  float expected(index_t z, index_t i, index_t j, const epilogue_options& e) const {
    float x = float(i - j);
    if (e.row_scale) x *= row_scale[std::size_t(i)];
    if (e.column_scale) x *= column_scale[std::size_t(j)];
    if (e.bias) x += float(bias[std::size_t(j)]);
    if (e.activation == activation::relu && x < 0) x = 0;
    if (e.residual) x += float(residual[std::size_t((z * m + i) * ld + j)]);
    return x;
  }
};

template <epilogue_options Options, index_t Vector>
void expect_finished(const epilogue_options& wanted = Options) {
  epilogue_case c;
  if (Options.from_args) {
    if (!wanted.row_scale) c.args.row_scale = nullptr;
    if (!wanted.column_scale) c.args.column_scale = nullptr;
    if (!wanted.bias) c.args.bias = nullptr;
    if (!wanted.residual) c.args.residual = nullptr;
    c.args.activation = wanted.activation;
  }
  index_t compared = 0;
  emulator::launch({.target = &arch::sm90::value, .grid = {1, 1, 1}, .block_size = 32, .workers = 1}, [&] {
    const multi_index<1> lane{{exec::lane_id()}};
    for (const multi_index<2>& origin : {multi_index<2>{{0, 0}}, multi_index<2>{{16, 64}}}) {
      for (index_t z = 0; z < epilogue_case::batch; ++z) {
        const auto place = [&](index_t d) {
          const multi_index<2> own = box::calculate_index(lane), step = box::y_to_x(detail::y_of_register<box>(d));
          return multi_index<2>{{origin[0] + own[0] + step[0], origin[1] + own[1] + step[1]}};
        };
        static_distributed_tensor<float, box> sums;
        for (index_t d = 0; d < box::num_elements; ++d) sums.thread_buffer[d] = float(place(d)[0] - place(d)[1]);
        finish_sums<Options, half_t, Vector>(sums, c.args, origin, z, lane);
        for (index_t d = 0; d < box::num_elements; ++d) {
          const multi_index<2> at = place(d);
          if (at[0] >= epilogue_case::m || at[1] >= epilogue_case::n) continue;
          EXPECT_EQ(sums.thread_buffer[d], c.expected(z, at[0], at[1], wanted)) << at[0] << ", " << at[1];
          ++compared;
        }
      }
    }
  });
  EXPECT_EQ(compared, 2 * (16 * 64 + 5 * 8));
}

TEST(FinishSums, EachPart) {
  expect_finished<epilogue_options{.row_scale = true}, 2>();
  expect_finished<epilogue_options{.column_scale = true}, 2>();
  expect_finished<epilogue_options{.bias = true, .activation = activation::relu}, 2>();
  expect_finished<epilogue_options{.residual = true}, 1>();
}

TEST(FinishSums, WhatTheArgumentsHold) {
  constexpr epilogue_options from_args{.from_args = true};
  expect_finished<from_args, 2>({});
  expect_finished<from_args, 2>({.column_scale = true, .residual = true});
  expect_finished<from_args, 1>(
      {.row_scale = true, .column_scale = true, .bias = true, .activation = activation::relu, .residual = true});
}

}  // namespace
}  // namespace tilewright
