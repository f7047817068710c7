// SPDX-License-Identifier: MIT
// Moving a window, of any kind, gives the window that would be made at the new origin; impossible origins are refused.
#include "on_cpu.hpp"

#include <tilewright/core/descriptor/transform_descriptor.hpp>
#include <tilewright/core/lds/layout_presets.hpp>
#include <tilewright/tile/copy/async_load.hpp>

#include <gtest/gtest.h>

#include <random>
#include <regex>
#include <string>

namespace tilewright {
namespace {

using namespace testing_tiles;

/// Offsets of all accesses from the beginning of memory, or -1 outside of the tensor.
template <class Window>
std::vector<long_index_t> places_of(const Window& window, const void* memory) {
  std::vector<long_index_t> places;
  for (const index_t offset : checked_offsets(window)) {
    places.push_back(offset == exec::out_of_bounds_offset
                         ? -1
                         : window.view.buffer.base - static_cast<const char*>(memory) + offset);
  }
  return places;
}

/// make(origin) makes a window; moved step by step it must access what a new one accesses,
/// and what the descriptor says.
template <class Make, class Descriptor>
void expect_moves(const char* what, const Descriptor& descriptor, const element* memory, multi_index<2> origin,
                  const std::vector<multi_index<2>>& steps, Make make) {
  SCOPED_TRACE(what);
  const auto where = positions<tile_type>();
  run<tile_type>(arch::gfx942::value, [&] {
    auto window = make(origin);
    multi_index<2> at = origin;
    for (const auto& step : steps) {
      move_tile_window(window, step);
      at = sum(at, step);
      const auto moved = places_of(window, memory);
      if (moved != places_of(make(at), memory)) throw std::runtime_error("a moved window differs from a new one");
      const auto tile = load_tile(window);
      for (index_t d = 0; d < tile_type::num_elements; ++d) {
        const auto x = sum(at, where[std::size_t(exec::thread_id() * tile_type::num_elements + d)]);
        const element expected = descriptor.is_valid(x) ? memory[descriptor.calculate_offset(x)] : element(0);
        if (tile.thread_buffer[d] != expected)
          throw std::runtime_error("wrong element " + std::to_string(x[0]) + ", " + std::to_string(x[1]));
      }
    }
  });
}

const std::vector<multi_index<2>> steps{{{32, 0}}, {{-32, 32}}, {{64, 64}}, {{-96, -128}}, {{32, 32}}, {{0, 0}}};

template <class Descriptor>
void expect_plain_moves(const char* what, const std::vector<element>& memory, const Descriptor& descriptor,
                        const multi_index<2>& origin, const std::vector<multi_index<2>>& by) {
  expect_moves(what, descriptor, memory.data(), origin, by, [&](const multi_index<2>& at) {
    return make_tile_window(make_tensor_view<global>(memory.data(), descriptor), lengths, at, tile_type{});
  });
}
auto rows_of(index_t m, index_t k, index_t pitch) {
  return make_naive_tensor_descriptor(make_tuple(m, k), make_tuple(pitch, number<1>{}), number<8>{});
}
auto columns_of(index_t m, index_t k, index_t pitch) {
  return make_naive_tensor_descriptor(make_tuple(m, k), make_tuple(number<1>{}, pitch));
}
/// Rows are merged of a x b, so they are not linear; columns are, with a stride of compile time.
auto merged_rows_of(index_t a, index_t b) {
  return transform_tensor_descriptor(
      make_naive_tensor_descriptor_packed(make_tuple(a, b, number<160>{})),
      make_tuple(make_merge_transform(make_tuple(a, b)), make_pass_through_transform(number<160>{})),
      make_tuple(sequence<0, 1>{}, sequence<2>{}), make_tuple(sequence<0>{}, sequence<1>{}));
}

TEST(MoveTileWindow, OfPlainWindows) {
  const auto memory = numbered<element>(128 * 160);
  expect_plain_moves(
      "static", memory,
      make_naive_tensor_descriptor(make_tuple(number<128>{}, number<160>{}), make_tuple(number<160>{}, number<1>{})),
      {32, 32}, steps);
  expect_plain_moves("rows", memory, rows_of(128, 160, 160), {32, 32}, steps);
  expect_plain_moves("columns", memory, columns_of(128, 160, 128), {32, 32}, steps);
  expect_plain_moves("swizzled", memory, make_lds_index_swapping_descriptor<64, 8, 1, 128, element>(), {32, 32}, steps);
  expect_plain_moves("merged", memory, merged_rows_of(5, 25), {32, 32}, steps);
}

// Random lengths, pitches, origins and steps; only rows, which are loaded in vectors, need multiples of the vector.
TEST(MoveTileWindow, OfRandomTensors) {
  const auto memory = numbered<element>(200 * 200);
  std::mt19937 random(7);
  const auto number_in = [&](index_t first, index_t last) {
    return std::uniform_int_distribution<index_t>(first, last)(random);
  };
  for (int round = 0; round < 40; ++round) {
    const index_t m = number_in(1, 190), k = number_in(1, 190);
    multi_index<2> any{{number_in(-60, 150), number_in(-60, 150)}};
    std::vector<multi_index<2>> by(4);
    for (auto& step : by) step = {{number_in(-80, 80), number_in(-80, 80)}};
    const auto whole = [](index_t i) { return i / 8 * 8; };
    const multi_index<2> aligned{{any[0], whole(any[1])}};
    auto aligned_steps = by;
    for (auto& step : aligned_steps) step[1] = whole(step[1]);
    expect_plain_moves("columns", memory, columns_of(m, k, number_in(m, 200)), any, by);
    const index_t eights = detail::round_up<index_t>(k, 8), pitch = number_in(eights / 8, 25) * 8;
    expect_plain_moves("rows", memory, rows_of(detail::round_up<index_t>(m, 8), eights, pitch), aligned, aligned_steps);
    const index_t a = number_in(1, 14), b = number_in(1, 200 / a);
    expect_plain_moves("merged", memory, merged_rows_of(a, b), aligned, aligned_steps);
  }
}

TEST(MoveTileWindow, OfWindowsWithoutThreads) {
  const auto memory = numbered<element>(128 * 160);
  const auto descriptor = make_naive_tensor_descriptor_packed(make_tuple(index_t(128), index_t(160)));
  const auto view = make_tensor_view<global>(memory.data(), descriptor);
  auto window = make_tile_window(view, lengths, {32, 64});
  static_assert(window.get_window_lengths() == multi_index<2>{{32, 32}});
  move_tile_window(window, {-32, 8});
  EXPECT_EQ(window.get_window_origin(), (multi_index<2>{{0, 72}}));
  run<tile_type>(arch::gfx942::value, [&] {
    const auto distributed = make_tile_window(window, tile_type{});
    if (places_of(distributed, memory.data()) !=
        places_of(make_tile_window(view, lengths, {0, 72}, tile_type{}), memory.data()))
      throw std::runtime_error("not the window at {0, 72}");
  });
}

TEST(SetWindowOrigin, AndOtherTensors) {
  const auto memory = numbered<element>(128 * 160);
  const auto descriptor = make_naive_tensor_descriptor_packed(make_tuple(index_t(128), index_t(160)));
  const auto smaller =
      make_naive_tensor_descriptor(make_tuple(index_t(50), index_t(90)), make_tuple(index_t(200), number<1>{}));
  run<tile_type>(arch::gfx942::value, [&] {
    const auto view = make_tensor_view<global>(memory.data(), descriptor);
    auto window = make_tile_window(view, lengths, {32, 64}, tile_type{});
    set_window_origin(window, {64, 8});
    if (places_of(window, memory.data()) !=
        places_of(make_tile_window(view, lengths, {64, 8}, tile_type{}), memory.data()))
      throw std::runtime_error("not the window at {64, 8}");
    set_window_origin(window, {24, 80});
    const auto other_view = make_tensor_view<global>(memory.data() + 5, smaller);
    const auto other = replace_bottom_tensor_view(other_view, window);
    if (places_of(other, memory.data()) !=
        places_of(make_tile_window(other_view, lengths, {24, 80}, tile_type{}), memory.data()))
      throw std::runtime_error("not the window of the other tensor");
  });
}

template <class Kernel>
std::string fault_of(Kernel kernel) {
  try {
    run<tile_type>(arch::gfx942::value, kernel, 64 * 64 * 2);
  } catch (const emulator::fault& fault) {
    return std::regex_replace(fault.what(), std::regex(", \\w[\\w.]*:[0-9]+:"), ":");  // without the line
  }
  return "";
}

TEST(TileWindow, RefusesOriginsThatItsAddressesDoNotAllow) {
  const auto memory = numbered<element>(64 * 64);
  constexpr auto swizzled = make_lds_index_swapping_descriptor<64, 8, 1, 64, element>();
  const std::string whole_tiles =
      "thread 0 of block (0, 0, 0): tile_window: the view is swizzled, so the origin must be a multiple of the "
      "window's lengths in each dimension";
  EXPECT_EQ(fault_of([&] {
              (void)make_tile_window(make_tensor_view<global>(memory.data(), swizzled), lengths, {32, 8}, tile_type{});
            }),
            whole_tiles);
  EXPECT_EQ(fault_of([&] {
              auto window =
                  make_tile_window(make_tensor_view<global>(memory.data(), swizzled), lengths, {0, 0}, tile_type{});
              move_tile_window(window, {32, 0});
              move_tile_window(window, {8, 0});
            }),
            whole_tiles);
  const auto rows = make_naive_tensor_descriptor_packed(make_tuple(index_t(64), number<64>{}));
  EXPECT_NE(fault_of([&] {
              (void)make_tile_window(make_tensor_view<global>(memory.data(), rows), lengths, {3, 4}, tile_type{});
            }).find("the origin must be a multiple of the vector's length along the vectors"),
            std::string::npos);
  EXPECT_EQ(fault_of([&] {
              (void)make_tile_window(make_tensor_view<global>(memory.data(), rows), lengths, {3, 8}, tile_type{});
            }),
            "");
}

TEST(TileWindow, RefusesBlocksThatTheDistributionDoesNotShareTheTileAmong) {
  const auto memory = numbered<element>(64 * 64);
  const auto rows = make_naive_tensor_descriptor_packed(make_tuple(index_t(64), number<64>{}));
  const auto fault_in = [&](const arch::target& target, index_t block_size) -> std::string {
    try {
      emulator::launch({.target = &target, .grid = {1, 1, 1}, .block_size = block_size}, [&] {
        (void)make_tile_window(make_tensor_view<global>(memory.data(), rows), lengths, {0, 0}, tile_type{});
      });
    } catch (const emulator::fault& fault) {
      return std::regex_replace(fault.what(), std::regex(", \\w[\\w.]*:[0-9]+:"), ":");
    }
    return "";
  };
  constexpr index_t threads = tile_type::num_threads();
  EXPECT_EQ(fault_in(arch::gfx942::value, threads), "");
  // Waves after those that share the tile may do other things, but not this.
  for (const index_t other : {threads / 2, 2 * threads}) {
    EXPECT_EQ(fault_in(arch::gfx942::value, other),
              "thread " + std::to_string(other > threads ? threads : 0) +
                  " of block (0, 0, 0): tile_window: the block has another number of waves than the distribution; "
                  "launch as many threads as it distributes to");
  }
  EXPECT_NE(fault_in(arch::gfx1201::value, threads).find("the block has another number of waves"), std::string::npos);
  using for_waves_of_32 = decltype(make_static_tile_distribution(
      tile_distribution_encoding<sequence<>, tuple<sequence<32>, sequence<8>>, tuple<sequence<1>>, tuple<sequence<0>>,
                                 sequence<2>, sequence<0>>{}));
  EXPECT_NE(fault_of([&] {
              (void)make_tile_window(make_tensor_view<global>(memory.data(), rows),
                                     make_tuple(number<32>{}, number<8>{}), {0, 0}, for_waves_of_32{});
            }).find("the target's waves have more lanes than the distribution; distribute over its wave size"),
            std::string::npos);
}

TEST(TensorView, RefusesRunTimeLengthsThatBreakTheirPromise) {
  const auto memory = numbered<element>(64 * 64);
  const auto view = [&](index_t rows, index_t cols, index_t pitch) {
    (void)make_naive_tensor_view<global>(memory.data(), make_tuple(rows, cols), make_tuple(pitch, number<1>{}),
                                         number<8>{});
  };
  EXPECT_EQ(fault_of([&] { view(9, 40, 64); }), "");
  const std::string broken =
      "thread 0 of block (0, 0, 0): make_naive_tensor_view: the contiguous length or a stride is no multiple of the "
      "vector that was guaranteed; guarantee less, or make the rows longer";
  EXPECT_EQ(fault_of([&] { view(8, 41, 64); }), broken);
  EXPECT_EQ(fault_of([&] { view(8, 40, 44); }), broken);
  EXPECT_EQ(fault_of([&] {
              (void)make_naive_tensor_view_packed<global>(memory.data(), make_tuple(index_t(8), index_t(41)),
                                                          number<8>{});
            }),
            broken);
}

}  // namespace
}  // namespace tilewright
