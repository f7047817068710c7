// SPDX-License-Identifier: MIT
// The distribution in which a block copies an operand's tile from global memory to LDS.
#pragma once

#include <tilewright/core/base/math.hpp>
#include <tilewright/core/distribution/distribution_encoding.hpp>

namespace tilewright {

/// Which dimension of an operand (rows x k, rows being m or n) is contiguous in memory.
enum class operand_major : signed char { k, mn };

/// A tile of rows x k over the threads of a block. Each thread moves vectors of up to `vector` elements along the
/// contiguous dimension. When that is the row, a thread takes neighbouring k as well, so that it writes more than one
/// element along k to LDS, and neighbouring lanes complete the chunk of `chunk` elements along k,
/// so that together they spread over all banks.
TILEWRIGHT_HD constexpr distribution_encoding operand_copy_encoding(operand_major major, index_t rows, index_t k,
                                                                    index_t waves, index_t wave_size, index_t vector,
                                                                    index_t chunk) {
  distribution_encoding e;
  e.h.push_back({});
  e.h.push_back({});
  e.p.push_back({});
  e.p.push_back({});
  if (major == operand_major::k) {
    const index_t k_lanes = k / vector, row_lanes = wave_size / k_lanes;
    const index_t repeat = rows / (waves * row_lanes);
    for (index_t f : {repeat, waves, row_lanes}) e.h[0].push_back(f);
    for (index_t f : {k_lanes, vector}) e.h[1].push_back(f);
    e.p[0].push_back({1, 1});
    e.p[1].push_back({1, 2});
    e.p[1].push_back({2, 0});
    e.y.push_back({1, 0});
    e.y.push_back({2, 1});
  } else {
    const index_t k_each = rows * k / (waves * wave_size * vector);
    const index_t k_inner = max(1, chunk / k_each);
    const index_t row_groups = rows / vector, row_lanes = min(row_groups, wave_size / k_inner);
    const index_t k_outer = wave_size / (k_inner * row_lanes);
    const index_t row_waves = row_groups / row_lanes, k_waves = waves / row_waves;
    for (index_t f : {row_waves, row_lanes, vector}) e.h[0].push_back(f);
    for (index_t f : {k_waves, k_outer, k_inner, k_each}) e.h[1].push_back(f);
    e.p[0].push_back({1, 0});
    e.p[0].push_back({2, 0});
    e.p[1].push_back({2, 1});
    e.p[1].push_back({1, 1});
    e.p[1].push_back({2, 2});
    e.y.push_back({2, 3});
    e.y.push_back({1, 2});
  }
  return e;
}

namespace detail {

/// Whether the threads can share the copy so: each moves at least one whole vector, and all move as many.
TILEWRIGHT_HD constexpr bool operand_copy_fits(operand_major major, index_t rows, index_t k, index_t waves,
                                               index_t wave_size, index_t vector, index_t chunk) {
  const index_t elements_at_once = waves * wave_size * vector;
  const index_t contiguous = major == operand_major::k ? k : rows;
  if (rows * k < elements_at_once || rows * k % elements_at_once != 0 || contiguous % vector != 0) return false;
  if (major == operand_major::k && k / vector > wave_size) return false;
  const distribution_encoding e = operand_copy_encoding(major, rows, k, waves, wave_size, vector, chunk);
  return e.x_length(0) == rows && e.x_length(1) == k && e.p_length(0) == waves && e.p_length(1) == wave_size;
}

/// The distribution of the transposed tile: both dimensions exchanged.
TILEWRIGHT_HD constexpr distribution_encoding with_dimensions_exchanged(distribution_encoding e) {
  const auto first = e.h[0];
  e.h[0] = e.h[1];
  e.h[1] = first;
  const auto exchange = [](rh_id& id) {
    if (id.major != 0) id.major = static_cast<decltype(id.major)>(3 - id.major);
  };
  for (auto& ids : e.p) {
    for (rh_id& id : ids) exchange(id);
  }
  for (rh_id& id : e.y) exchange(id);
  return e;
}

}  // namespace detail

}  // namespace tilewright
