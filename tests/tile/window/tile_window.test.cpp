// SPDX-License-Identifier: MIT
// Windows: vectors, addresses, and that moving one equals making a new one.
#include "../on_cpu.hpp"

#include <tilewright/core/descriptor/transform_descriptor.hpp>
#include <tilewright/core/lds/layout_presets.hpp>

#include <gtest/gtest.h>

namespace tilewright {
namespace {

using namespace testing_tiles;
using distribution = by_rows<64>;
constexpr auto lengths = lengths_of<distribution>();

template <class View>
using window_of = decltype(make_tile_window(View{}, lengths, {}, distribution{}));

template <class... Transforms>
auto transformed(const auto& matrix, Transforms... transforms) {
  return transform_tensor_descriptor(matrix, make_tuple(transforms...), make_tuple(sequence<0>{}, sequence<1>{}),
                                     make_tuple(sequence<0>{}, sequence<1>{}));
}

/// Byte addresses of a window's accesses, counted from the start of `memory`; -1 where it is outside of the tensor.
template <class Window>
std::vector<long_index_t> addresses(const Window& window, const half_t* memory) {
  std::vector<long_index_t> result;
  const long_index_t begin = window.view.buffer.base - reinterpret_cast<const char*>(memory);
  for (const index_t offset : checked_offsets(window)) {
    result.push_back(offset == exec::out_of_bounds_offset ? -1 : begin + offset);
  }
  return result;
}

template <class Descriptor>
void expect_moving_equals_making(const Descriptor& descriptor, const std::vector<multi_index<2>>& steps) {
  const std::vector<half_t> memory(std::size_t(descriptor.get_element_space_size()));
  run<distribution>(arch::gfx942::value, [&] {
    const auto view = make_tensor_view<address_space_enum::global>(memory.data(), descriptor);
    multi_index<2> origin{};
    auto window = make_tile_window(view, lengths, origin, distribution{});
    for (const multi_index<2>& step : steps) {
      origin = sum(origin, step);
      move_tile_window(window, step);
      const auto anew = make_tile_window(view, lengths, origin, distribution{});
      EXPECT_EQ(window.origin, anew.origin);
      EXPECT_EQ(addresses(window, memory.data()), addresses(anew, memory.data()));
      EXPECT_EQ(window.view.buffer.bytes - anew.view.buffer.bytes, anew.view.buffer.base - window.view.buffer.base)
          << "the end stays where it is";
    }
  });
}

const std::vector<multi_index<2>> steps{{{32, 0}}, {{0, 32}}, {{-64, 64}}, {{96, -128}}, {{-64, 32}}};

// (rows, 3 * 40) as (rows, merge(3, 40)) of a padded tensor: run-time lengths, 8 of them guaranteed.
TEST(TileWindow, SaysWhereItStepsLinearlyAndKeepsPromisesThroughMerge) {
  const auto cube = make_naive_tensor_descriptor(make_tuple(100, 3, 40), make_tuple(120, 40, number<1>{}), number<8>{});
  const auto merged = transform_tensor_descriptor(
      cube, make_tuple(make_right_pad_transform(100, 28), make_merge_transform(make_tuple(3, 40))),
      make_tuple(sequence<0>{}, sequence<1, 2>{}), make_tuple(sequence<0>{}, sequence<1>{}));
  using window = window_of<tensor_view<address_space_enum::global, half_t, std::remove_const_t<decltype(merged)>>>;
  static_assert(detail::step_along(window::graph, 0).is_linear && !detail::step_along(window::graph, 1).is_linear);
  static_assert(window::vector_length == 8);
  require_vector<8>(window{});
  expect_moving_equals_making(merged, steps);
}

TEST(TileWindow, MovingEqualsMakingAnew) {
  const auto matrix = make_naive_tensor_descriptor(make_tuple(100, 72), make_tuple(80, number<1>{}), number<8>{});
  expect_moving_equals_making(matrix, steps);
  expect_moving_equals_making(
      make_naive_tensor_descriptor(make_tuple(number<96>{}, number<72>{}), make_tuple(number<1>{}, number<104>{})),
      steps);
  expect_moving_equals_making(
      transformed(matrix, make_pad_transform(100, 3, 1), make_left_pad_transform(72, number<8>{})), steps);
  const auto cube = make_naive_tensor_descriptor_packed(make_tuple(20, 5, 64));
  const auto merged = transform_tensor_descriptor(
      cube, make_tuple(make_merge_transform(make_tuple(20, 5)), make_pass_through_transform(64)),
      make_tuple(sequence<0, 1>{}, sequence<2>{}), make_tuple(sequence<0>{}, sequence<1>{}));
  expect_moving_equals_making(merged, {{{32, 0}}, {{7, 32}}, {{-39, 0}}});
}

TEST(TileWindow, HoldsOneAddressWhereTheOthersDifferByConstants) {
  const auto static_lds = make_tensor_view<address_space_enum::lds, half_t>(
      exec::lds_pointer{},
      make_naive_tensor_descriptor(make_tuple(number<64>{}, number<32>{}), make_tuple(number<40>{}, number<1>{})));
  using window = window_of<decltype(static_lds)>;
  static_assert(window::num_bases == 1 && window::rule == address_rule::constant_steps && window::vector_length == 8);
  const auto swizzled = make_tensor_view<address_space_enum::lds, half_t>(
      exec::lds_pointer{}, make_lds_index_swapping_descriptor<32, 8, 2, 64, half_t>());
  static_assert(window_of<decltype(swizzled)>::rule == address_rule::xor_groups);
}

// A window into LDS: its addresses are those of the descriptor,
// for every access of every thread and every window of the tile's size.
TEST(TileWindow, AddressesInSwizzledLds) {
  constexpr auto layout = make_lds_index_swapping_descriptor<64, 8, 1, 96, half_t>();
  const auto where = positions<distribution>();
  run<distribution>(arch::gfx942::value, [&] {
    const auto view = make_tensor_view<address_space_enum::lds, half_t>(exec::lds_pointer{512}, layout);
    auto window = make_tile_window(view, lengths, {}, distribution{});
    using window_type = decltype(window);
    multi_index<2> origin{};
    for (const multi_index<2> step :
         {multi_index<2>{{0, 0}}, multi_index<2>{{32, 0}}, multi_index<2>{{32, 32}}, multi_index<2>{{-64, 0}}}) {
      move_tile_window(window, step);
      origin = sum(origin, step);
      const auto offsets = window.offsets(typename window_type::access_sequence{});
      for (index_t i = 0; i < window_type::num_access; ++i) {
        const auto& position = where[std::size_t(exec::thread_id() * distribution::num_elements +
                                                 window_type::accesses::list.first_register[i])];
        EXPECT_EQ(window.view.buffer.byte + offsets[i], 512 + 2 * layout.calculate_offset(sum(origin, position)));
      }
    }
  });
}

// Rows that a table names: those of experts, or pages of a cache. A row that does not exist reads as zeros.
TEST(TileWindow, ReadsRowsThatATableNames) {
  using rows = tile_distribution<copies::along_rows(8, 32, 1, 64, 4)>;
  const auto memory = numbered<element>(40 * 32);
  const multi_index<8> table{{3, 39, -1, 0, 12, 12, 7, -1}};
  const auto where = positions<rows>();
  run<rows>(arch::gfx942::value, [&] {
    const auto matrix = make_naive_tensor_view<address_space_enum::global>(memory.data(), make_tuple(40, 32),
                                                                           make_tuple(32, number<1>{}), number<4>{});
    const auto picked = transform_tensor_view(
        matrix, make_tuple(make_indexing_transform(number<8>{}, table), make_pass_through_transform(32)),
        make_tuple(sequence<0>{}, sequence<1>{}), make_tuple(sequence<0>{}, sequence<1>{}));
    const auto window = make_tile_window(picked, lengths_of<rows>(), {0, 0}, rows{});
    static_assert(window.vector_length == 4);
    const auto tile = load_tile(window);
    for (index_t d = 0; d < rows::num_elements; ++d) {
      const auto x = where[std::size_t(exec::thread_id() * rows::num_elements + d)];
      const index_t row = table[x[0]];
      if (tile.thread_buffer[d] != (row < 0 ? element(0) : memory[std::size_t(row * 32 + x[1])]))
        throw std::runtime_error("wrong element of row " + std::to_string(row));
    }
  });
}

}  // namespace
}  // namespace tilewright
