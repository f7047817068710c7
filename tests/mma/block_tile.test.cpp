// SPDX-License-Identifier: MIT
// Block tiles: who owns what, and the product that a block's waves compute together.
#include "../tile/on_cpu.hpp"

#include <tilewright/mma/block_tile.hpp>
#include <tilewright/tile/elementwise.hpp>

#include <gtest/gtest.h>

namespace tilewright {
namespace {

using enum arch::matrix_op;
using namespace testing_tiles;

/// A target that has the instruction.
const arch::target& target_of(arch::matrix_op op) {
  for (const arch::target* target : arch::all_targets) {
    if (target->supports(op)) return *target;
  }
  ADD_FAILURE() << "no target has operation " << int(op);
  return arch::gfx942::value;
}

/// a(m, k) and b(n, k): small integers, so that sums are exact.
constexpr index_t a_at(index_t m, index_t k) { return (3 * m + 5 * k + m * k) % 7 - 3; }
constexpr index_t b_at(index_t n, index_t k) { return (2 * n + 3 * k + n * k / 2) % 5 - 2; }

template <block_tile Tile, class T>
void expect_product() {
  SCOPED_TRACE("operation " + std::to_string(int(Tile.op)));
  static_assert(Tile.is_sound());
  using a_distribution = tile_distribution<a_encoding(Tile)>;
  using b_distribution = tile_distribution<b_encoding(Tile)>;
  using c_distribution = tile_distribution<c_encoding(Tile)>;
  // Every element has an owner; waves that share a row of tiles share A, and those that share a column share B.
  EXPECT_EQ(naive::ownership_fault(a_distribution::encoding), "");
  EXPECT_EQ(naive::ownership_fault(b_distribution::encoding), "");
  EXPECT_EQ(naive::ownership_fault(c_distribution::encoding), "");
  EXPECT_EQ(a_distribution::num_threads(), Tile.block_size());
  EXPECT_EQ(b_distribution::num_threads(), Tile.block_size());
  EXPECT_EQ(c_distribution::num_threads(), Tile.block_size());
  EXPECT_EQ(a_distribution::x_lengths, (multi_index<2>{{Tile.m, Tile.k}}));
  EXPECT_EQ(b_distribution::x_lengths, (multi_index<2>{{Tile.n, Tile.k}}));
  EXPECT_EQ(c_distribution::x_lengths, (multi_index<2>{{Tile.m, Tile.n}}));

  const auto a_positions = positions<a_distribution>(), b_positions = positions<b_distribution>(),
             c_positions = positions<c_distribution>();
  std::vector<float> result(c_positions.size());
  run<c_distribution>(target_of(Tile.op), [&] {
    static_distributed_tensor<T, a_distribution> a;
    static_distributed_tensor<T, b_distribution> b;
    static_distributed_tensor<float, c_distribution> c;
    const auto of = [](const auto& list, index_t registers, index_t d) {
      return list[std::size_t(exec::thread_id() * registers + d)];
    };
    for (index_t d = 0; d < a.size(); ++d)
      a.thread_buffer[d] = T(float(a_at(of(a_positions, a.size(), d)[0], of(a_positions, a.size(), d)[1])));
    for (index_t d = 0; d < b.size(); ++d)
      b.thread_buffer[d] = T(float(b_at(of(b_positions, b.size(), d)[0], of(b_positions, b.size(), d)[1])));
    set_tile(c, 100.0f);
    block_gemm<Tile>(c, a, b);
    for (index_t d = 0; d < c.size(); ++d) result[std::size_t(exec::thread_id() * c.size() + d)] = c.thread_buffer[d];
  });
  for (std::size_t i = 0; i < result.size(); ++i) {
    index_t expected = 100;
    for (index_t k = 0; k < Tile.k; ++k) expected += a_at(c_positions[i][0], k) * b_at(c_positions[i][1], k);
    ASSERT_EQ(result[i], float(expected)) << c_positions[i][0] << ", " << c_positions[i][1];
  }
}

TEST(BlockTile, ProductOfEveryInstruction) {
  expect_product<block_tile{64, 32, 32, 2, 1, mfma_16x16x16}, half_t>();
  expect_product<block_tile{32, 64, 64, 1, 2, mfma_16x16x16_x2}, bfloat16_t>();
  expect_product<block_tile{64, 64, 16, 2, 2, mfma_32x32x8}, bfloat16_t>();
  expect_product<block_tile{64, 32, 32, 1, 1, mfma_32x32x8_x2}, half_t>();
  expect_product<block_tile{32, 48, 64, 2, 3, mfma_16x16x32}, half_t>();
  expect_product<block_tile{32, 64, 32, 1, 2, mfma_32x32x16}, bfloat16_t>();
  expect_product<block_tile{32, 64, 32, 2, 2, wmma_16x16x16_gfx11}, half_t>();
  expect_product<block_tile{64, 32, 16, 2, 2, wmma_16x16x16_gfx12}, bfloat16_t>();
  expect_product<block_tile{32, 64, 32, 2, 2, mma_m16n8k16_x2}, half_t>();
}

TEST(BlockTile, IsSoundWhenInstructionsTileItForEachWave) {
  static_assert(block_tile{128, 128, 32, 2, 2, mfma_32x32x8}.is_sound());
  static_assert(!block_tile{96, 128, 32, 2, 2, mfma_32x32x8}.is_sound());
  static_assert(!block_tile{128, 32, 32, 2, 2, mfma_32x32x8}.is_sound());
  static_assert(!block_tile{128, 128, 12, 2, 2, mfma_32x32x8}.is_sound());
  static_assert(block_tile{128, 128, 32, 2, 2, mfma_32x32x8}.block_size() == 256);
  static_assert(block_tile{128, 128, 32, 2, 4, mma_m16n8k16_x2}.block_size() == 256);
}

// Registers of C run along rows in memory: the last y of C is a run of columns,
// for every instruction that can be turned round.
TEST(BlockTile, RegistersOfCRunAlongColumns) {
  for (const arch::matrix_op op :
       {mfma_16x16x16, mfma_32x32x8, mfma_16x16x32, mfma_32x32x16, wmma_16x16x16_gfx12, mma_m16n8k16_x2}) {
    const arch::matrix_instruction i = arch::describe(op);
    const distribution_encoding c = c_encoding({2 * i.m, 2 * i.n, i.k, 1, 1, op});
    bool found = false;
    for (const rh_id id : c.y) found = found || (id.major == 2 && c.stride(id) == 1 && c.length(id) >= 2);
    EXPECT_TRUE(found) << int(op);
  }
}

}  // namespace
}  // namespace tilewright
