// SPDX-License-Identifier: MIT
// Windows as text, letter by letter.
#include "../tile/on_cpu.hpp"

#include <tilewright/core/descriptor/transform_descriptor.hpp>
#include <tilewright/core/lds/layout_presets.hpp>
#include <tilewright/viz/window_text.hpp>

#include <gtest/gtest.h>

namespace tilewright {
namespace {

using namespace testing_tiles;
using tile_type = by_columns<64>;

TEST(PrintTileWindowRange, ShowsElementsAndWhatLiesOutside) {
  std::vector<float> memory(6 * 40);
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = float(i) / 2;
  run<tile_type>(arch::gfx942::value, [&] {
    if (exec::thread_id() != 0) return;
    const auto view = make_naive_tensor_view<address_space_enum::global>(
        memory.data(), make_tuple(index_t(6), number<40>{}), make_tuple(number<40>{}, number<1>{}), number<1>{});
    const std::string expected = "A window range [2:5, 30:33] (origin 2, 8)\n99 99.5 .\n119 119.5 .\n. . .\n";
    const auto distributed = make_tile_window(view, lengths_of<tile_type>(), {2, 8}, tile_type{});
    const auto plain = make_tile_window(view, lengths_of<tile_type>(), {2, 8});
    EXPECT_EQ(tile_window_range_text(distributed, 2, 5, 30, 33, "A"), expected);
    EXPECT_EQ(tile_window_range_text(plain, 2, 5, 30, 33, "A"), expected);
    testing::internal::CaptureStdout();
    print_tile_window_range(plain, 0, 1, 0, 2);
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "window range [0:1, 0:2] (origin 2, 8)\n44 44.5\n");
  });
}

// LDS is read as it is: not counted, and not checked.
TEST(PrintTileWindowRange, OfSwizzledLds) {
  constexpr auto layout = make_lds_index_swapping_descriptor<32, 8, 2, 32, half_t>();
  const emulator::launch_report report = run<tile_type>(
      arch::gfx942::value,
      [&] {
        const exec::lds_pointer lds = exec::lds_allocate<4096>();
        if (exec::thread_id() != 0) return;
        for (index_t c = 0; c < 32; ++c)
          exec::lds_store(lds, 1024 + layout.calculate_offset({3, c}) * 2, half_t(float(c)));
        const auto view = make_tensor_view<address_space_enum::lds, half_t>(lds + 1024, layout);
        EXPECT_EQ(
            tile_window_range_text(make_tile_window(view, lengths_of<tile_type>(), {0, 0}, tile_type{}), 3, 4, 7, 10),
            "window range [3:4, 7:10] (origin 0, 0)\n7 8 9\n");
      },
      4096);
  EXPECT_EQ(report.of(arch::lds_op::read_b16).executions, 0);
}

TEST(PrintTileWindowRange, OfLdsOutsideOfAKernel) {
  const tile_window_with_static_lengths<
      tensor_view<address_space_enum::lds, float,
                  decltype(make_naive_tensor_descriptor_packed(make_tuple(number<2>{}, number<2>{})))>,
      number<2>, number<2>>
      window{{{0}, make_naive_tensor_descriptor_packed(make_tuple(number<2>{}, number<2>{}))}, {}};
  EXPECT_THROW((void)tile_window_range_text(window, 0, 1, 0, 1), emulator::fault);
}

}  // namespace
}  // namespace tilewright
