// SPDX-License-Identifier: MIT
// What an epilogue reads for a tile in the registers of one wave, as wgmma leaves it.
#include <tilewright/kernels/gemm/epilogue/detail/epilogue_tile.hpp>

#include <tilewright/block/mma/fragments.hpp>
#include <tilewright/core/arch/arch.hpp>
#include <tilewright/kernels/gemm/epilogue/epilogue.hpp>
#include <tilewright/machine/emulator/launch.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace tilewright {
namespace {

using box = tile_distribution<detail::wave_tile_encoding(4, arch::describe(arch::matrix_op::wgmma_k16).c)>;  // 16 x 64

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
  }

  /// What becomes of sum(i, j) = i - j.
  template <class F>
  float expected(index_t z, index_t i, index_t j) const {
    const float x = float(i - j);
    if (std::is_same_v<F, epilogue::row_scale>) return x * row_scale[std::size_t(i)];
    if (std::is_same_v<F, epilogue::column_scale>) return x * column_scale[std::size_t(j)];
    if (std::is_same_v<F, epilogue::bias>) return x + float(bias[std::size_t(j)]);
    return x + float(residual[std::size_t((z * m + i) * ld + j)]);
  }
};

template <class F, index_t Vector>
void expect_finished() {
  epilogue_case c;
  index_t compared = 0;
  emulator::launch({.target = &arch::sm90::value, .grid = {1, 1, 1}, .block_size = 32, .workers = 1}, [&] {
    const multi_index<1> lane{{exec::lane_id()}};
    for (const multi_index<2>& origin : {multi_index<2>{{0, 0}}, multi_index<2>{{16, 64}}}) {
      for (index_t z = 0; z < epilogue_case::batch; ++z) {
        const auto place = [&](index_t d) {
          const multi_index<2> own = box::calculate_index(lane), step = detail::position_in_tile<box>({}, d);
          return multi_index<2>{{origin[0] + own[0] + step[0], origin[1] + own[1] + step[1]}};
        };
        static_distributed_tensor<float, box> sums;
        for (index_t d = 0; d < box::num_elements; ++d) sums.thread_buffer[d] = float(place(d)[0] - place(d)[1]);
        F{}(sums, detail::output_tile<box, half_t, Vector>{{c.args, origin, z, lane}}, c.args);
        for (index_t d = 0; d < box::num_elements; ++d) {
          const multi_index<2> at = place(d);
          if (at[0] >= epilogue_case::m || at[1] >= epilogue_case::n) continue;
          EXPECT_EQ(sums.thread_buffer[d], c.expected<F>(z, at[0], at[1])) << at[0] << ", " << at[1];
          ++compared;
        }
      }
    }
  });
  EXPECT_EQ(compared, 2 * (16 * 64 + 5 * 8));
}

TEST(EpilogueTile, AlongRows) { expect_finished<epilogue::row_scale, 2>(); }
TEST(EpilogueTile, AlongColumns) {
  expect_finished<epilogue::column_scale, 2>();
  expect_finished<epilogue::bias, 1>();
}
TEST(EpilogueTile, Matrices) {
  expect_finished<epilogue::residual, 2>();
  expect_finished<epilogue::residual, 1>();
}

}  // namespace
}  // namespace tilewright
