// SPDX-License-Identifier: MIT
// Views padded to whole tiles.
#include "../../tile/on_cpu.hpp"

#include <tilewright/compat/ck_tile/pad_tensor_view.hpp>

#include <gtest/gtest.h>

namespace tilewright {
namespace {

using namespace testing_tiles;

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

}  // namespace
}  // namespace tilewright
