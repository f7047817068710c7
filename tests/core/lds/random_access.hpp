// SPDX-License-Identifier: MIT
// Random tile accesses as values, and what they cost by a simulation of the banks
// that shares nothing with the library's.
#pragma once

#include "../distribution/naive_distribution.hpp"

#include <tilewright/core/arch/arch.hpp>
#include <tilewright/core/descriptor/make_graph.hpp>
#include <tilewright/core/lds/lds_access.hpp>
#include <tilewright/core/lds/swizzled_layout.hpp>

#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace tilewright::random_access {

using random_engine = std::mt19937;

inline index_t below(random_engine& random, index_t n) { return index_t(random() % unsigned(n)); }

/// A layout as a graph, and as a formula in bytes.
struct layout {
  tensor_graph graph;
  std::function<index_t(index_t, index_t)> byte_of;  // of (row, col)
  std::string name;
};

inline swizzled_layout random_swizzle(random_engine& random, const lds_tile& tile) {
  swizzled_layout s{tile, min(max(tile.element_bytes, 4 << below(random, 3)), tile.row_bytes()), {}, {}};
  // Of the bits of a chunk's number up to seven number places: the lowest ones, or any, in up to three groups.
  const index_t bits = detail::log2_floor(s.num_chunks()), lowest = below(random, min(bits, 7) + 1);
  const bool any = below(random, 2) == 0;
  const index_t groups = below(random, 3) == 0 ? 2 + below(random, 2) : 1;
  for (index_t g = 0; g < groups; ++g) s.places.push_back(0);
  for (index_t i = 0; i < lowest; ++i)
    s.places[below(random, groups)] |= (1u << (any ? below(random, bits) : i)) & s.rest();
  index_t below_group = s.count_of(s.places[0]);
  for (index_t g = 1; g <= groups; ++g) {
    const index_t count = s.count_of(g < groups ? s.places[g] : s.rest());
    for (index_t i = 0; i < count; ++i) s.flips.push_back(below(random, 1 << below_group));
    below_group += count;
  }
  return s;
}

/// Plain, padded (by anything), column after column, swizzled: layouts of a tile whose lengths are powers of two.
inline layout random_layout(random_engine& random, const lds_tile& tile) {
  const index_t bytes = tile.element_bytes;
  if (below(random, 2) == 0) {
    const swizzled_layout s = random_swizzle(random, tile);
    return {detail::make_lds_graph(s), [=](index_t row, index_t col) { return s.address(row, col * bytes); },
            "swizzled"};
  }
  const bool columns = below(random, 4) == 0;
  const index_t pads[] = {0, 0, 1, 2, 4, 8, 3, 24};
  const index_t pad = pads[below(random, 8)];
  const index_t row_stride = columns ? 1 : tile.cols + pad, col_stride = columns ? tile.rows + pad : 1;
  return {strided_graph(tile.rows, tile.cols, row_stride, col_stride),
          [=](index_t row, index_t col) { return (row * row_stride + col * col_stride) * bytes; },
          (columns ? "columns with pad " : "rows with pad ") + std::to_string(pad)};
}

/// Every bit of the row and of the column goes to the lane, the wave or the registers; lanes may be replicated.
inline distribution_encoding random_distribution(random_engine& random, const lds_tile& tile, index_t wave_size) {
  distribution_encoding e;
  e.h = {};
  e.h.push_back({});
  e.h.push_back({});
  for (index_t d = 0; d < 2; ++d) {
    index_t bits = detail::log2_floor(d == 0 ? tile.rows : tile.cols);
    while (bits > 0) {
      const index_t room = distribution_encoding::max_factors - e.h[d].size();
      const index_t take = room == 1 ? bits : min(bits, 1 + below(random, 3));
      e.h[d].push_back(1 << take);
      bits -= take;
    }
  }
  std::vector<rh_id> ids;
  for (signed char d = 0; d < 2; ++d) {
    for (signed char i = 0; i < e.h[d].size(); ++i) ids.push_back({static_cast<signed char>(d + 1), i});
  }
  std::shuffle(ids.begin(), ids.end(), random);
  e.p.push_back({});
  e.p.push_back({});
  index_t lanes = 1, waves = 1;
  for (const rh_id id : ids) {
    const index_t length = e.length(id);
    // The last factor of a row is what vectors are made of: often it stays with the thread.
    const bool for_vectors = id.major == 2 && id.minor == e.h[1].size() - 1 && below(random, 4) != 0;
    if (!for_vectors && lanes * length <= wave_size && e.p[1].size() < distribution_encoding::max_factors - 1) {
      e.p[1].push_back(id);
      lanes *= length;
    } else if (!for_vectors && waves * length <= 4 && e.p[0].size() < 3) {
      e.p[0].push_back(id);
      waves *= length;
    } else {
      e.y.push_back(id);
    }
  }
  if (lanes < wave_size) {
    e.r.push_back(wave_size / lanes);
    e.p[1].push_back({0, 0});
  }
  if (e.y.empty()) {
    e.h[0].push_back(1);
    e.y.push_back({1, static_cast<signed char>(e.h[0].size() - 1)});
  }
  return e;
}

struct simulated_cost {
  index_t executions = 0, cycles = 0, conflicts = 0, worst_degree = 0;
};

/// Instruction by instruction, lane by lane, byte by byte.
inline simulated_cost simulate(const arch::lds_service& service, const layout& where, const distribution_encoding& e,
                               index_t element_bytes, index_t vector, index_t vector_dim_y) {
  simulated_cost result;
  const naive::indices partitions = naive::partition_lengths(e);
  for (index_t wave = 0; wave < partitions[0]; ++wave) {
    naive::each_index(naive::y_lengths(e), [&](const naive::indices& y) {
      if (y[std::size_t(vector_dim_y)] % vector != 0) return;
      ++result.executions;
      const auto byte_of_lane = [&](index_t lane) {
        const naive::indices x = naive::position(e, {wave, lane}, y);
        return where.byte_of(x[0], x[1]);
      };
      // Pairs of phases are one where all pairs of lanes share: see lds_service.
      index_t phases_at_once = 1;
      for (const index_t distance : {1, 2}) {
        bool all_share = service.merges_where_lanes_share;
        for (index_t lane = 0; lane < partitions[1]; ++lane)
          all_share = all_share && byte_of_lane(lane) == byte_of_lane(lane ^ distance);
        if (all_share) phases_at_once = 2;
      }
      for (index_t phase = 0; phase < service.phases.num_phases(); phase += phases_at_once) {
        std::map<index_t, std::set<index_t>> dwords_of_bank;
        for (index_t lane = 0; lane < partitions[1]; ++lane) {
          const auto is_in = [&](index_t p) { return (service.phases.lanes_of(p) >> lane & 1) != 0; };
          if (!is_in(phase) && !(phases_at_once == 2 && is_in(phase + 1))) continue;
          const index_t begin = byte_of_lane(lane);
          for (index_t byte = begin; byte < begin + vector * element_bytes; ++byte)
            dwords_of_bank[byte / 4 % service.banks].insert(byte / 4);
        }
        index_t degree = 0;
        for (const auto& [bank, dwords] : dwords_of_bank) degree = max(degree, index_t(dwords.size()));
        result.cycles += degree;
        result.conflicts += max(0, degree - 1);
        result.worst_degree = max(result.worst_degree, degree);
      }
    });
  }
  return result;
}

}  // namespace tilewright::random_access
