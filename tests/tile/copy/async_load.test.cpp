// SPDX-License-Identifier: MIT
// Copies to LDS that bypass registers: plain and swizzled layouts, edges of the tensor, moving windows, missing waits.
#include "../../machine/emulator/fault_text.hpp"
#include "../on_cpu.hpp"

#include <tilewright/core/descriptor/transform_descriptor.hpp>
#include <tilewright/core/lds/layout_presets.hpp>
#include <tilewright/core/lds/swizzled_layout.hpp>
#include <tilewright/tile/copy/async_load.hpp>

#include <gtest/gtest.h>

#include <algorithm>

namespace tilewright {
namespace {

using namespace testing_tiles;
constexpr auto global = address_space_enum::global;
constexpr auto lds = address_space_enum::lds;
constexpr index_t rows = 64, cols = 64, tensor_rows = 100, tensor_cols = 200;

/// Copies of rows: a lane moves Vector elements at a time, a wave whole rows that follow each other in LDS.
template <index_t Wave, index_t Vector>
using by_whole_rows = tile_distribution<copies::along_rows(rows, cols, 2, Wave, Vector)>;

/// Copies windows at `origin` and after each step to LDS, and reads them back row by row.
template <class T, class Distribution, class Layout>
void expect_copies(const arch::target& target, const Layout& layout, multi_index<2> origin,
                   const std::vector<multi_index<2>>& steps) {
  using check = tile_distribution<copies::along_rows(rows, cols, 2, Distribution::encoding.p_length(1), 2)>;
  std::vector<T> data(tensor_rows * tensor_cols);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = T(i % 251 + 1);
  const auto descriptor = make_naive_tensor_descriptor(make_tuple(tensor_rows, tensor_cols),
                                                       make_tuple(tensor_cols, number<1>{}), number<8>{});
  constexpr index_t bytes = rows * cols * index_t(sizeof(T));
  const auto where = positions<check>();
  std::vector<T> seen(where.size() * (steps.size() + 1));
  run<Distribution>(
      target,
      [&] {
        const auto view = make_tensor_view<lds, T>(exec::lds_allocate<2 * bytes>(), layout);
        auto from = make_async_tile_window(make_tensor_view<global>(data.data(), descriptor),
                                           lengths_of<Distribution>(), origin, Distribution{}, layout);
        const auto to = make_async_tile_window(view, lengths_of<Distribution>(), {}, Distribution{}, layout);
        const auto back = make_tile_window(view, lengths_of<check>(), {}, check{});
        for (std::size_t i = 0; i <= steps.size(); ++i) {
          const index_t buffer = index_t(i % 2) * bytes;
          async_load_tile(to, from, in_bounds<>{}, buffer);
          async_wait();
          exec::block_sync();
          const auto tile = load_tile_with_offset(back, buffer);
          std::copy(tile.thread_buffer.begin(), tile.thread_buffer.end(),
                    seen.begin() + std::ptrdiff_t(i * where.size()) + exec::thread_id() * check::num_elements);
          if (i < steps.size()) move_tile_window(from, steps[i]);
        }
      },
      2 * bytes);
  std::size_t next = 0;
  for (std::size_t i = 0; i <= steps.size(); ++i) {
    for (const auto& position : where) {
      const auto x = sum(origin, position);
      const T expected = descriptor.is_valid(x) ? data[std::size_t(x[0] * tensor_cols + x[1])] : T(0);
      ASSERT_EQ(seen[next++], expected) << target.name << ", copy " << i << ", element " << position[0] << ", "
                                        << position[1];
    }
    if (i < steps.size()) origin = sum(origin, steps[i]);
  }
}

constexpr auto packed = make_naive_tensor_descriptor_packed(make_tuple(number<rows>{}, number<cols>{}));
constexpr auto xor_f16 = make_lds_index_swapping_descriptor<cols, 8, 1, rows, half_t>();
constexpr auto xor_words = make_lds_index_swapping_descriptor<cols, 2, 1, rows, half_t>();
constexpr auto rows_of_flips = [] {
  constexpr swizzled_layout layout = swizzled_rows({rows, cols, 2}, 2 * cols, {1, 4, 2, 0, 1, 0});
  return make_lds_descriptor<layout>();
}();

template <class Distribution, class Layout>
void expect_on(const arch::target& target, const Layout& layout) {
  using element = unsigned short;
  expect_copies<element, Distribution>(target, layout, {0, 0}, {{{0, 64}}, {{0, 64}}});
  expect_copies<element, Distribution>(target, layout, {80, 160}, {{{-96, -64}}, {{32, -128}}});
}

TEST(AsyncLoadTile, FillsPlainRows) {
  for (const arch::target* target : arch::all_targets) {
    if (target->wave_size == 64) {
      expect_on<by_whole_rows<64, 2>>(*target, packed);
      expect_on<by_whole_rows<64, 8>>(*target, packed);
    } else {
      expect_on<by_whole_rows<32, 2>>(*target, packed);
      expect_on<by_whole_rows<32, 8>>(*target, packed);
    }
  }
}

TEST(AsyncLoadTile, FillsSwizzledRowsByExchangingLanes) {
  for (const arch::target* target : arch::all_targets) {
    if (target->wave_size == 64) {
      expect_on<by_whole_rows<64, 8>>(*target, xor_f16);
      expect_on<by_whole_rows<64, 2>>(*target, xor_words);
      expect_on<by_whole_rows<64, 8>>(*target, rows_of_flips);
    } else {
      expect_on<by_whole_rows<32, 8>>(*target, xor_f16);
      expect_on<by_whole_rows<32, 2>>(*target, xor_words);
      expect_on<by_whole_rows<32, 8>>(*target, rows_of_flips);
    }
  }
}

TEST(AsyncLoadTile, NeedsTheWait) {
  using tile_type = by_whole_rows<64, 2>;
  const std::vector<unsigned short> data(rows * cols, 7);
  const auto kernel = [&] {
    const auto view = make_tensor_view<lds, unsigned short>(exec::lds_allocate<rows * cols * 2>(), packed);
    const auto from =
        make_tile_window(make_tensor_view<global>(data.data(), packed), lengths_of<tile_type>(), {}, tile_type{});
    const auto to = make_tile_window(view, lengths_of<tile_type>(), {}, tile_type{});
    async_load_tile(to, from);
    exec::block_sync();
    (void)load_tile(to);
  };
  EXPECT_TRUE(testing_exec::is_refused("to there was waited for",
                                       [&] { run<tile_type>(arch::gfx942::value, kernel, rows * cols * 2); }));
}

TEST(AsyncLoadTile, RefusesOnTheCpuWhatAmdGpusCannotFill) {
  using tile_type = by_whole_rows<64, 8>;
  const std::vector<unsigned short> data(rows * cols, 7);
  const auto kernel = [&] {
    const auto view = make_tensor_view<lds, unsigned short>(exec::lds_allocate<rows * cols * 2>(), xor_f16);
    async_load_tile(
        make_tile_window(view, lengths_of<tile_type>(), {}, tile_type{}),
        make_tile_window(make_tensor_view<global>(data.data(), packed), lengths_of<tile_type>(), {}, tile_type{}));
  };
  EXPECT_TRUE(testing_exec::is_refused("fills LDS in the order of the lanes",
                                       [&] { run<tile_type>(arch::gfx950::value, kernel, rows * cols * 2); }));
}

}  // namespace
}  // namespace tilewright
