// SPDX-License-Identifier: MIT
// Views with other coordinates, loads through functions, tensors that are not there.
#include "on_cpu.hpp"

#include <tilewright/tile/transform_view.hpp>

#include <gtest/gtest.h>

namespace tilewright {
namespace {

using namespace testing_tiles;
using element = unsigned short;
constexpr auto global = address_space_enum::global;
using tile_type = by_rows<64>;
constexpr auto lengths = lengths_of<tile_type>();

TEST(TransformTensorView, ExchangesDimensions) {
  const auto memory = numbered<element>(40 * 50);
  const auto view = make_naive_tensor_view<global>(memory.data(), make_tuple(40, 50), make_tuple(50, number<1>{}));
  const auto transposed =
      transform_tensor_view(view, make_tuple(make_pass_through_transform(50), make_pass_through_transform(40)),
                            make_tuple(sequence<1>{}, sequence<0>{}), make_tuple(sequence<0>{}, sequence<1>{}));
  EXPECT_EQ(transposed.descriptor.calculate_offset({7, 3}), 3 * 50 + 7);
  EXPECT_EQ(transposed.buffer.base, view.buffer.base);
}

TEST(PadTensorView, GivesWholeTilesThatReadAsZero) {
  const auto memory = numbered<element>(40 * 50);
  const auto view = make_naive_tensor_view<global>(memory.data(), make_tuple(40, number<50>{}),
                                                   make_tuple(number<50>{}, number<1>{}));
  const auto padded = pad_tensor_view(view, lengths, sequence<1, 1>{});
  EXPECT_EQ(padded.descriptor.get_lengths(), (multi_index<2>{{64, 64}}));
  EXPECT_EQ(pad_tensor_view(view, lengths, sequence<0, 1>{}).descriptor.get_lengths(), (multi_index<2>{{40, 64}}));
  const auto where = positions<tile_type>();
  run<tile_type>(arch::gfx942::value, [&] {
    const auto tile = load_tile(make_tile_window(padded, lengths, {32, 32}, tile_type{}));
    for (index_t d = 0; d < tile_type::num_elements; ++d) {
      const auto x = sum({{32, 32}}, where[std::size_t(exec::thread_id() * tile_type::num_elements + d)]);
      const element expected = x[0] < 40 && x[1] < 50 ? memory[std::size_t(x[0] * 50 + x[1])] : element(0);
      if (tile.thread_buffer[d] != expected) throw std::runtime_error("wrong element");
    }
  });
}

TEST(LoadTileWithElementwise, CombinesWindows) {
  const auto memory = numbered<element>(32 * 32);
  const auto view = make_naive_tensor_view<global>(memory.data(), make_tuple(32, 32), make_tuple(32, number<1>{}));
  const auto where = positions<tile_type>();
  run<tile_type>(arch::gfx942::value, [&] {
    const auto window = make_tile_window(view, lengths, {}, tile_type{});
    const auto below = make_tile_window(view, lengths, {1, 0}, tile_type{});
    const auto tile = load_tile_with_elementwise(make_tuple(window, below),
                                                 [](element a, element b) { return 100 * int(a) + int(b); });
    for (index_t d = 0; d < tile_type::num_elements; ++d) {
      const auto x = where[std::size_t(exec::thread_id() * tile_type::num_elements + d)];
      const int own = x[0] * 32 + x[1] + 1;
      if (tile.thread_buffer[d] != 100 * own + (x[0] < 31 ? own + 32 : 0)) throw std::runtime_error("wrong element");
    }
  });
}

/// A kernel's body with a bias that may be missing.
template <class Bias>
int last_element(const Bias& bias_view) {
  auto window = make_tile_window(bias_view, lengths, {0, 0}, tile_type{});
  move_tile_window(window, {0, 8});
  set_window_origin(window, {0, 16});
  const multi_index<2> back{{0, -8}}, first{{0, 0}};
  move_tile_window(window, back);
  set_window_origin(window, first);
  const auto bias = load_tile(window, known_inside<0, 1>{});
  if constexpr (is_null_v<std::remove_const_t<decltype(bias)>>) {
    store_tile(window, load_tile(window), known_inside<0>{});
    update_tile<memory_operation_enum::atomic_add>(window, bias);
    return -1;
  } else {
    return bias.thread_buffer[tile_type::num_elements - 1];
  }
}

static_assert(is_null_v<null_tensor_view> && is_null_v<null_tile_window> && is_null_v<null_tensor> && !is_null_v<int>);

TEST(NullTensor, IsIgnored) {
  const std::vector<element> memory(32 * 64, 7);
  int with = 0, without = 0;
  run<tile_type>(arch::gfx942::value, [&] {
    const int one =
        last_element(make_naive_tensor_view<global>(memory.data(), make_tuple(32, 64), make_tuple(64, number<1>{})));
    const int other = last_element(null_tensor_view{});
    if (exec::thread_id() == 0) with = one, without = other;
  });
  EXPECT_EQ(with, 7);
  EXPECT_EQ(without, -1);
}

}  // namespace
}  // namespace tilewright
