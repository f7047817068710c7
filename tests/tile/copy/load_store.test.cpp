// SPDX-License-Identifier: MIT
// Tiles between global memory and registers: strides of compile time and of run time, both orders, edges,
// pads, moving windows.
#include "../on_cpu.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace tilewright {
namespace {

using namespace testing_tiles;
using element = unsigned short;
constexpr auto global = address_space_enum::global;

/// Loads the window at `origin`, and again after each step. Every register must hold the element of its position,
/// or zero where the tensor has none.
template <class Distribution, class Descriptor, class Known = in_bounds<>>
void expect_loads(const Descriptor& descriptor, multi_index<Descriptor::ndim> origin,
                  const std::vector<multi_index<Descriptor::ndim>>& steps = {}, Known known = {},
                  const arch::target& target = arch::gfx942::value) {
  const std::vector<element> data = numbered<element>(std::size_t(descriptor.get_element_space_size()));
  constexpr index_t registers = Distribution::num_elements;
  const std::size_t per_load = std::size_t(Distribution::num_threads() * registers);
  std::vector<element> loaded(per_load * (steps.size() + 1));
  run<Distribution>(target, [&] {
    const auto view = make_tensor_view<global>(data.data(), descriptor);
    auto window = make_tile_window(view, lengths_of<Distribution>(), origin, Distribution{});
    for (std::size_t i = 0; i <= steps.size(); ++i) {
      const auto tile = load_tile(window, known);
      std::copy(tile.thread_buffer.begin(), tile.thread_buffer.end(),
                loaded.begin() + std::ptrdiff_t(i * per_load) + exec::thread_id() * registers);
      if (i < steps.size()) move_tile_window(window, steps[i]);
    }
  });
  const auto where = positions<Distribution>();
  std::size_t next = 0;
  for (std::size_t i = 0; i <= steps.size(); ++i) {
    for (const auto& position : where) {
      const auto index = sum(origin, position);
      const element expected =
          descriptor.is_valid(index) ? data[std::size_t(descriptor.calculate_offset(index))] : element(0);
      ASSERT_EQ(loaded[next++], expected) << "load " << i << ", element " << index[0] << ", " << index[1];
    }
    if (i < steps.size()) origin = sum(origin, steps[i]);
  }
}

/// Stores a tile of numbers over a tensor of zeros. What the tensor has under the window must be written,
/// and nothing else.
template <class Distribution, class Descriptor>
void expect_store(const Descriptor& descriptor, multi_index<Descriptor::ndim> origin) {
  const std::size_t space = std::size_t(descriptor.get_element_space_size());
  std::vector<element> written(space + 64, 0), expected(space + 64, 0);
  constexpr index_t registers = Distribution::num_elements;
  run<Distribution>(arch::gfx942::value, [&] {
    const auto window = make_tile_window(make_tensor_view<global>(written.data(), descriptor),
                                         lengths_of<Distribution>(), origin, Distribution{});
    static_distributed_tensor<element, Distribution> tile;
    for (index_t d = 0; d < registers; ++d) tile.thread_buffer[d] = element(1 + exec::thread_id() * registers + d);
    store_tile(window, tile);
  });
  element next = 0;
  for (const auto& position : positions<Distribution>()) {
    ++next;
    const auto index = sum(origin, position);
    if (descriptor.is_valid(index)) expected[std::size_t(descriptor.calculate_offset(index))] = next;
  }
  EXPECT_EQ(written, expected);
}

template <index_t Vector = 1>
auto row_major(index_t rows, index_t cols, index_t pitch) {
  return make_naive_tensor_descriptor(make_tuple(rows, cols), make_tuple(pitch, number<1>{}), number<Vector>{});
}
template <index_t Vector = 1>
auto column_major(index_t rows, index_t cols, index_t pitch) {
  return make_naive_tensor_descriptor(make_tuple(rows, cols), make_tuple(number<1>{}, pitch), number<Vector>{});
}
constexpr auto static_rows =
    make_naive_tensor_descriptor(make_tuple(number<100>{}, number<72>{}), make_tuple(number<80>{}, number<1>{}));

// Windows at every corner of the tensor, beyond every edge, and wholly outside.
const std::vector<multi_index<2>> places{{{0, 0}},   {{64, 32}}, {{80, 32}},   {{80, 56}},
                                         {{-8, 0}},  {{0, -8}},  {{-24, 64}},  {{96, -24}},
                                         {{128, 0}}, {{0, 128}}, {{-64, -64}}, {{1000, 1000}}};

TEST(LoadTile, OfRowsWithRunTimeStrides) {
  for (const auto& origin : places) {
    expect_loads<by_rows<64>>(row_major(100, 72, 75), origin);
    expect_loads<by_rows<64>>(row_major<8>(104, 72, 80), origin);
    expect_loads<by_columns<64>>(row_major<8>(104, 72, 80), origin);
  }
}

TEST(LoadTile, OfColumnsWithRunTimeStrides) {
  for (const auto& origin : places) {
    expect_loads<by_columns<64>>(column_major(100, 72, 101), origin);
    expect_loads<by_columns<64>>(column_major<8>(96, 72, 104), origin);
    expect_loads<by_rows<64>>(column_major<8>(96, 72, 104), origin);
  }
}

TEST(LoadTile, WithStaticStrides) {
  for (const auto& origin : places) {
    expect_loads<by_rows<64>>(static_rows, origin);
    expect_loads<by_columns<64>>(static_rows, origin);
  }
}

TEST(LoadTile, WithMixedStrides) {
  const auto mixed = make_naive_tensor_descriptor(make_tuple(100, number<72>{}), make_tuple(number<80>{}, number<1>{}));
  for (const auto& origin : places) expect_loads<by_rows<64>>(mixed, origin);
}

TEST(LoadTile, OnWavesOf32) {
  for (const auto& origin : places) {
    expect_loads<by_rows<32>>(row_major<8>(104, 72, 80), origin, {}, in_bounds<>{}, arch::sm90::value);
    expect_loads<by_columns<32>>(column_major<8>(96, 72, 104), origin, {}, in_bounds<>{}, arch::gfx1100::value);
  }
}

TEST(LoadTile, OfATensorSmallerThanTheTile) {
  expect_loads<by_rows<64>>(row_major(1, 1, 1), {0, 0});
  expect_loads<by_rows<64>>(row_major<8>(0, 40, 40), {0, 0}, {{{32, 0}}});
  expect_loads<by_columns<64>>(column_major(40, 0, 40), {0, 0}, {{{0, -32}}});
  expect_loads<by_rows<64>>(row_major(3, 5, 7), {-1, -2});
  expect_loads<by_columns<64>>(column_major(31, 2, 40), {0, -30});
}

// A GEMM's first tile along k is the partial one: it begins before the tensor, and every other one is inside.
TEST(LoadTile, FromBeforeTheTensorOnward) {
  for (const index_t k : {1, 7, 31, 32, 33, 95}) {
    const index_t first = k - ceil_div(k, 32) * 32;
    const std::vector<multi_index<2>> steps(std::size_t(ceil_div(k, 32) - 1), {{0, 32}});
    expect_loads<by_rows<64>>(row_major(40, k, k + 3), {32, first}, steps);
    expect_loads<by_columns<64>>(column_major(40, k, 45), {32, first}, steps);
  }
}

TEST(LoadTile, WhereTheWindowIsKnownToBeInside) {
  expect_loads<by_rows<64>>(row_major<8>(100, 96, 96), {80, 0}, {{{0, 32}}, {{0, 32}}}, in_bounds<1>{});
  expect_loads<by_rows<64>>(row_major<8>(96, 72, 72), {0, 56}, {{{32, 0}}, {{32, 0}}}, in_bounds<0>{});
  expect_loads<by_rows<64>>(row_major<8>(96, 96, 96), {32, 32}, {{{32, 32}}}, in_bounds<0, 1>{});
}

TEST(LoadTile, WhileTheWindowMovesAnywhere) {
  const std::vector<multi_index<2>> steps{{{32, 0}},    {{0, 32}},      {{-64, 8}}, {{16, -72}},
                                          {{200, 200}}, {{-184, -168}}, {{0, 0}}};
  expect_loads<by_rows<64>>(row_major<8>(104, 72, 80), {0, 0}, steps);
  expect_loads<by_columns<64>>(column_major<8>(96, 72, 104), {0, 0}, steps);
  expect_loads<by_rows<64>>(static_rows, {0, 0}, steps);
}

template <class Matrix, class Rows, class Cols>
auto transformed(const Matrix& matrix, Rows rows, Cols cols) {
  return transform_tensor_descriptor(matrix, make_tuple(rows, cols), make_tuple(sequence<0>{}, sequence<1>{}),
                                     make_tuple(sequence<0>{}, sequence<1>{}));
}

const std::vector<multi_index<2>> walk{{{32, 0}}, {{0, 32}}, {{32, 32}}, {{-64, -32}}, {{0, -48}}};

TEST(LoadTile, ThroughPads) {
  const auto statically = transformed(static_rows, make_pad_transform(number<100>{}, number<3>{}, number<9>{}),
                                      make_pad_transform(number<72>{}, number<8>{}, number<24>{}));
  expect_loads<by_rows<64>>(statically, {0, 0}, walk);
  expect_loads<by_columns<64>>(statically, {0, 0}, walk);
  expect_loads<by_rows<64>>(statically, {0, 0}, {{{64, 64}}}, in_bounds<0, 1>{});  // of the padded tensor
  const auto at_run_time =
      transformed(row_major<8>(104, 72, 80), make_pad_transform(104, 5, 3), make_right_pad_transform(72, 24));
  expect_loads<by_rows<64>>(at_run_time, {0, 0}, walk);
  const auto left = transformed(column_major<8>(96, 72, 104), make_left_pad_transform(96, number<16>{}),
                                make_left_pad_transform(72, 11));
  expect_loads<by_columns<64>>(left, {0, 0}, walk);
  expect_loads<by_columns<64>>(left, {64, 32}, {});
}

TEST(LoadTile, ThroughOffsets) {
  const auto shifted = transformed(static_rows, make_offset_transform(number<90>{}, number<10>{}),
                                   make_offset_transform(number<64>{}, number<8>{}));
  expect_loads<by_rows<64>>(shifted, {0, 0}, walk);
  const auto at_run_time =
      transformed(row_major(100, 72, 75), make_offset_transform(90, 10), make_offset_transform(50, 22));
  expect_loads<by_rows<64>>(at_run_time, {0, 0}, walk);
}

TEST(LoadTile, OfASliceOfACube) {
  const auto cube =
      make_naive_tensor_descriptor(make_tuple(5, 48, 40), make_tuple(48 * 40, 40, number<1>{}), number<8>{});
  const auto slice = transform_tensor_descriptor(
      cube, make_tuple(make_freeze_transform(3), make_pass_through_transform(48), make_pass_through_transform(40)),
      make_tuple(sequence<0>{}, sequence<1>{}, sequence<2>{}), make_tuple(sequence<>{}, sequence<0>{}, sequence<1>{}));
  expect_loads<by_rows<64>>(slice, {0, 0}, walk);
  expect_loads<by_rows<64>>(slice, {16, 16}, {});
}

TEST(LoadTile, ThroughMergedDimensions) {
  // Images of 6 x 7 pixels with 40 channels, seen as a matrix of pixels by channels: convolution's view of its input.
  const auto images =
      make_naive_tensor_descriptor(make_tuple(6, 7, 40), make_tuple(7 * 48, 48, number<1>{}), number<8>{});
  const auto pixels = transform_tensor_descriptor(
      images, make_tuple(make_merge_transform(make_tuple(6, 7)), make_pass_through_transform(40)),
      make_tuple(sequence<0, 1>{}, sequence<2>{}), make_tuple(sequence<0>{}, sequence<1>{}));
  expect_loads<by_rows<64>>(pixels, {0, 0}, {{{32, 0}}, {{-32, 32}}, {{3, -8}}});
}

TEST(LoadTile, OfAVectorSmallerThanItsTile) {
  using line = tile_distribution<tile_distribution_encoding<sequence<>, tuple<sequence<64, 8>>, tuple<sequence<1>>,
                                                            tuple<sequence<0>>, sequence<1>, sequence<1>>::value>;
  const std::vector<element> data = numbered<element>(13);
  for (const bool is_static : {true, false}) {
    std::vector<element> loaded(512);
    run<line>(arch::gfx942::value, [&] {
      const auto load = [&](const auto& descriptor) {
        const auto tile = load_tile(make_tile_window(make_tensor_view<global>(data.data(), descriptor),
                                                     make_tuple(number<512>{}), {0}, line{}));
        std::copy(tile.thread_buffer.begin(), tile.thread_buffer.end(), loaded.begin() + exec::thread_id() * 8);
      };
      is_static ? load(make_naive_tensor_descriptor_packed(make_tuple(number<13>{})))
                : load(make_naive_tensor_descriptor_packed(make_tuple(13)));
    });
    for (std::size_t i = 0; i < loaded.size(); ++i) ASSERT_EQ(loaded[i], i < 13 ? data[i] : 0) << i;
  }
}

TEST(StoreTile, WritesWhatTheTensorHasUnderTheWindow) {
  for (const auto& origin : places) {
    expect_store<by_rows<64>>(row_major(100, 72, 75), origin);
    expect_store<by_rows<64>>(row_major<8>(104, 72, 80), origin);
    expect_store<by_columns<64>>(column_major(100, 72, 101), origin);
    expect_store<by_columns<64>>(column_major<8>(96, 72, 104), origin);
    expect_store<by_rows<64>>(static_rows, origin);
  }
}

TEST(StoreTile, ThroughPads) {
  const auto padded = transformed(static_rows, make_pad_transform(number<100>{}, number<3>{}, number<9>{}),
                                  make_pad_transform(number<72>{}, number<8>{}, number<24>{}));
  for (const multi_index<2> origin : {multi_index<2>{{0, 0}}, multi_index<2>{{80, 64}}, multi_index<2>{{32, 32}}})
    expect_store<by_rows<64>>(padded, origin);
}

// A tensor of more than 2^31 elements is reached through windows; only its last rows are in memory here.
TEST(LoadTile, FarFromTheBeginOfALargeTensor) {
  const index_t rows = 70000, pitch = 60000;
  const auto large = row_major<8>(rows, 32, pitch);
  const index_t first_row = rows - 32;
  std::vector<element> tail(31 * std::size_t(pitch) + 32);
  for (std::size_t r = 0; r < 32; ++r) {
    for (std::size_t c = 0; c < 32; ++c) tail[r * std::size_t(pitch) + c] = element(100 * r + c + 1);
  }
  std::vector<element> loaded(32 * 32);
  using distribution = by_rows<64>;
  run<distribution>(arch::gfx942::value, [&] {
    // The address of element (0, 0), which is never accessed.
    const auto begin = reinterpret_cast<std::uintptr_t>(tail.data()) -
                       std::uintptr_t(first_row) * std::uintptr_t(pitch) * sizeof(element);
    const auto view = make_tensor_view<global>(reinterpret_cast<const element*>(begin), large);
    auto window = make_tile_window(view, lengths_of<distribution>(), {0, 0}, distribution{});
    move_tile_window(window, {first_row, 0});
    const auto tile = load_tile(window);
    std::copy(tile.thread_buffer.begin(), tile.thread_buffer.end(),
              loaded.begin() + exec::thread_id() * distribution::num_elements);
  });
  std::size_t next = 0;
  for (const auto& position : positions<distribution>())
    ASSERT_EQ(loaded[next++], element(100 * position[0] + position[1] + 1));
}

}  // namespace
}  // namespace tilewright
