// SPDX-License-Identifier: MIT
// Curves and distributions evaluated with indices known only at run time: one function for the compiler,
// the CPU and GPUs.
#pragma once

#include <tilewright/compat/ck_tile/distributed_span.hpp>
#include <tilewright/core/distribution/distribution_pattern.hpp>
#include <tilewright/core/distribution/matrix_curves.hpp>
#include <tilewright/core/distribution/space_filling_curve.hpp>

namespace walks {

using namespace tilewright;

inline constexpr index_t rows = 13, cols = 24, size = rows * cols, num_walks = 7;

/// Index at position i in walk number `walk`, 0 <= i < size; grid_rows and grid_cols are rows and cols,
/// but unknown to the compiler.
TILEWRIGHT_HD constexpr multi_index<2> position(index_t walk, index_t i, index_t grid_rows, index_t grid_cols) {
  using snake = space_filling_curve<2, sequence<rows, cols>, sequence<1, 0>, sequence<1, 1>, true>;
  using cube = space_filling_curve<3, sequence<3, 8, 26>, sequence<2, 0, 1>, sequence<1, 1, 2>, true>;
  using pattern = tile_distribution_encoding_pattern_2d<128, 64, 32, 8, tile_distribution_pattern::warp_raked, 2, 32>;
  constexpr auto distribution = pattern::make_2d_static_tile_distribution();
  const multi_index<2> p{{i / 32 % 4, i % 32}};
  switch (walk) {
    case 0: return hilbert_curve{grid_rows, grid_cols}.get_index(i);
    case 1: return row_group_curve{grid_rows, grid_cols, 4}.get_index(i);
    case 2: return row_group_curve{grid_rows, grid_cols, 5, /*snake=*/true}.get_index(i);
    case 3: return snake::get_index(i);
    case 4: {
      const multi_index<3> index = cube::get_index(i);
      const multi_index<3> step = cube::get_step_between(i, 0);
      return {{index[0] * 8 + index[1], index[2] - step[2]}};
    }
    case 5: return distribution.calculate_index(p);
    default: {
      array<detail::distributed_index, 2> indices{};
      indices[0].push_back(i % 4);
      indices[1].push_back(i % 8);
      const multi_index<2> x = get_x_indices_from_distributed_indices(distribution, indices, p);
      return {{x[0] * 2 + calculate_rs_index_from_ps_index(distribution, p)[0], x[1]}};
    }
  }
}

}  // namespace walks
