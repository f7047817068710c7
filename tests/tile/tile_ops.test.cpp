// SPDX-License-Identifier: MIT
// Every tile operation on the CPU emulator, as every target.
#include "../device/tile_ops_problem.hpp"

#include <tilewright/core/arch/arch.hpp>
#include <tilewright/machine/emulator/launch.hpp>

#include <gtest/gtest.h>

namespace {

namespace tw = tilewright;

TEST(TileOps, OnTheCpuAsEveryTarget) {
  for (const tw::arch::target* target : tw::arch::all_targets) {
    tile_ops::problem problem;
    const tile_ops::arguments args = problem.args();
    tw::emulator::launch(
        {.target = target, .block_size = 2 * target->wave_size, .lds_bytes = tile_ops::lds_bytes, .workers = 1}, [&] {
          if (target->wave_size == 64) {
            tile_ops::run<64>(args);
          } else {
            tile_ops::run<32>(args);
          }
        });
    EXPECT_EQ(problem.first_difference(), "") << target->name;
  }
}

template <class... Tiles>
concept Elementwise =
    requires(Tiles... tiles) { tw::tile_elementwise_in([](auto x, auto...) { return x; }, tiles...); };
using tile = tw::static_distributed_tensor<
    int, tw::tile_distribution<tw::tile_distribution_encoding<tw::sequence<>, tw::tuple<tw::sequence<4>>, tw::tuple<>,
                                                              tw::tuple<>, tw::sequence<1>, tw::sequence<0>>::value>>;

TEST(TileOps, ElementwiseFunctionsTakeTiles) {
  static_assert(Elementwise<tile> && Elementwise<tile, tile>);
  static_assert(!Elementwise<int> && !Elementwise<tile, int>);
}

}  // namespace
