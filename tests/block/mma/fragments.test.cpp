// SPDX-License-Identifier: MIT
// Operands read from LDS arrive in the registers of their lane maps, with ldmatrix as without, from any layout.
#include "../../core/arch/is_balanced.hpp"
#include "../../tile/on_cpu.hpp"

#include <tilewright/block/mma/block_gemm.hpp>
#include <tilewright/core/descriptor/transform_descriptor.hpp>
#include <tilewright/core/lds/layout_presets.hpp>

#include <gtest/gtest.h>

namespace tilewright {
namespace {

using enum arch::matrix_op;
using namespace testing_tiles;

template <block_tile Tile, bool OperandA, class Layout>
void expect_fragments(const arch::target& target, const Layout& layout) {
  SCOPED_TRACE(std::string(target.name) + ", operation " + std::to_string(int(Tile.op)) + (OperandA ? ", A" : ", B"));
  using element = unsigned short;
  static constexpr index_t rows = OperandA ? Tile.m : Tile.n;
  using addressed = tile_distribution<OperandA ? detail::a_encoding(Tile, true) : detail::b_encoding(Tile, true)>;
  using held = tile_distribution<OperandA ? detail::a_encoding(Tile) : detail::b_encoding(Tile)>;
  constexpr index_t buffer_bytes = 8192;
  const auto where = positions<held>();
  std::vector<element> loaded(where.size());
  run<held>(
      target,
      [&] {
        const exec::lds_pointer lds = exec::lds_allocate<2 * buffer_bytes>();
        if (exec::thread_id() == 0) {
          for (index_t r = 0; r < rows; ++r) {
            for (index_t k = 0; k < Tile.k; ++k) {
              exec::lds_store(lds, buffer_bytes + 2 * layout.calculate_offset({r, k}), element(r * Tile.k + k));
            }
          }
        }
        exec::block_sync();
        const auto view = make_tensor_view<address_space_enum::lds, element>(lds, layout);
        const auto window = make_tile_window(view, make_tuple(number<rows>{}, number<Tile.k>{}), {}, addressed{});
        const auto tile = detail::load_fragments<Tile.op, held>(window, buffer_bytes);
        for (index_t d = 0; d < held::num_elements; ++d)
          loaded[std::size_t(exec::thread_id() * held::num_elements + d)] = tile.thread_buffer[d];
      },
      2 * buffer_bytes);
  for (std::size_t i = 0; i < where.size(); ++i) ASSERT_EQ(loaded[i], where[i][0] * Tile.k + where[i][1]);
}

template <arch::matrix_op Op>
void expect_fragments_on(const arch::target& target) {
  constexpr arch::matrix_instruction i = arch::describe(Op);
  constexpr block_tile tile{2 * i.m, 2 * i.n, 32, 2, 1, Op};
  constexpr auto plain =
      make_naive_tensor_descriptor(make_tuple(number<tile.m>{}, number<32>{}), make_tuple(number<40>{}, number<1>{}));
  constexpr auto swizzled = make_lds_index_swapping_descriptor<32, 8, 2, tile.m, half_t>();
  static_assert(tile.m == tile.n);
  expect_fragments<tile, true>(target, plain);
  expect_fragments<tile, false>(target, swizzled);
}

TEST(LoadFragments, OfEveryInstruction) {
  expect_fragments_on<mfma_16x16x16>(arch::gfx90a::value);
  expect_fragments_on<mfma_16x16x16_x2>(arch::gfx942::value);
  expect_fragments_on<mfma_32x32x8>(arch::gfx942::value);
  expect_fragments_on<mfma_32x32x8_x2>(arch::gfx950::value);
  expect_fragments_on<mfma_16x16x32>(arch::gfx950::value);
  expect_fragments_on<mfma_32x32x16>(arch::gfx950::value);
  expect_fragments_on<wmma_16x16x16_gfx11>(arch::gfx1100::value);
  expect_fragments_on<wmma_16x16x16_gfx12>(arch::gfx1201::value);
  expect_fragments_on<mma_m16n8k16_x2>(arch::sm80::value);
  expect_fragments_on<mma_m16n8k16_x2>(arch::sm90::value);
}

// Lane l addresses row l % 8 of matrix l / 8, and the matrices come in the order of the operand's registers.
TEST(LdmatrixAddresses, FollowTheOperandsRegisters) {
  const arch::matrix_instruction i = arch::describe(mma_m16n8k16_x2);
  for (const arch::lane_map& operand : {i.a, i.b}) {
    const arch::lane_map addresses = detail::ldmatrix_address_map(operand);
    EXPECT_TRUE(is_balanced(addresses));
    for (index_t lane = 0; lane < 32; ++lane) {
      // The row that this lane addresses is the one that lanes 4 (lane % 8) .. + 3 receive
      // in registers 2 (lane / 8), + 1.
      for (index_t element = 0; element < 8; ++element) {
        const auto received = operand.at(4 * (lane % 8) + element / 2, 2 * (lane / 8) + element % 2);
        EXPECT_EQ(addresses.at(lane, element), received) << lane << ", " << element;
      }
    }
  }
  EXPECT_TRUE(detail::uses_ldmatrix(mma_m16n8k16_x2));
  EXPECT_FALSE(detail::uses_ldmatrix(mfma_16x16x16));
}

}  // namespace
}  // namespace tilewright
