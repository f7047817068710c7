// SPDX-License-Identifier: MIT
// Tiles in other distributions: when registers alone can be exchanged, and what is in them then.
#include "../on_cpu.hpp"

#include <tilewright/core/lds/layout_presets.hpp>
#include <tilewright/tile/copy/shuffle_tile.hpp>

#include <gtest/gtest.h>

namespace tilewright {
namespace {

using namespace testing_tiles;

/// 8 x 12 elements over 8 lanes of 12: lane l holds row l. The columns are split and listed as the registers want them.
template <class Columns, class YMajors, class YMinors>
using row_of_each_lane =
    tile_distribution<tile_distribution_encoding<sequence<>, tuple<sequence<8>, Columns>, tuple<sequence<1>>,
                                                 tuple<sequence<0>>, YMajors, YMinors>::value>;
using in_order = row_of_each_lane<sequence<12>, sequence<2>, sequence<0>>;
using strided = row_of_each_lane<sequence<4, 3>, sequence<2, 2>, sequence<1, 0>>;
using transposed_rows =
    tile_distribution<tile_distribution_encoding<sequence<>, tuple<sequence<3, 4>, sequence<8>>, tuple<sequence<2>>,
                                                 tuple<sequence<0>>, sequence<1, 1>, sequence<1, 0>>::value>;

/// 16 x 4 elements over two waves of 8 lanes, whose highest bit decides what the wave does not: row bit 2 or 3.
template <index_t OfWave>
using rows_of_waves = tile_distribution<
    tile_distribution_encoding<sequence<>, tuple<sequence<2, 2, 4>, sequence<4>>, tuple<sequence<1>, sequence<1, 1>>,
                               tuple<sequence<OfWave>, sequence<1 - OfWave, 2>>, sequence<2>, sequence<0>>::value>;

template <class In, class Out, index_t... Order>
constexpr bool is_possible = detail::register_exchange_v<In, Out, Order...>.is_possible;

TEST(ShuffleTile, ExchangesRegistersWithoutOtherThreads) {
  static_distributed_tensor<short, in_order> in;
  for (index_t d = 0; d < 12; ++d) in.thread_buffer[d] = short(d);
  static_distributed_tensor<int, strided> out;
  shuffle_tile(out, in);
  EXPECT_EQ(out.thread_buffer, (array<int, 12>{{0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11}})) << "every third element";
  static_distributed_tensor<short, in_order> back;
  shuffle_tile(back, out);
  EXPECT_EQ(back.thread_buffer, in.thread_buffer);
}

TEST(TransposeTile2d, ExchangesRegistersWithoutOtherThreads) {
  static_distributed_tensor<short, in_order> in;
  for (index_t d = 0; d < 12; ++d) in.thread_buffer[d] = short(d);
  static_distributed_tensor<short, transposed_rows> out;
  transpose_tile2d(out, in);
  EXPECT_EQ(out.thread_buffer, (array<short, 12>{{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11}})) << "every fourth element";
}

TEST(ShuffleTile, KnowsWhenRegistersAloneCannotBeExchanged) {
  static_assert(is_possible<in_order, strided, 0, 1> && is_possible<in_order, transposed_rows, 1, 0>);
  static_assert(!is_possible<in_order, transposed_rows, 0, 1>, "other lengths");
  static_assert(!is_possible<by_rows<64>, by_columns<64>, 0, 1>, "other threads hold an element");
  // Lane l holds row l % 2 * 4 + l / 2.
  using swapped_lanes = tile_distribution<
      tile_distribution_encoding<sequence<>, tuple<sequence<2, 4>, sequence<12>>, tuple<sequence<1, 1>>,
                                 tuple<sequence<1, 0>>, sequence<2>, sequence<0>>::value>;
  static_assert(!is_possible<in_order, swapped_lanes, 0, 1>);
  static_assert(is_possible<rows_of_waves<0>, rows_of_waves<0>, 0, 1>);
  static_assert(!is_possible<rows_of_waves<0>, rows_of_waves<1>, 0, 1>, "the highest bits of lane and wave");
  // A replica of 1 changes nothing, two of them are other threads; so are waves.
  using one_copy =
      tile_distribution<tile_distribution_encoding<sequence<1>, tuple<sequence<8>, sequence<12>>, tuple<sequence<0, 1>>,
                                                   tuple<sequence<0, 0>>, sequence<2>, sequence<0>>::value>;
  using two_copies =
      tile_distribution<tile_distribution_encoding<sequence<2>, tuple<sequence<8>, sequence<12>>, tuple<sequence<0, 1>>,
                                                   tuple<sequence<0, 0>>, sequence<2>, sequence<0>>::value>;
  using one_wave = tile_distribution<
      tile_distribution_encoding<sequence<>, tuple<sequence<1, 8>, sequence<12>>, tuple<sequence<1>, sequence<1>>,
                                 tuple<sequence<0>, sequence<1>>, sequence<2>, sequence<0>>::value>;
  static_assert(is_possible<in_order, one_copy, 0, 1> && is_possible<one_copy, in_order, 0, 1>);
  static_assert(!is_possible<in_order, two_copies, 0, 1> && !is_possible<two_copies, in_order, 0, 1>);
  static_assert(!is_possible<in_order, one_wave, 0, 1> && !is_possible<one_wave, in_order, 0, 1>);
  // As many threads, but each holds half of a row.
  using half_rows = tile_distribution<
      tile_distribution_encoding<sequence<>, tuple<sequence<8>, sequence<2, 6>>, tuple<sequence<1, 2>>,
                                 tuple<sequence<0, 0>>, sequence<2>, sequence<1>>::value>;
  static_assert(!is_possible<two_copies, half_rows, 0, 1> && !is_possible<half_rows, two_copies, 0, 1>);
  static_assert(
      !is_possible<in_order,
                   tile_distribution<tile_distribution_encoding<sequence<>, tuple<sequence<8, 12>>, tuple<sequence<1>>,
                                                                tuple<sequence<0>>, sequence<1>, sequence<1>>::value>,
                   0, 1>,
      "another number of dimensions");
}

/// Registers of all threads after a shuffle through LDS are the elements of their positions.
template <class In, class Out, class... Layout>
void expect_shuffled(Layout... layout) {
  const auto from = positions<In>(), to = positions<Out>();
  const auto value = [](const multi_index<2>& x) { return short(x[0] * 100 + x[1]); };
  std::vector<short> found(to.size());
  run<In>(
      arch::gfx942::value,
      [&] {
        static_distributed_tensor<short, In> in;
        for (index_t d = 0; d < In::num_elements; ++d)
          in.thread_buffer[d] = value(from[std::size_t(exec::thread_id() * In::num_elements + d)]);
        static_distributed_tensor<short, Out> out;
        shuffle_tile(out, in, exec::lds_allocate<32 * 32 * 2>(), layout...);
        for (index_t d = 0; d < Out::num_elements; ++d)
          found[std::size_t(exec::thread_id() * Out::num_elements + d)] = out.thread_buffer[d];
      },
      32 * 32 * 2);
  for (std::size_t i = 0; i < to.size(); ++i) ASSERT_EQ(found[i], value(to[i])) << i;
}

/// A column's bit numbers bank rows, and places are two groups of bits of columns and rows.
constexpr swizzled_layout scattered = [] {
  swizzled_layout layout{{32, 32, 2}, 16, {}, {}};
  layout.places.push_back(0b0001110);
  layout.places.push_back(0b0010000);
  for (const index_t flip : {5, 9, 14, 3}) layout.flips.push_back(flip);
  return layout;
}();

TEST(ShuffleTile, ThroughLds) {
  expect_shuffled<by_rows<64>, by_columns<64>>();
  expect_shuffled<by_columns<64>, by_rows<64>>(make_lds_index_swapping_descriptor<32, 8, 2, 32, short>());
  static_assert(scattered.rest() == 0b1100001);
  expect_shuffled<by_rows<64>, by_columns<64>>(make_lds_descriptor<scattered>());
}

}  // namespace
}  // namespace tilewright
