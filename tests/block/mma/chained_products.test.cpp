// SPDX-License-Identifier: MIT
// Which products can follow each other with the intermediate result in its lanes, and that the second one is right.
#include "../../tile/on_cpu.hpp"

#include <tilewright/block/mma/block_gemm.hpp>
#include <tilewright/block/mma/chained_products.hpp>
#include <tilewright/tile/copy/shuffle_tile.hpp>

#include <gtest/gtest.h>

namespace tilewright {
namespace {

using enum arch::matrix_op;
using namespace testing_tiles;

/// Products of 32 rows of one wave and of 64 rows of two, with 128 columns between them.
template <arch::matrix_op First, arch::matrix_op Second = First>
constexpr bool chains(index_t waves_m = 1) {
  const index_t m = 32 * waves_m;
  return can_chain({m, 128, 128, waves_m, 1, First}, {m, 64, 128, waves_m, 1, Second});
}
template <arch::matrix_op First, arch::matrix_op Second = First>
constexpr index_t num_exchanges =
    chained<block_tile{32, 128, 128, 1, 1, First}, block_tile{32, 64, 128, 1, 1, Second}>.num_k_exchanges();

// gfx90a, gfx942: without an exchange of bits the single instructions chain, pairs of them with some.
static_assert(num_exchanges<mfma_32x32x8> == 0 && num_exchanges<mfma_16x16x16> == 0);
static_assert(num_exchanges<mfma_32x32x8_x2> == 1 && num_exchanges<mfma_16x16x16_x2> == 2);
static_assert(num_exchanges<mfma_32x32x8, mfma_32x32x8_x2> == 1 && num_exchanges<mfma_16x16x16_x2, mfma_16x16x16> == 0);
static_assert(num_exchanges<mfma_32x32x2_b32_x4> == 0 && num_exchanges<mfma_16x16x4_b32_x4> == 0);
static_assert(num_exchanges<mfma_32x32x16_b8_x2> == 2 && num_exchanges<mfma_16x16x32_b8_x2> == 2);
// gfx950.
static_assert(num_exchanges<mfma_32x32x16> == 1 && num_exchanges<mfma_16x16x32> == 2);
static_assert(
    chained<block_tile{32, 128, 128, 1, 1, mfma_32x32x16}, block_tile{32, 64, 128, 1, 1, mfma_32x32x16}>.k_exchange(
        0) == array<index_t, 2>{{2, 3}});
static_assert(num_exchanges<mfma_32x32x32_b8> == 2 && num_exchanges<mfma_16x16x64_b8> == 2);
static_assert(num_exchanges<mfma_32x32x64_b8> == 3 && num_exchanges<mfma_16x16x128_b8> == 4);
// RDNA4, NVIDIA. Lanes of RDNA3 hold whole rows of A, but every other column of C.
static_assert(num_exchanges<wmma_16x16x16_gfx12> == 0 && num_exchanges<mma_m16n8k16_x2> == 0);
static_assert(!chains<wmma_16x16x16_gfx11>());
// Rows are dealt out alike over several waves; rows of instructions of other heights, or waves along n, are not.
static_assert(chains<mfma_32x32x16>(4) && chains<mma_m16n8k16_x2>(8));
static_assert(!chains<mfma_32x32x16, mfma_16x16x32>());
static_assert(!can_chain({32, 128, 128, 1, 2, mfma_32x32x16}, {32, 64, 128, 1, 2, mfma_32x32x16}));
static_assert(!can_chain({32, 128, 128, 1, 1, mfma_32x32x16}, {32, 64, 64, 1, 1, mfma_32x32x16}));

/// D = (A B) E for small integers: exact in half_t.
template <block_tile First, block_tile Second>
void expect_chain(const arch::target& target) {
  SCOPED_TRACE(target.name);
  constexpr block_tile second = chained<First, Second>;
  static_assert(can_shuffle_in_registers<a_distribution<second>, c_distribution<First>>);
  const auto value = [](index_t i, index_t j, index_t seed) { return float((i * 3 + j * 5 + i * j + seed) % 3 - 1); };
  const auto fill = [&]<class Distribution>(Distribution, index_t seed) {
    static_distributed_tensor<half_t, Distribution> tile;
    static const auto where = positions<Distribution>();
    for (index_t d = 0; d < tile.size(); ++d) {
      const multi_index<2> x = where[std::size_t(exec::thread_id() * tile.size() + d)];
      tile.thread_buffer[d] = half_t(value(x[0], x[1], seed));
    }
    return tile;
  };
  const auto where = positions<c_distribution<second>>();
  std::vector<float> result(where.size());
  run<c_distribution<second>>(target, [&] {
    static_distributed_tensor<float, c_distribution<First>> p{};
    block_gemm<First>(p, fill(a_distribution<First>{}, 0), fill(b_distribution<First>{}, 1));
    static_distributed_tensor<float, c_distribution<second>> d{};
    block_gemm<second>(d, relayout<half_t>(p, a_distribution<second>{}), fill(b_distribution<second>{}, 2));
    for (index_t i = 0; i < d.size(); ++i) result[std::size_t(exec::thread_id() * d.size() + i)] = d.thread_buffer[i];
  });
  for (std::size_t i = 0; i < result.size(); ++i) {
    float expected = 0;
    for (index_t k = 0; k < Second.k; ++k) {
      float p = 0;
      for (index_t j = 0; j < First.k; ++j) p += value(where[i][0], j, 0) * value(k, j, 1);
      expected += p * value(where[i][1], k, 2);
    }
    ASSERT_EQ(result[i], expected) << where[i][0] << ", " << where[i][1];
  }
}

TEST(ChainedProducts, ComputeTheProductOfThree) {
  expect_chain<block_tile{32, 64, 16, 1, 1, mfma_32x32x16}, block_tile{32, 32, 64, 1, 1, mfma_32x32x16}>(
      arch::gfx950::value);
  expect_chain<block_tile{32, 64, 32, 2, 1, mfma_16x16x16_x2}, block_tile{32, 16, 64, 2, 1, mfma_16x16x16_x2}>(
      arch::gfx942::value);
  expect_chain<block_tile{32, 32, 16, 2, 1, mma_m16n8k16_x2}, block_tile{32, 16, 32, 2, 1, mma_m16n8k16_x2}>(
      arch::sm80::value);
}

}  // namespace
}  // namespace tilewright
