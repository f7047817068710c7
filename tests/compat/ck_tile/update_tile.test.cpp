// SPDX-License-Identifier: MIT
// update_tile: set, add, atomic add and atomic max, in global memory at every edge and in LDS, for every element type.
#include "../../tile/on_cpu.hpp"

#include <tilewright/compat/ck_tile/update_tile.hpp>
#include <tilewright/tile/registers/elementwise.hpp>

#include <gtest/gtest.h>

#include <algorithm>

namespace tilewright {
namespace {

using namespace testing_tiles;
using enum memory_operation_enum;
constexpr auto global = address_space_enum::global;

template <memory_operation_enum Op>
float expected_of(float old, float value) {
  return Op == set ? value : Op == atomic_max ? std::max(old, value) : old + value;
}

/// Every element of the window at `origin` is updated `blocks` times, by several blocks at a time,
/// with a number of its position.
template <memory_operation_enum Op, class T, class Distribution, index_t Vector>
void expect_update(const multi_index<2>& origin, index_t blocks = 1) {
  constexpr index_t rows = 50, cols = 40, pitch = 48;
  const auto number_at = [](index_t i, index_t j) { return float((i * 7 + j * 3) % 9 - 4); };
  std::vector<T> data(rows * pitch);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = type_convert<T>(float(i % 5));
  std::vector<T> expected = data;
  const auto descriptor =
      make_naive_tensor_descriptor(make_tuple(rows, cols), make_tuple(pitch, number<1>{}), number<Vector>{});
  const auto where = positions<Distribution>();
  emulator::launch(
      {.target = &arch::gfx942::value, .grid = {blocks, 1, 1}, .block_size = Distribution::num_threads(), .workers = 3},
      [&] {
        const auto window = make_tile_window(make_tensor_view<global>(data.data(), descriptor),
                                             lengths_of<Distribution>(), origin, Distribution{});
        static_distributed_tensor<T, Distribution> tile;
        for (index_t d = 0; d < Distribution::num_elements; ++d) {
          const auto& x = where[std::size_t(exec::thread_id() * Distribution::num_elements + d)];
          tile.thread_buffer[d] = type_convert<T>(number_at(x[0], x[1]));
        }
        update_tile<Op>(window, tile);
      });
  for (const auto& position : where) {
    const auto x = sum(origin, position);
    if (!descriptor.is_valid(x)) continue;
    T& element = expected[std::size_t(x[0] * pitch + x[1])];
    for (index_t b = 0; b < blocks; ++b)
      element = type_convert<T>(expected_of<Op>(type_convert<float>(element), number_at(position[0], position[1])));
  }
  for (std::size_t i = 0; i < data.size(); ++i)
    ASSERT_EQ(type_convert<float>(data[i]), type_convert<float>(expected[i])) << i / pitch << ", " << i % pitch;
}

const std::vector<multi_index<2>> places{{{0, 0}}, {{32, 8}}, {{-8, 32}}, {{24, -16}}, {{64, 0}}};

template <class T, index_t Vector>
void expect_updates() {
  for (const auto& origin : places) {
    expect_update<set, T, by_rows<64>, Vector>(origin);
    expect_update<add, T, by_rows<64>, Vector>(origin);
    expect_update<atomic_add, T, by_rows<64>, Vector>(origin, 6);
    expect_update<atomic_max, T, by_rows<64>, Vector>(origin, 6);
  }
}
TEST(UpdateTile, OfFloats) {
  expect_updates<float, 8>();
  expect_updates<float, 1>();
}
TEST(UpdateTile, OfIntegers) { expect_updates<int, 4>(); }
TEST(UpdateTile, OfPairsOfHalves) { expect_updates<half_t, 8>(); }
TEST(UpdateTile, OfPairsOfBfloat16s) { expect_updates<bfloat16_t, 2>(); }

TEST(UpdateTile, InLds) {
  using tile_type = by_rows<64>;
  constexpr index_t bytes = 32 * 32 * 4;
  constexpr auto layout = make_naive_tensor_descriptor_packed(make_tuple(number<32>{}, number<32>{}));
  const auto where = positions<tile_type>();
  std::vector<int> sums(where.size());
  run<tile_type>(
      arch::gfx942::value,
      [&] {
        const auto view = make_tensor_view<address_space_enum::lds, int>(exec::lds_allocate<bytes>(), layout);
        const auto window = make_tile_window(view, lengths_of<tile_type>(), {}, tile_type{});
        static_distributed_tensor<int, tile_type> tile;
        set_tile(tile, 40);
        update_tile<set>(window, tile);
        exec::block_sync();
        for (index_t d = 0; d < tile_type::num_elements; ++d)
          tile.thread_buffer[d] = exec::thread_id() * tile_type::num_elements + d;
        update_tile<atomic_max>(window, tile);
        update_tile<atomic_add>(window, tile);
        exec::block_sync();
        const auto result = load_tile(window);
        std::copy(result.thread_buffer.begin(), result.thread_buffer.end(),
                  sums.begin() + exec::thread_id() * tile_type::num_elements);
      },
      bytes);
  for (std::size_t i = 0; i < sums.size(); ++i) ASSERT_EQ(sums[i], std::max(40, int(i)) + int(i));
}

// Sixteen elements, each held by four lanes of both waves: they are counted once.
TEST(UpdateTile, OfReplicatedElements) {
  using replicated = tile_distribution<
      tile_distribution_encoding<sequence<2, 4>, tuple<sequence<16>>, tuple<sequence<0>, sequence<1, 0>>,
                                 tuple<sequence<0>, sequence<0, 1>>, sequence<>, sequence<>>::value>;
  std::vector<int> sums(16, 5), atomic_sums(16, 5);
  run<replicated>(arch::gfx942::value, [&] {
    static_distributed_tensor<int, replicated> tile;
    tile.thread_buffer[0] = exec::lane_id() / 4;
    const auto window_of = [](std::vector<int>& memory) {
      const auto view =
          make_naive_tensor_view<global>(memory.data(), make_tuple(number<16>{}), make_tuple(number<1>{}));
      return make_tile_window(view, make_tuple(number<16>{}), {0}, replicated{});
    };
    update_tile<add>(window_of(sums), tile);
    update_tile<atomic_add>(window_of(atomic_sums), tile);
  });
  for (int i = 0; i < 16; ++i) {
    EXPECT_EQ(sums[std::size_t(i)], 5 + i);
    EXPECT_EQ(atomic_sums[std::size_t(i)], 5 + i);
  }
}

}  // namespace
}  // namespace tilewright
