// SPDX-License-Identifier: MIT
// Windows on rows whose pages are anywhere in a pool, and rows that are further apart than 32-bit offsets reach.
#include "../on_cpu.hpp"
#include "../sparse_memory.hpp"

#include <tilewright/tile/copy/async_load.hpp>
#include <tilewright/tile/copy/update.hpp>
#include <tilewright/tile/window/tile_scatter_gather.hpp>

#include <gtest/gtest.h>

#include <string>

namespace tilewright {
namespace {

using namespace testing_tiles;
using one_row = by_rows<64>;  // of a tile, in each thread
using several_rows = by_columns<64>;

/// Every element of windows that walk along a sequence of pages, whatever is known at compile time.
template <class Tile, class RowsPerPage, class Descriptor>
void expect_pages(const Descriptor& pool, RowsPerPage rows_per_page) {
  const index_t per_page = rows_per_page, num_rows = 6 * per_page - 2;
  const auto memory = numbered<unsigned short>(std::size_t(pool.get_element_space_size()));
  const std::vector<index_t> pages{3, 0, -1, 7, 5, 1};
  const auto where = positions<Tile>();
  const auto element = [&](index_t row, index_t col) -> unsigned short {
    if (row < 0 || row >= num_rows || pages[std::size_t(row / per_page)] < 0) return 0;
    const multi_index<2> index{{pages[std::size_t(row / per_page)] * per_page + row % per_page, col}};
    return pool.is_valid(index) ? memory[std::size_t(pool.calculate_offset(index))] : static_cast<unsigned short>(0);
  };
  run<Tile>(arch::gfx942::value, [&] {
    const page_table table{pages.data(), num_rows, rows_per_page};
    const auto view = make_tensor_view<global>(memory.data(), pool);
    const auto check = [&](auto window) {
      multi_index<2> at{{-16, 0}};
      for (index_t step = 0; step < 6; ++step) {
        if (window.get_window_origin() != at) throw std::runtime_error("wrong origin");
        const auto tile = load_tile(window);
        for (index_t d = 0; d < Tile::num_elements; ++d) {
          const auto x = where[std::size_t(exec::thread_id() * Tile::num_elements + d)];
          if (tile.thread_buffer[d] != element(at[0] + x[0], at[1] + x[1]))
            throw std::runtime_error("wrong element " + std::to_string(at[0] + x[0]) + ", " +
                                     std::to_string(at[1] + x[1]));
        }
        const multi_index<2> move{{step % 3 == 1 ? 0 : step == 2 ? 1 : 24, step % 2 == 0 ? 32 : -32}};
        move_tile_window(window, move);
        at = sum(at, move);
      }
    };
    if constexpr (std::is_same_v<Tile, one_row>) {
      check(make_paged_tile_window(view, lengths, {-16, 0}, Tile{}, table, number<0>{}));
    } else {
      check(make_paged_tile_window(view, lengths, {-16, 0}, Tile{}, table, number<0>{}, near_rows{}));
    }
  });
}

TEST(PagedTileWindow, WalksAlongTheSequence) {
  expect_pages<one_row>(make_naive_tensor_descriptor(make_tuple(index_t(128), index_t(64)),
                                                     make_tuple(index_t(72), number<1>{}), number<8>{}),
                        number<16>{});
  expect_pages<several_rows>(make_naive_tensor_descriptor_packed(make_tuple(number<40>{}, number<64>{})), number<5>{});
  expect_pages<several_rows>(
      make_naive_tensor_descriptor(make_tuple(index_t(56), index_t(64)), make_tuple(number<1>{}, index_t(56))),
      index_t(7));
  // The pool in pages of 8 rows, merged to rows at run time: not linear.
  expect_pages<one_row>(
      transform_tensor_descriptor(
          make_naive_tensor_descriptor(make_tuple(index_t(8), index_t(8), number<64>{}),
                                       make_tuple(index_t(640), number<64>{}, number<1>{}), number<8>{}),
          make_tuple(make_merge_transform(make_tuple(index_t(8), index_t(8))),
                     make_pass_through_transform(number<64>{})),
          make_tuple(sequence<0, 1>{}, sequence<2>{}), make_tuple(sequence<0>{}, sequence<1>{})),
      number<8>{});
}

TEST(PagedTileWindow, WritesOnlyPagesThatAreThere) {
  std::vector<float> pool(std::size_t(8 * 16 * 32), -1.0f);
  const std::vector<index_t> pages{5, -1, 2};
  const auto where = positions<tile_type>();
  run<tile_type>(arch::gfx942::value, [&] {
    const auto view = make_tensor_view<global>(
        pool.data(), make_naive_tensor_descriptor(make_tuple(index_t(128), number<32>{}),
                                                  make_tuple(index_t(32), number<1>{}), number<4>{}));
    static_distributed_tensor<float, tile_type> tile;
    for (index_t d = 0; d < tile_type::num_elements; ++d)
      tile.thread_buffer[d] = float(where[std::size_t(exec::thread_id() * tile_type::num_elements + d)][0]);
    auto window = make_paged_tile_window(view, lengths, {0, 0}, tile_type{}, page_table{pages.data(), 40, number<16>{}},
                                         number<0>{});
    store_tile(window, tile);
    move_tile_window(window, {32, 0});
    update_tile<memory_operation_enum::atomic_add>(window, tile);
  });
  for (index_t row = 0; row < 128; ++row) {
    // Rows 0 to 15 of the sequence were set, rows 32 to 39 added to.
    const index_t page = row / 16, in_page = row % 16;
    const float expected = page == 5 ? float(in_page) : page == 2 && in_page < 8 ? float(in_page) - 1.0f : -1.0f;
    for (index_t col = 0; col < 32; ++col) ASSERT_EQ(pool[std::size_t(row * 32 + col)], expected) << row << ", " << col;
  }
}

TEST(LoadPageIndices, OfATableThatHasEnded) {
  const std::vector<index_t> table{5, 6, 7};
  const auto view = make_tensor_view<global>(
      static_cast<const float*>(nullptr), make_naive_tensor_descriptor_packed(make_tuple(number<40>{}, number<64>{})));
  using view_type = std::remove_const_t<decltype(view)>;
  run<tile_type>(arch::gfx942::value, [&] {
    for (const index_t length : {0, -3}) {
      for (const index_t index : load_page_indices<view_type, 0>(table.data(), length, 0, tile_type{}))
        if (index != -1) throw std::runtime_error("index " + std::to_string(index));
    }
  });
}

constexpr index_t far_rows = 40, far_stride = 1 << 26;  // floats: 10 GiB in all
constexpr index_t picked[] = {39, 0, 8, 7, 36, 35, -1, 40, 33, 32};

TEST(TileScatterGather, ReachesRowsBeyondTwoGigabytes) {
  sparse_memory memory(std::size_t(far_rows) * far_stride * 4);
  for (index_t row = 0; row < far_rows; ++row) {
    for (index_t col = 0; col < 32; ++col)
      memory.data<float>()[long_index_t(row) * far_stride + col] = float(row * 32 + col + 1);
  }
  const auto where = positions<tile_type>();
  const auto row_of = [](index_t x) { return x < 10 ? picked[x] : x % far_rows; };
  run<tile_type>(arch::gfx942::value, [&] {
    const auto view = make_tensor_view<global>(
        memory.data<float>(), make_naive_tensor_descriptor(make_tuple(far_rows, number<32>{}),
                                                           make_tuple(far_stride, number<1>{}), number<4>{}));
    using view_type = std::remove_const_t<decltype(view)>;
    std::vector<index_t> table;
    for (index_t i = 0; i < 32; ++i) table.push_back(row_of(i));
    const auto indices = load_page_indices<view_type, 0>(table.data(), 32, 0, tile_type{});
    auto window = make_tile_scatter_gather(view, lengths, {0, 0}, tile_type{}, indices, number<0>{});
    const auto tile = load_tile(window);
    for (index_t d = 0; d < tile_type::num_elements; ++d) {
      const auto x = where[std::size_t(exec::thread_id() * tile_type::num_elements + d)];
      const index_t row = row_of(x[0]);
      const float expected = row < 0 || row >= far_rows ? 0.0f : float(row * 32 + x[1] + 1);
      if (tile.thread_buffer[d] != expected) throw std::runtime_error("wrong element of row " + std::to_string(row));
    }
    exec::block_sync();
    auto twice = tile;
    for (index_t d = 0; d < tile_type::num_elements; ++d) twice.thread_buffer[d] *= 2;
    if (exec::wave_id() == 0) {
      store_tile(window, twice);
    } else {
      update_tile<memory_operation_enum::atomic_add>(window, tile);
    }
  });
  for (const index_t row : picked) {
    if (row < 0 || row >= far_rows) continue;
    for (index_t col = 0; col < 32; ++col)
      ASSERT_EQ(memory.data<float>()[long_index_t(row) * far_stride + col], 2 * float(row * 32 + col + 1)) << row;
  }
}

TEST(TileScatterGather, RefusesAPromiseThatDoesNotHold) {
  sparse_memory memory(std::size_t(far_rows) * far_stride * 4);
  const auto gather = [&](index_t row) {
    run<tile_type>(arch::gfx942::value, [&] {
      const auto view = make_tensor_view<global>(
          memory.data<float>(), make_naive_tensor_descriptor(make_tuple(far_rows, number<32>{}),
                                                             make_tuple(far_stride, number<1>{}), number<4>{}));
      using view_type = std::remove_const_t<decltype(view)>;
      array<index_t, num_page_indices<view_type, tile_type, 0>> indices{};
      for (index_t& index : indices) index = row;
      (void)make_tile_scatter_gather(view, lengths, {0, 0}, tile_type{}, indices, number<0>{}, near_rows{});
    });
  };
  EXPECT_NO_THROW(gather(7));
  try {
    gather(8);
    ADD_FAILURE() << "row 8 begins at byte 2^31";
  } catch (const emulator::fault& fault) {
    EXPECT_NE(std::string(fault.what()).find("a row lies 2^31 bytes or more after the window's start"),
              std::string::npos)
        << fault.what();
  }
}

// Plain windows have 32-bit offsets from their start.
TEST(TileWindow, RefusesRowsThatItsOffsetsDoNotReach) {
  sparse_memory memory(std::size_t(far_rows) * far_stride * 4);
  const auto make = [&](index_t rows, index_t stride) {
    run<tile_type>(arch::gfx942::value, [&] {
      const auto view = make_tensor_view<global>(
          memory.data<float>(),
          make_naive_tensor_descriptor(make_tuple(rows, number<32>{}), make_tuple(stride, number<1>{}), number<4>{}));
      (void)load_tile(make_tile_window(view, lengths, {0, 0}, tile_type{}));
    });
  };
  EXPECT_NO_THROW(make(far_rows, far_stride / 4));  // 32 rows of 64 MiB
  EXPECT_NO_THROW(make(8, far_stride)) << "the others are outside of the tensor";
  try {
    make(far_rows, far_stride);
    ADD_FAILURE() << "row 8 begins at byte 2^31";
  } catch (const emulator::fault& fault) {
    EXPECT_NE(std::string(fault.what()).find("the tile's last element lies 2^31 bytes or more after its first"),
              std::string::npos)
        << fault.what();
  }
}

TEST(TileScatterGather, IsNearWhereTheTensorIsKnownToBeSmall) {
  const auto is_far = [](const auto& descriptor) {
    using view_type = decltype(make_tensor_view<global>(static_cast<float*>(nullptr), descriptor));
    return detail::gather_window_t<view_type, tile_type, 0>::reaches_far;
  };
  EXPECT_FALSE(is_far(make_naive_tensor_descriptor_packed(make_tuple(number<1000>{}, number<64>{}))));
  EXPECT_TRUE(is_far(make_naive_tensor_descriptor_packed(make_tuple(number<(1 << 24)>{}, number<64>{}))));
  EXPECT_TRUE(is_far(make_naive_tensor_descriptor_packed(make_tuple(index_t(1000), number<64>{}))));
}

}  // namespace
}  // namespace tilewright
