// SPDX-License-Identifier: MIT
// The product of a block's tiles, from registers and from LDS, of every instruction.
#include "../../tile/on_cpu.hpp"

#include <tilewright/block/mma/block_gemm.hpp>
#include <tilewright/core/lds/layout_presets.hpp>
#include <tilewright/tile/registers/elementwise.hpp>

#include <gtest/gtest.h>

namespace tilewright {
namespace {

using enum arch::matrix_op;
using namespace testing_tiles;

/// A target that has the instruction for these elements.
const arch::target& target_of(arch::matrix_op op, arch::matrix_element element) {
  for (const arch::target* target : arch::all_targets) {
    if (target->supports(op, element)) return *target;
  }
  ADD_FAILURE() << "no target has operation " << int(op);
  return arch::gfx942::value;
}

/// a(m, k) and b(n, k): small integers, so that sums are exact.
constexpr index_t a_at(index_t m, index_t k) { return (3 * m + 5 * k + m * k) % 7 - 3; }
constexpr index_t b_at(index_t n, index_t k) { return (2 * n + 3 * k + n * k / 2) % 5 - 2; }

/// The tile of a distribution whose elements f(row, column) gives.
template <class T, class Distribution, class F>
auto make_tile(const std::vector<multi_index<2>>& positions, F f) {
  static_distributed_tensor<T, Distribution> tile;
  for (index_t d = 0; d < tile.size(); ++d) {
    const multi_index<2> x = positions[std::size_t(exec::thread_id() * tile.size() + d)];
    tile.thread_buffer[d] = T(float(f(x[0], x[1])));
  }
  return tile;
}

/// Runs multiply(c, a, b) on 100 + A B, with A and B in registers.
template <class T, class A, class B, class C, class Multiply>
void expect_product(const arch::target& target, Multiply multiply, index_t lds_bytes = 0) {
  const auto a_positions = positions<A>(), b_positions = positions<B>(), c_positions = positions<C>();
  std::vector<float> result(c_positions.size());
  run<C>(
      target,
      [&] {
        const auto a = make_tile<T, A>(a_positions, a_at);
        const auto b = make_tile<T, B>(b_positions, b_at);
        static_distributed_tensor<float, C> c;
        set_tile(c, 100.0f);
        multiply(c, a, b);
        for (index_t d = 0; d < c.size(); ++d)
          result[std::size_t(exec::thread_id() * c.size() + d)] = c.thread_buffer[d];
      },
      lds_bytes);
  for (std::size_t i = 0; i < result.size(); ++i) {
    index_t expected = 100;
    for (index_t k = 0; k < A::x_lengths[1]; ++k) expected += a_at(c_positions[i][0], k) * b_at(c_positions[i][1], k);
    ASSERT_EQ(result[i], float(expected)) << c_positions[i][0] << ", " << c_positions[i][1];
  }
}

template <block_tile Tile, class T>
void expect_product_of_registers() {
  SCOPED_TRACE("operation " + std::to_string(int(Tile.op)));
  static_assert(Tile.is_sound());
  using a = a_distribution<Tile>;
  using b = b_distribution<Tile>;
  using c = c_distribution<Tile>;
  // Every element has an owner; waves that share a row of tiles share A, and those that share a column share B.
  EXPECT_EQ(naive::ownership_fault(a::encoding), "");
  EXPECT_EQ(naive::ownership_fault(b::encoding), "");
  EXPECT_EQ(naive::ownership_fault(c::encoding), "");
  EXPECT_EQ(a::num_threads(), Tile.block_size());
  EXPECT_EQ(b::num_threads(), Tile.block_size());
  EXPECT_EQ(c::num_threads(), Tile.block_size());
  EXPECT_EQ(a::x_lengths, (multi_index<2>{{Tile.m, Tile.k}}));
  EXPECT_EQ(b::x_lengths, (multi_index<2>{{Tile.n, Tile.k}}));
  EXPECT_EQ(c::x_lengths, (multi_index<2>{{Tile.m, Tile.n}}));
  expect_product<T, a, b, c>(target_of(Tile.op, arch::matrix_element_v<T>),
                             [](auto& sums, const auto& x, const auto& y) { block_gemm<Tile>(sums, x, y); });
}

TEST(BlockGemm, ProductOfEveryInstruction) {
  expect_product_of_registers<block_tile{64, 32, 32, 2, 1, mfma_16x16x16}, half_t>();
  expect_product_of_registers<block_tile{32, 64, 64, 1, 2, mfma_16x16x16_x2}, bfloat16_t>();
  expect_product_of_registers<block_tile{64, 64, 16, 2, 2, mfma_32x32x8}, bfloat16_t>();
  expect_product_of_registers<block_tile{64, 32, 32, 1, 1, mfma_32x32x8_x2}, half_t>();
  expect_product_of_registers<block_tile{32, 48, 64, 2, 3, mfma_16x16x32}, half_t>();
  expect_product_of_registers<block_tile{32, 64, 32, 1, 2, mfma_32x32x16}, bfloat16_t>();
  expect_product_of_registers<block_tile{32, 64, 32, 2, 2, wmma_16x16x16_gfx11}, half_t>();
  expect_product_of_registers<block_tile{64, 32, 16, 2, 2, wmma_16x16x16_gfx12}, bfloat16_t>();
  expect_product_of_registers<block_tile{32, 64, 32, 2, 2, mma_m16n8k16_x2}, half_t>();
}

/// The product of operands in LDS, or of A in registers and B in LDS; k of both in another order. B is read in Groups
/// groups of columns.
template <block_tile Tile, bool AInLds, bool Columns = false, index_t Groups = 1>
void expect_product_from_lds(const arch::target& target) {
  SCOPED_TRACE(std::string(target.name) + ", operation " + std::to_string(int(Tile.op)));
  using T = half_t;
  using a_registers = a_distribution<Tile>;
  using b_registers = b_distribution<Tile>;
  constexpr index_t bytes = max(8192, Tile.n * (Tile.k + 8) * 2), offset = 128;
  expect_product<T, a_registers, b_registers, c_distribution<Tile>>(
      target,
      [](auto& c, const auto& a, const auto& b) {
        const exec::lds_pointer lds = exec::lds_allocate<2 * bytes + offset>();
        const auto window = [&]<class Distribution>(exec::lds_pointer at, Distribution) {
          constexpr number<Distribution::x_lengths[0]> rows{};
          constexpr number<Distribution::x_lengths[1]> k{};
          const auto lengths = make_tuple(rows, k);
          constexpr number<Columns ? 1 : k + 8> row_stride{};
          constexpr number<Columns ? rows + 8 : 1> k_stride{};
          const auto layout = make_naive_tensor_descriptor(lengths, make_tuple(row_stride, k_stride));
          return make_tile_window(make_tensor_view<address_space_enum::lds, T>(at, layout), lengths, {},
                                  Distribution{});
        };
        if (detail::is_first_replica<a_registers>()) store_tile_with_offset(window(lds, a_registers{}), a, offset);
        if (detail::is_first_replica<b_registers>())
          store_tile_with_offset(window(lds + bytes, b_registers{}), b, offset);
        exec::block_sync();
        const auto a_window = window(lds, a_lds_distribution<Tile, Columns>{});
        const auto b_window = window(lds + bytes, b_lds_distribution<Tile, Columns>{});
        using a_type = detail::conditional_t<AInLds, decltype(a_window), decltype(a)>;
        static_assert(detail::num_column_groups<Tile, std::decay_t<a_type>, std::decay_t<decltype(b_window)>>() ==
                      Groups);
        if constexpr (AInLds) {
          block_gemm(c, a_window, b_window, offset);
        } else {
          block_gemm<Tile>(c, a, b_window, offset);
        }
      },
      2 * bytes + offset);
}

TEST(BlockGemm, ReadsOperandsFromLds) {
  expect_product_from_lds<block_tile{64, 32, 32, 1, 1, mfma_32x32x8_x2}, true>(arch::gfx942::value);
  expect_product_from_lds<block_tile{32, 32, 64, 2, 1, mfma_16x16x32, 0x4332}, false>(arch::gfx950::value);
  expect_product_from_lds<block_tile{32, 32, 64, 1, 2, mfma_16x16x32}, true, true>(arch::gfx950::value);
  expect_product_from_lds<block_tile{32, 32, 32, 1, 2, wmma_16x16x16_gfx12}, true>(arch::gfx1201::value);
  expect_product_from_lds<block_tile{32, 32, 32, 2, 1, mma_m16n8k16_x2}, true>(arch::sm90::value);
  expect_product_from_lds<block_tile{32, 32, 32, 1, 1, mma_m16n8k16_x2}, false, true>(arch::sm80::value);
}

TEST(BlockGemm, ReadsManyColumnsInGroups) {
  expect_product_from_lds<block_tile{16, 256, 32, 1, 1, wmma_16x16x16_gfx11}, true, false, 4>(arch::gfx1100::value);
  expect_product_from_lds<block_tile{16, 256, 32, 1, 1, wmma_16x16x16_gfx12}, false, false, 2>(arch::gfx1201::value);
  expect_product_from_lds<block_tile{16, 384, 32, 1, 1, mma_m16n8k16_x2}, true, false, 8>(arch::sm90::value);
  expect_product_from_lds<block_tile{32, 256, 32, 1, 1, mfma_16x16x16_x2}, true, false, 2>(arch::gfx942::value);
}

TEST(BlockGemm, FindsTheInstructionInTheDistributions) {
  constexpr block_tile tile{32, 48, 64, 2, 3, mfma_16x16x32};
  // gfx950 issues the instruction, gfx942 two of half its length.
  for (const arch::target* target : {&arch::gfx950::value, &arch::gfx942::value}) {
    expect_product<half_t, a_distribution<tile>, b_distribution<tile>, c_distribution<tile>>(
        *target, [](auto& c, const auto& a, const auto& b) { block_gemm(c, a, b); });
  }
}

constexpr block_tile straight{32, 32, 32, 1, 1, mfma_16x16x32};
constexpr block_tile permuted{32, 32, 32, 1, 1, mfma_16x16x32, 0x32};

TEST(BlockGemm, AcceptsAnyKOrderThatAAndBShare) {
  static_assert(!__is_same(a_distribution<straight>, a_distribution<permuted>));
  expect_product<half_t, a_distribution<permuted>, b_distribution<permuted>, c_distribution<straight>>(
      arch::gfx950::value, [](auto& c, const auto& a, const auto& b) { block_gemm<straight>(c, a, b); });
}

// Each digit of a distribution is compared; what is found and what was expected is named.
TEST(ProductCheck, NamesTheFirstElementThatDisagrees) {
  const distribution_encoding a = detail::a_encoding(straight), b = detail::b_encoding(straight),
                              c = detail::c_encoding(straight);
  EXPECT_EQ(detail::check_product({a, b, c}, {a, b, c}).fault, detail::product_fault::none);
  const detail::product_verdict k = detail::check_product({detail::a_encoding(permuted), b, c}, {a, b, c});
  EXPECT_EQ(k.fault, detail::product_fault::element);
  EXPECT_EQ(k.operand, 'A');
  EXPECT_EQ(k.lane, 16);  // has k = 8 in B and k = 4 in A
  EXPECT_EQ(k.found[1], 4);
  EXPECT_EQ(k.expected[1], 8);
  EXPECT_EQ(detail::check_product({a, detail::b_encoding(permuted), c}, {a, b, c}).operand, 'B');
  const detail::product_verdict rows = detail::check_product({c, b, c}, {a, b, c});
  EXPECT_EQ(rows.operand, 'A');
  EXPECT_EQ(rows.fault, detail::product_fault::element);
  const distribution_encoding two_waves = detail::c_encoding({32, 32, 32, 2, 1, mfma_16x16x32});
  EXPECT_EQ(detail::check_product({a, b, two_waves}, {a, b, c}).fault, detail::product_fault::threads);
  const distribution_encoding longer = detail::a_encoding({32, 32, 64, 1, 1, mfma_16x16x32});
  EXPECT_EQ(detail::check_product({longer, b, c}, {a, b, c}).fault, detail::product_fault::lengths);
}

}  // namespace
}  // namespace tilewright
