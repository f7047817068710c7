// SPDX-License-Identifier: MIT
// Rearranges accumulators through LDS, so that stores to C are coalesced in vectors of 16 bytes.
#pragma once

#include <tilewright/kernels/gemm/gemm_policy.hpp>

namespace tilewright::detail {

/// rows x cols elements over the threads of a block, each moving `vector` neighbours of a row at once, for reading
/// 4-byte accumulators from LDS: a row of banks is 8 lanes of 16 bytes, so lanes that are served together lie on 128
/// bytes in neighbouring rows where a lane's vector is longer than that. A lane takes several vectors of a row whose
/// number of vectors does not divide the lanes of a wave: 5 of 40.
TILEWRIGHT_HD constexpr distribution_encoding result_rows_encoding(index_t rows, index_t cols, index_t waves,
                                                                   index_t wave_size, index_t vector) {
  const index_t col_lanes = gcd(cols / vector, wave_size), row_lanes = wave_size / col_lanes;
  const index_t near_cols = min(col_lanes, max(32 / vector, 1)), near_rows = min(row_lanes, 8 / min(near_cols, 8));
  distribution_encoding e;
  e.h.push_back({});
  e.h.push_back({});
  e.p.push_back({});
  e.p.push_back({});
  for (index_t f : {rows / (waves * row_lanes), waves, row_lanes / near_rows, near_rows}) e.h[0].push_back(f);
  for (index_t f : {cols / vector / col_lanes, col_lanes / near_cols, near_cols, vector}) e.h[1].push_back(f);
  e.p[0].push_back({1, 1});
  for (const rh_id id : {rh_id{1, 2}, rh_id{2, 1}, rh_id{1, 3}, rh_id{2, 2}}) e.p[1].push_back(id);
  for (const rh_id id : {rh_id{1, 0}, rh_id{2, 0}, rh_id{2, 3}}) e.y.push_back(id);
  return e;
}

/// Elements that a thread moves at once of a tile of the result: the most, up to `most`, a power of two, with which
/// each thread moves as many; 0: there are none.
TILEWRIGHT_HD constexpr index_t result_vector(index_t rows, index_t cols, index_t waves, index_t wave_size,
                                              index_t most) {
  for (index_t v = most; v > 0; v /= 2) {
    if (cols % v != 0) continue;
    if (rows % (waves * (wave_size / gcd(cols / v, wave_size))) == 0) return v;
  }
  return 0;
}

/// The distribution of a tile of `parts` times as many rows, whose columns are cut into as many parts: those of the
/// second part lie below those of the first. Threads hold the same elements in the same order. The slowest factor of
/// the columns is a multiple of `parts`, and no lane or wave owns it. One part: unchanged.
TILEWRIGHT_HD constexpr distribution_encoding below_each_other(const distribution_encoding& e, index_t parts) {
  if (parts == 1) return e;
  distribution_encoding result{e.r, {}, {}, {}};
  result.h = e.h;
  result.h[0] = {};
  result.h[0].push_back(parts);
  for (const index_t f : e.h[0]) result.h[0].push_back(f);
  result.h[1][0] /= parts;
  const auto moved = [](rh_id id) { return id.major == 1 ? rh_id{1, static_cast<signed char>(id.minor + 1)} : id; };
  for (const auto& ids : e.p) {
    result.p.push_back({});
    for (const rh_id id : ids) result.p[result.p.size() - 1].push_back(moved(id));
  }
  for (const rh_id id : e.y) {
    if (id == rh_id{2, 0}) result.y.push_back({1, 0});
    result.y.push_back(moved(id));
  }
  return result;
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
  /// LDS has rows of a power of two: of 160 columns, five parts of 32 lie below each other.
  static constexpr index_t parts = chunk.n / (chunk.n & -chunk.n);
  /// Elements of C that a thread writes at once.
  static constexpr index_t vector = result_vector(chunk.m, cols, chunk.num_waves(), Policy::arch::value.wave_size,
                                                  16 / index_t(sizeof(typename Policy::result_type)));
  static_assert(vector > 0 && (parts == 1 || Policy::products == 1),
                "gemm_policy: the threads cannot share the rows of C; use fewer waves or a larger n of the block tile");

  /// A chunk as it is written to C, and in LDS: as it is read there, and as matrix instructions leave it.
  static constexpr distribution_encoding rows =
      number<result_rows_encoding(chunk.m, cols, chunk.num_waves(), Policy::arch::value.wave_size, vector)>::value;
  static constexpr distribution_encoding lds_rows = number<below_each_other(rows, parts)>::value;
  static constexpr distribution_encoding accumulators =
      number<below_each_other(c_distribution<chunk>::encoding, parts)>::value;

  static constexpr lds_layout_choice layout = number<choose_lds_layout<typename Policy::arch>(
      lds_tile{chunk.m * parts, chunk.n / parts, 4}, lds_use{accumulators, lds_access_kind::write},
      lds_use{lds_rows, lds_access_kind::read})>::value;
};

}  // namespace tilewright::detail
