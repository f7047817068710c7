// SPDX-License-Identifier: MIT
// The kernels of the document on LDS index swapping: staged by swapped indices, read by a distribution, analysed.
#include "on_cpu.hpp"

#include <tilewright/core/descriptor/tensor_coordinate.hpp>
#include <tilewright/core/descriptor/transform_descriptor.hpp>
#include <tilewright/core/lds/layout_presets.hpp>
#include <tilewright/core/lds/lds_access.hpp>

#include <gtest/gtest.h>

#include <algorithm>

namespace tilewright {
namespace {

using namespace testing_tiles;

constexpr index_t block_m = 32, block_k = 32, k_pack = 8, layers = 2;
constexpr auto a_lds_desc = make_lds_index_swapping_descriptor<block_k, k_pack, layers, block_m, half_t>();
using tile_type = by_rows<64>;

// gemm_kernel_with_lds_swapping and DistributedLdsAccess: each thread stages its part of A element by element where the
// descriptor says; then a coordinate moves through LDS to what the distribution gives a thread.
TEST(DocumentedLds, StagedBySwappedIndicesAndReadByADistribution) {
  constexpr index_t num_threads = tile_type::num_threads(), elements_per_thread = block_m * block_k / num_threads,
                    pitch = 100;
  std::vector<half_t> a_global(std::size_t(block_m * pitch));
  for (std::size_t i = 0; i < a_global.size(); ++i) a_global[i] = half_t(float(i % 2039));
  const auto where = positions<tile_type>();
  std::vector<index_t> stored;
  run<tile_type>(
      arch::gfx942::value,
      [&] {
        const exec::lds_pointer a_lds = exec::lds_allocate<block_m * block_k * 2>();
        const index_t tid = exec::thread_id(), k_offset = 64;
        for (index_t i = 0; i < elements_per_thread; ++i) {
          const index_t linear_idx = tid * elements_per_thread + i;
          const index_t m_idx = linear_idx / block_k, k_idx = linear_idx % block_k;
          const half_t value = a_global[std::size_t(m_idx * pitch + k_offset + k_idx)];
          const index_t lds_offset = a_lds_desc.calculate_offset({m_idx, k_idx});
          exec::lds_store(a_lds, lds_offset * 2, value);
          stored.push_back(lds_offset);
        }
        exec::block_sync();
        auto coord = make_tensor_coordinate(a_lds_desc, {0, 0});
        multi_index<2> at{};
        for (index_t d = 0; d < tile_type::num_elements; ++d) {
          const multi_index<2> x = where[std::size_t(tid * tile_type::num_elements + d)];
          move_tensor_coordinate(a_lds_desc, coord, {x[0] - at[0], x[1] - at[1]});
          at = x;
          const half_t found = exec::lds_load<half_t>(a_lds, coord.get_offset() * 2);
          if (float(found) != float(a_global[std::size_t(x[0] * pitch + k_offset + x[1])]))
            throw std::runtime_error("not what was staged");
        }
      },
      block_m * block_k * 2);
  std::sort(stored.begin(), stored.end());
  for (std::size_t i = 0; i < stored.size(); ++i) ASSERT_EQ(stored[i], index_t(i)) << "every place of LDS once";
}

// BankConflictAnalyzer: 32 threads, thread t at (t / 8, t % 8), one float each. The document counts them as if all met
// in one cycle; so does a target whose 32 lanes are one phase.
TEST(DocumentedLds, BankConflictAnalyzer) {
  constexpr auto rows_of = []<index_t Pitch>(number<Pitch> pitch) {
    return graph_of(make_naive_tensor_descriptor(make_tuple(number<4>{}, number<8>{}), make_tuple(pitch, number<1>{})));
  };
  constexpr auto swapped = transform_tensor_descriptor(
      make_naive_tensor_descriptor(make_tuple(number<4>{}, number<32>{}), make_tuple(number<32>{}, number<1>{})),
      make_tuple(make_xor_transform(make_tuple(number<4>{}, number<32>{}))), make_tuple(sequence<0, 1>{}),
      make_tuple(sequence<0, 1>{}));
  constexpr distribution_encoding lanes =
      tile_distribution_encoding<sequence<>, tuple<sequence<4>, sequence<8>>, tuple<sequence<1, 2>>,
                                 tuple<sequence<0, 0>>, sequence<>, sequence<>>::value;
  struct example {
    tensor_graph layout;
    index_t max_conflict;
  };
  // An exclusive or with the row's number moves single elements: 8 neighbours stay in the same 8 banks.
  const example examples[] = {
      {rows_of(number<8>{}), 1}, {rows_of(number<32>{}), 4}, {rows_of(number<40>{}), 1}, {swapped.graph, 4}};
  for (const auto& [layout, expected] : examples) {
    const lds_access_pattern pattern(layout, lanes, 4);
    index_t bank_access[32] = {};
    for (index_t tid = 0; tid < 32; ++tid) ++bank_access[pattern.offset({{tid / 8, tid % 8}}) % 32];
    EXPECT_EQ(*std::max_element(std::begin(bank_access), std::end(bank_access)), expected);
    EXPECT_EQ(analyze_lds_access(arch::sm90::value, layout, lanes, 4, lds_access_kind::read).worst_degree, expected);
  }
}

}  // namespace
}  // namespace tilewright
