// SPDX-License-Identifier: MIT
// Tiles that are transposed as they are read from LDS: every register of every thread, by each target's instruction.
#include "../on_cpu.hpp"

#include <tilewright/core/distribution/embed_encoding.hpp>
#include <tilewright/core/distribution/lane_map_encoding.hpp>
#include <tilewright/core/lds/layout_solver.hpp>
#include <tilewright/core/lds/lds_access.hpp>
#include <tilewright/tile/copy/load_tile_transpose.hpp>

#include <gtest/gtest.h>

namespace tilewright {
namespace {

using namespace testing_tiles;
using enum arch::matrix_op;

/// Two waves over 32 rows next to each other, two fragments along k: what a matrix instruction's operand is.
template <arch::matrix_op Op>
using operand = tile_distribution<[] {
  distribution_encoding outer;
  outer.h.push_back({});
  outer.h[0].push_back(2);
  outer.h.push_back({});
  outer.h[1].push_back(2);
  outer.p.push_back({});
  outer.p[0].push_back({1, 0});
  outer.p.push_back({});
  outer.y.push_back({2, 0});
  return embed(outer, encoding_of(arch::describe(Op).a));
}()>;

/// LDS holds (k, m) from `begin` on, where element (k, m) is its number; each thread should hold (m, k) as Held says.
template <class T, class Held, class Target, class Layout>
emulator::launch_report expect_transposed(const arch::target& on, const Layout& layout) {
  constexpr index_t m = Held::x_lengths[0], k = Held::x_lengths[1], begin = 64,
                    bytes = 2 * m * k * index_t(sizeof(T)) + begin;
  const auto number_of = [](index_t row, index_t col) { return T(row * 7 + col * 13); };
  const auto where = positions<Held>();
  std::vector<T> loaded(where.size(), T(0)), again(where.size(), T(0));
  const emulator::launch_report report = run<Held>(
      on,
      [&] {
        const exec::lds_pointer lds = exec::lds_allocate<bytes>();
        if (exec::thread_id() == 0) {
          for (index_t i = 0; i < k; ++i) {
            for (index_t j = 0; j < m; ++j)
              exec::lds_store(lds, begin + layout.calculate_offset({i, j}) * index_t(sizeof(T)), number_of(i, j));
          }
        }
        exec::block_sync();
        const auto view = make_tensor_view<address_space_enum::lds, T>(lds, layout);
        using addressed = decltype(make_transpose_input_distribution<T, Target>(Held{}));
        const auto window = make_tile_window(view, make_tuple(number<k>{}, number<m>{}), {}, addressed{});
        const auto tile = load_tile_transpose_with_offset<Target>(window, begin);
        static_assert(
            detail::hold_the_same(std::remove_const_t<decltype(tile)>::distribution_type::encoding, Held::encoding));
        static_distributed_tensor<T, Held> same;
        load_tile_transpose<Target>(same, window, begin);
        for (index_t d = 0; d < Held::num_elements; ++d) {
          loaded[std::size_t(exec::thread_id() * Held::num_elements + d)] = tile.thread_buffer[d];
          again[std::size_t(exec::thread_id() * Held::num_elements + d)] = same.thread_buffer[d];
        }
      },
      bytes);
  for (std::size_t i = 0; i < where.size(); ++i) {
    EXPECT_EQ(loaded[i], number_of(where[i][1], where[i][0])) << i;
    EXPECT_EQ(again[i], loaded[i]);
  }
  return report;
}

/// Contiguous along m, in rows of `pitch` elements.
template <class Held, index_t Pitch = Held::x_lengths[0]>
constexpr auto along_m = make_naive_tensor_descriptor(
    make_tuple(number<Held::x_lengths[1]>{}, number<Held::x_lengths[0]>{}), make_tuple(number<Pitch>{}, number<1>{}));

TEST(LoadTileTranspose, ByTheInstructionsOfGfx950) {
  const arch::target& on = arch::gfx950::value;
  using target = arch::gfx950;
  const auto halves =
      expect_transposed<unsigned short, operand<mfma_16x16x32>, target>(on, along_m<operand<mfma_16x16x32>>);
  // Two waves, twice 8 registers of which an instruction fills 4; read twice.
  EXPECT_EQ(halves.of(arch::lds_op::read_b64_tr_b16).executions, 2 * 2 * 2 * 2);
  EXPECT_EQ(halves.of(arch::lds_op::read_b16).executions + halves.of(arch::lds_op::read_b64).executions, 0);
  expect_transposed<unsigned short, operand<mfma_32x32x16>, target>(on, along_m<operand<mfma_32x32x16>>);
  const auto bytes =
      expect_transposed<unsigned char, operand<mfma_16x16x64_b8>, target>(on, along_m<operand<mfma_16x16x64_b8>>);
  EXPECT_EQ(bytes.of(arch::lds_op::read_b64_tr_b8).executions, 2 * 2 * 2 * 2);
  expect_transposed<unsigned char, operand<mfma_32x32x64_b8>, target>(on, along_m<operand<mfma_32x32x64_b8>>);
}

TEST(LoadTileTranspose, ByLdmatrix) {
  using held = operand<mma_m16n8k16_x2>;
  const auto report = expect_transposed<unsigned short, held, arch::sm80>(arch::sm90::value, along_m<held, 40>);
  EXPECT_EQ(report.of(arch::lds_op::ldmatrix).executions, 2 * 2 * 2);
}

TEST(LoadTileTranspose, WithoutAnInstruction) {
  using held = operand<mfma_16x16x16_x2>;
  for (const arch::target* on : {&arch::gfx942::value, &arch::gfx950::value})
    expect_transposed<unsigned short, held, arch::gfx942>(*on, along_m<held>);
  const auto report = expect_transposed<float, held, arch::gfx950>(arch::gfx950::value, along_m<held>);
  EXPECT_EQ(report.of(arch::lds_op::read_b32).executions, 2 * 2 * held::num_elements) << "no instruction for 4 bytes";
  expect_transposed<unsigned char, held, current_target>(arch::gfx90a::value, along_m<held>);
}

// A layout that the library finds for whoever writes rows and for the transposing read, and its cost as counted.
TEST(LoadTileTranspose, FromSwizzledLds) {
  using held = operand<mfma_16x16x32>;
  constexpr index_t m = 32, k = 64;
  using addressed = decltype(make_transpose_input_distribution<half_t, arch::gfx950>(held{}));
  constexpr lds_layout_choice choice = number<choose_lds_layout<arch::gfx950>(
      lds_tile{k, m, 2}, lds_use{copies::along_rows(k, m, 2, 64, 8), lds_access_kind::write},
      lds_use{addressed::encoding, lds_access_kind::transposing_read})>::value;
  static_assert(choice.worst_degree == 1);
  constexpr tensor_descriptor<detail::make_lds_graph(choice.layout)> layout{{}, m * k};
  const auto report = expect_transposed<unsigned short, held, arch::gfx950>(arch::gfx950::value, layout);
  const auto counts = report.of(arch::lds_op::read_b64_tr_b16);
  EXPECT_EQ(counts.conflicts, 0);
  const auto predicted = analyze_lds_access<arch::gfx950>(layout, addressed{}, 2, lds_access_kind::transposing_read);
  EXPECT_EQ(counts.executions, 2 * predicted.executions);
  EXPECT_EQ(counts.cycles, 2 * predicted.cycles);
}

}  // namespace
}  // namespace tilewright
