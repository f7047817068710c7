// SPDX-License-Identifier: MIT
// Two kernels to read first: softmax of rows, and the transpose of a matrix.
#pragma once

#include <tilewright/core/distribution/copy_distribution.hpp>
#include <tilewright/core/lds/layout_solver.hpp>
#include <tilewright/core/lds/lds_proof.hpp>
#include <tilewright/tile/copy/shuffle_tile.hpp>
#include <tilewright/tile/registers/reduce_tile.hpp>

namespace first_kernels {

namespace tw = tilewright;
using tw::index_t, tw::make_tuple, tw::number, tw::long_index_t;
inline constexpr auto global = tw::address_space_enum::global;

/// Two matrices with contiguous rows; strides in elements.
struct matrices {
  const float* x;
  float* y;
  index_t rows, cols;  // of x
  long_index_t x_stride, y_stride;
};

/// y = softmax of each row of x. A block of 256 threads holds one row in registers.
template <class Arch>
struct softmax {
  using arch = Arch;
  using args_type = matrices;
  static constexpr index_t block_size = 256, most_cols = 8192;
  using row = decltype(tw::make_row_distribution<1, most_cols, float, block_size, Arch::value.wave_size>());
  static constexpr index_t reduction = tw::reduce_lds_bytes<tw::static_distributed_tensor<float, row>, 1>;
  static constexpr index_t lds_bytes = 2 * reduction;

  static constexpr const char* check(const matrices& args) {
    if (args.rows < 1 || args.cols < 1 || !args.x || !args.y) return "softmax: there is nothing to do";
    if (args.cols > most_cols) return "softmax: a row has more than 8192 elements; tilewright::softmax takes any";
    if (args.x_stride < args.cols || args.y_stride < args.cols) return "softmax: rows overlap";
    return nullptr;
  }
  static constexpr tw::exec::block_index grid(const matrices& args) { return {args.rows, 1, 1}; }

  TILEWRIGHT_HD void operator()(const matrices& args) const {
    const index_t block = tw::exec::block_id().x;
    const auto window = [&](auto* first) TILEWRIGHT_INLINE_LAMBDA {
      const auto view = tw::make_naive_tensor_view_packed<global>(first, make_tuple(number<1>{}, args.cols));
      return tw::make_tile_window(view, make_tuple(number<1>{}, number<most_cols>{}), {0, 0}, row{});
    };
    auto e = tw::load_tile(window(args.x + block * args.x_stride));  // zeros after the end of the row
    tw::set_tile_if(e, -3.4e38f, [&](const tw::multi_index<2>& at) { return at[1] >= args.cols; });

    const auto lds = tw::exec::lds_allocate<lds_bytes>();
    const auto largest = tw::row_reduce(e, tw::max, lds);
    tw::tile_elementwise_inout([](float& a, float most) { a = tw::exec::exp2((a - most) * 1.442695041f); }, e,
                               tw::along<0>(largest));
    const auto sum = tw::row_reduce(e, tw::plus, lds + reduction);
    tw::tile_elementwise_inout([](float& a, float all) { a *= tw::exec::rcp(all); }, e, tw::along<0>(sum));
    tw::store_tile(window(args.y + block * args.y_stride), e);
  }
};

/// y(j, i) = x(i, j). A block reads a tile along its rows and writes it along its columns; in between it goes through
/// LDS.
template <class Arch>
struct transpose {
  using arch = Arch;
  using args_type = matrices;
  static constexpr index_t block_size = 256, side = 64, lds_bytes = side * side * index_t(sizeof(float));
  // Which thread holds which elements: lanes follow the row (the column), waves the rows (the columns), and registers
  // take what is left of both.
  static constexpr index_t wave = Arch::value.wave_size, waves = block_size / wave;
  using by_waves = tw::sequence<side / waves, waves>;
  using by_lanes = tw::sequence<side / wave, wave>;
  using by_rows = decltype(tw::make_static_tile_distribution(
      tw::tile_distribution_encoding<
          tw::sequence<>, tw::tuple<by_waves, by_lanes>, tw::tuple<tw::sequence<1>, tw::sequence<2>>,
          tw::tuple<tw::sequence<1>, tw::sequence<1>>, tw::sequence<1, 2>, tw::sequence<0, 0>>{}));
  using by_cols = decltype(tw::make_static_tile_distribution(
      tw::tile_distribution_encoding<
          tw::sequence<>, tw::tuple<by_lanes, by_waves>, tw::tuple<tw::sequence<2>, tw::sequence<1>>,
          tw::tuple<tw::sequence<1>, tw::sequence<1>>, tw::sequence<1, 2>, tw::sequence<0, 0>>{}));
  // A layout in LDS in which neither side has bank conflicts, and the proof of that.
  static constexpr tw::lds_layout_choice choice = tw::choose_lds_layout<Arch>(
      tw::lds_tile{side, side, sizeof(float)}, tw::lds_use{by_rows::encoding, tw::lds_access_kind::write},
      tw::lds_use{by_cols::encoding, tw::lds_access_kind::read});
  using layout = decltype(tw::make_lds_descriptor<choice.layout>());
  static_assert(tw::require_conflict_free<tw::lds_access<Arch, layout{}, by_rows, float, tw::lds_access_kind::write>,
                                          tw::lds_access<Arch, layout{}, by_cols, float, tw::lds_access_kind::read>>());

  static constexpr const char* check(const matrices& args) {
    if (args.rows < 1 || args.cols < 1 || !args.x || !args.y) return "transpose: there is nothing to do";
    if (args.x_stride < args.cols || args.y_stride < args.rows) return "transpose: rows overlap";
    if (args.x == args.y) return "transpose: the result needs memory of its own";
    return nullptr;
  }
  static constexpr tw::exec::block_index grid(const matrices& args) {
    return {tw::ceil_div(args.cols, side), tw::ceil_div(args.rows, side), 1};
  }

  TILEWRIGHT_HD void operator()(const matrices& args) const {
    const auto tile = make_tuple(number<side>{}, number<side>{});
    const index_t i = tw::exec::block_id().y * side, j = tw::exec::block_id().x * side;
    const auto lengths = make_tuple(args.rows - i, args.cols - j);
    const auto x = tw::make_naive_tensor_view<global>(args.x + i * args.x_stride + j, lengths,
                                                      make_tuple(index_t(args.x_stride), number<1>{}));
    const auto y = tw::make_naive_tensor_view<global>(args.y + j * args.y_stride + i, lengths,
                                                      make_tuple(number<1>{}, index_t(args.y_stride)));
    tw::static_distributed_tensor<float, by_cols> columns;
    tw::shuffle_tile(columns, tw::load_tile(tw::make_tile_window(x, tile, {0, 0}, by_rows{})),
                     tw::exec::lds_allocate<lds_bytes>(), layout{});
    tw::store_tile(tw::make_tile_window(y, tile, {0, 0}, by_cols{}), columns);
  }
};

}  // namespace first_kernels
