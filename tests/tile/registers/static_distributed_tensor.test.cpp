// SPDX-License-Identifier: MIT
// Tiles in registers.
#include <tilewright/tile/registers/elementwise.hpp>

#include <gtest/gtest.h>

namespace tilewright {
namespace {

using distribution = tile_distribution<
    tile_distribution_encoding<sequence<>, tuple<sequence<4, 2>, sequence<2, 3>>, tuple<sequence<1, 2>>,
                               tuple<sequence<0, 0>>, sequence<1, 2>, sequence<1, 1>>::value>;

TEST(StaticDistributedTensor, HoldsWhatOneThreadOwns) {
  auto tile = make_static_distributed_tensor<float>(distribution{});
  static_assert(tile.size() == 6 && sizeof(tile) == 32 && alignof(decltype(tile)) == 16);
  for (index_t d = 0; d < 6; ++d) tile.get_thread_buffer()[d] = float(10 + d);
  for (index_t i = 0; i < 2; ++i) {
    for (index_t j = 0; j < 3; ++j) EXPECT_EQ((tile[{{i, j}}]), float(10 + 3 * i + j));
  }
  tile[{{1, 1}}] = 99;
  EXPECT_EQ(tile.thread_buffer[4], 99);
}

constexpr float sum_of_converted() {
  static_distributed_tensor<float, distribution> tile{};
  set_tile(tile, 1.5f);
  const auto halves = cast_tile<half_t>(tile);
  static_assert(__is_same(decltype(halves)::element_type, half_t));
  const auto twice = tile_elementwise_in([](half_t h) { return 2 * float(h); }, halves);
  static_assert(__is_same(decltype(twice)::element_type, float) &&
                __is_same(decltype(twice)::distribution_type, distribution));
  float sum = 0;
  for (const float value : twice.thread_buffer) sum += value;
  return sum;
}

/// Three elements for each thread: no pairs of 8-bit numbers.
using three =
    tile_distribution<tile_distribution_encoding<sequence<>, tuple<sequence<8>, sequence<3>>, tuple<sequence<1>>,
                                                 tuple<sequence<0>>, sequence<2>, sequence<0>>::value>;
template <class Distribution>
constexpr float sum_of_8_bits() {
  static_distributed_tensor<float, Distribution> tile{}, other{};
  set_tile(tile, 1.0f);
  set_tile(other, 2.0f);
  tile_elementwise_inout([](float& a, float& b) { b += a++; }, tile, other);
  float sum = 0;
  for (const fp8_ocp_t value : cast_tile<fp8_ocp_t>(tile).thread_buffer) sum += float(value);
  for (const float value : other.thread_buffer) sum += value;
  return sum;
}

TEST(StaticDistributedTensor, ElementwiseFunctions) {
  static_assert(sum_of_converted() == 18);
  static_assert(sum_of_8_bits<distribution>() == 30 && sum_of_8_bits<three>() == 15);
}

}  // namespace
}  // namespace tilewright
