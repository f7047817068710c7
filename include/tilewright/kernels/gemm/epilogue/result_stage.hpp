// SPDX-License-Identifier: MIT
// Rearranges accumulators through LDS, so that stores to C are coalesced in vectors of 16 bytes.
#pragma once

#include <tilewright/kernels/gemm/gemm_policy.hpp>

namespace tilewright::detail {

/// rows x cols elements over the threads of a block, each moving `vector` neighbours of a row at once, for reading
/// 4-byte accumulators from LDS: a row of banks is 8 lanes of 16 bytes, so lanes that are served together lie on 128
/// bytes in neighbouring rows where a lane's vector is longer than that.
TILEWRIGHT_HD constexpr distribution_encoding result_rows_encoding(index_t rows, index_t cols, index_t waves,
                                                                   index_t wave_size, index_t vector) {
  const index_t col_lanes = cols / vector, row_lanes = wave_size / col_lanes;
  const index_t near_cols = min(col_lanes, max(32 / vector, 1)), near_rows = min(row_lanes, 8 / min(near_cols, 8));
  distribution_encoding e;
  e.h.push_back({});
  e.h.push_back({});
  e.p.push_back({});
  e.p.push_back({});
  for (index_t f : {rows / (waves * row_lanes), waves, row_lanes / near_rows, near_rows}) e.h[0].push_back(f);
  for (index_t f : {col_lanes / near_cols, near_cols, vector}) e.h[1].push_back(f);
  e.p[0].push_back({1, 1});
  for (const rh_id id : {rh_id{1, 2}, rh_id{2, 0}, rh_id{1, 3}, rh_id{2, 1}}) e.p[1].push_back(id);
  e.y.push_back({1, 0});
  e.y.push_back({2, 2});
  return e;
}

/// The result is written in chunks of rows: one instruction tile of each wave along m.
template <class Policy>
struct result_stage {
  static constexpr block_tile tile = Policy::tile;
  static constexpr block_tile chunk{
      arch::describe(tile.op).m * tile.waves_m, tile.n, tile.k, tile.waves_m, tile.waves_n, tile.op};
  static constexpr index_t num_chunks = tile.m / chunk.m;
  static constexpr index_t bytes = chunk.m * chunk.n * 4;

  /// Columns of C: those of each product.
  static constexpr index_t cols = chunk.n / Policy::products;
  /// Elements of C that a thread writes at once.
  static constexpr index_t vector =
      min(16 / index_t(sizeof(typename Policy::result_type)), chunk.m* cols / chunk.block_size());

  /// A chunk as matrix instructions leave it, and as it is written to C.
  static constexpr distribution_encoding accumulators = c_distribution<chunk>::encoding;
  static constexpr distribution_encoding rows =
      number<result_rows_encoding(chunk.m, cols, chunk.num_waves(), Policy::arch::value.wave_size, vector)>::value;
  static_assert(operand_copy_fits(operand_major::k, chunk.m, cols, chunk.num_waves(), Policy::arch::value.wave_size,
                                  vector, vector),
                "gemm_policy: the threads cannot share the rows of C; use fewer waves or a larger n of the block tile");

  static constexpr lds_layout_choice layout = number<choose_lds_layout<typename Policy::arch>(
      lds_tile{chunk.m, chunk.n, 4}, lds_use{accumulators, lds_access_kind::write},
      lds_use{rows, lds_access_kind::read})>::value;
};

}  // namespace tilewright::detail
