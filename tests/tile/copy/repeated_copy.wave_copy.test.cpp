// SPDX-License-Identifier: MIT
// Copies of a tile to LDS from places further and further in memory, and what they refuse.
#include "../../machine/emulator/fault_text.hpp"
#include "../on_cpu.hpp"

#include <tilewright/core/lds/swizzled_layout.hpp>
#include <tilewright/tile/copy/repeated_copy.hpp>

#include <gtest/gtest.h>

namespace tilewright {
namespace {

using namespace testing_tiles;
constexpr index_t rows = 64, cols = 64, bytes = rows * cols * 2, tensor_rows = 100, tensor_cols = 200;

/// Copies the tiles at columns 0, 64 and 128 of a tensor to two buffers in turn, in two parts each, and compares what
/// LDS holds. The tensor ends after row 100, in the middle of the tile.
template <index_t Vector, class Layout>
void expect_tiles(const arch::target& target, const Layout& layout) {
  using element = unsigned short;
  using moved = tile_distribution<copies::along_rows(rows, cols, 2, 64, Vector)>;
  using seen = tile_distribution<copies::along_rows(rows, cols, 2, 64, 2)>;
  const auto data = numbered<element>(tensor_rows * tensor_cols);
  const auto tensor = make_naive_tensor_descriptor(make_tuple(tensor_rows, tensor_cols),
                                                   make_tuple(tensor_cols, number<1>{}), number<8>{});
  const auto where = positions<seen>();
  std::vector<element> found(where.size() * 3);
  run<moved>(
      target,
      [&] {
        const exec::lds_pointer lds = exec::lds_allocate<2 * bytes>();
        const auto view = make_tensor_view<address_space_enum::lds, element>(lds, layout);
        const auto from = make_async_tile_window(make_tensor_view<address_space_enum::global>(data.data(), tensor),
                                                 lengths_of<moved>(), {64, 0}, moved{}, layout);
        using copy_type = wave_copy<std::remove_const_t<decltype(from)>, Layout::graph>;
        copy_type copy(from, lds);
        const auto back = make_tile_window(view, lengths_of<seen>(), {}, seen{});
        for (index_t i = 0; i < 3; ++i) {
          const index_t buffer = i % 2 * bytes;
          copy.template issue<0, copy_type::num_access / 2>(buffer);
          copy.template issue<copy_type::num_access / 2, copy_type::num_access>(buffer);
          copy.advance(cols * index_t(sizeof(element)));
          async_wait();
          exec::block_sync();
          const auto tile = load_tile_with_offset(back, buffer);
          std::copy(tile.thread_buffer.begin(), tile.thread_buffer.end(),
                    found.begin() + std::ptrdiff_t(i * index_t(where.size())) + exec::thread_id() * seen::num_elements);
        }
      },
      2 * bytes);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto position = where[i % where.size()];
    const index_t row = 64 + position[0], col = index_t(i / where.size()) * cols + position[1];
    ASSERT_EQ(found[i], row < tensor_rows ? data[std::size_t(row * tensor_cols + col)] : 0)
        << target.name << ", row " << row << ", column " << col;
  }
}

constexpr auto packed = make_naive_tensor_descriptor_packed(make_tuple(number<rows>{}, number<cols>{}));
constexpr auto flipped = [] {
  constexpr swizzled_layout layout = swizzled_rows({rows, cols, 2}, 2 * cols, {1, 4, 2, 0, 1, 0});
  return make_lds_descriptor<layout>();
}();

TEST(DirectCopy, OfFourBytes) {
  expect_tiles<2>(arch::gfx90a::value, packed);
  expect_tiles<2>(arch::gfx942::value, flipped);
}

TEST(DirectCopy, OfSixteenBytes) {
  expect_tiles<8>(arch::gfx950::value, packed);
  expect_tiles<8>(arch::gfx950::value, flipped);
}

TEST(DirectCopy, RefusesTargetsWithoutIt) {
  EXPECT_TRUE(testing_exec::is_refused("gfx942 does not copy 16 bytes for each lane without registers",
                                       [] { expect_tiles<8>(arch::gfx942::value, packed); }));
}

TEST(DirectCopy, RefusesToLeaveTheTensor) {
  const std::vector<unsigned short> data(rows * cols, 7);
  using moved = tile_distribution<copies::along_rows(rows, cols, 2, 64, 8)>;
  const auto kernel = [&] {
    const exec::lds_pointer lds = exec::lds_allocate<bytes>();
    const auto from = make_async_tile_window(make_tensor_view<address_space_enum::global>(data.data(), packed),
                                             lengths_of<moved>(), {}, moved{}, packed);
    wave_copy<std::remove_const_t<decltype(from)>, decltype(packed)::graph> copy(from, lds);
    copy.advance(bytes);
    copy.issue(0);
  };
  EXPECT_TRUE(testing_exec::is_refused("what is not inside of the tensor",
                                       [&] { run<moved>(arch::gfx950::value, kernel, bytes); }));
}

}  // namespace
}  // namespace tilewright
