// SPDX-License-Identifier: MIT
// Copies of a tile to LDS from places further and further in memory, each lane to a place of its own.
#include "../../machine/emulator/fault_text.hpp"
#include "../on_cpu.hpp"

#include <tilewright/core/lds/swizzled_layout.hpp>
#include <tilewright/tile/copy/repeated_copy.hpp>

#include <gtest/gtest.h>

namespace tilewright {
namespace {

using namespace testing_tiles;
constexpr index_t rows = 64, cols = 64, bytes = rows * cols * 2, tensor_rows = 100, tensor_cols = 200;
using element = unsigned short;
using moved = tile_distribution<copies::along_rows(rows, cols, 4, 32, 8)>;

constexpr swizzled_layout layout = swizzled_rows({rows, cols, 2}, 2 * cols, {1, 4, 2, 0, 1, 0});

/// Copies the tiles at columns 0, 64 and 128 of a tensor to two buffers in turn, each in two parts of a group, with one
/// later group in flight, and compares what LDS holds. The tensor ends after row 100, in the middle of the tile.
TEST(LaneCopy, TilesAlongATensor) {
  const auto data = numbered<element>(tensor_rows * tensor_cols);
  const auto tensor = make_naive_tensor_descriptor(make_tuple(tensor_rows, tensor_cols),
                                                   make_tuple(tensor_cols, number<1>{}), number<8>{});
  const auto where = positions<moved>();
  for (const arch::target* target : {&arch::sm80::value, &arch::sm90::value, &arch::gfx1201::value}) {
    std::vector<element> found(where.size() * 3);
    run<moved>(
        *target,
        [&] {
          const exec::lds_pointer lds = exec::lds_allocate<2 * bytes>();
          const auto view = make_tensor_view<address_space_enum::lds, element>(lds, make_lds_descriptor<layout>());
          const auto to = make_tile_window(view, lengths_of<moved>(), {}, moved{});
          const auto from = make_tile_window(make_tensor_view<address_space_enum::global>(data.data(), tensor),
                                             lengths_of<moved>(), {64, 0}, moved{});
          lane_copy copy(from, to);
          using copy_type = decltype(copy);
          const auto begin = [&](index_t buffer) {
            copy.issue<0, copy_type::num_access / 2>(buffer);
            copy.issue<copy_type::num_access / 2, copy_type::num_access>(buffer);
            exec::async_end_group();
            copy.advance(cols * index_t(sizeof(element)));
          };
          begin(0);
          for (index_t i = 0; i < 3; ++i) {
            if (i < 2) begin((i + 1) % 2 * bytes);
            if (i == 2) exec::async_end_group();
            exec::async_wait_groups<1>();
            exec::block_sync();
            const auto tile = load_tile_with_offset(to, i % 2 * bytes);
            std::copy(
                tile.thread_buffer.begin(), tile.thread_buffer.end(),
                found.begin() + std::ptrdiff_t(i * index_t(where.size())) + exec::thread_id() * moved::num_elements);
            exec::block_sync();
          }
          exec::async_wait_groups<0>();
        },
        2 * bytes);
    for (std::size_t i = 0; i < found.size(); ++i) {
      const auto position = where[i % where.size()];
      const index_t row = 64 + position[0], col = index_t(i / where.size()) * cols + position[1];
      ASSERT_EQ(found[i], row < tensor_rows ? data[std::size_t(row * tensor_cols + col)] : 0)
          << target->name << ", row " << row << ", column " << col;
    }
  }
}

TEST(LaneCopy, RefusesToLeaveTheTensor) {
  const std::vector<element> data(rows * cols, 7);
  constexpr auto packed = make_naive_tensor_descriptor_packed(make_tuple(number<rows>{}, number<cols>{}));
  const auto kernel = [&] {
    const auto to =
        make_tile_window(make_tensor_view<address_space_enum::lds, element>(exec::lds_allocate<bytes>(), packed),
                         lengths_of<moved>(), {}, moved{});
    lane_copy copy(make_tile_window(make_tensor_view<address_space_enum::global>(data.data(), packed),
                                    lengths_of<moved>(), {}, moved{}),
                   to);
    copy.advance(bytes);
    copy.issue(0);
  };
  EXPECT_TRUE(testing_exec::is_refused("what is not inside of the tensor",
                                       [&] { run<moved>(arch::sm80::value, kernel, bytes); }));
}

}  // namespace
}  // namespace tilewright
