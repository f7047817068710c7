// SPDX-License-Identifier: MIT
// RMSNorm of rows, as a kernel of CK Tile looks after it was moved: the same names, and what differs is marked.
#pragma once

#include <tilewright/ck_tile.hpp>
#include <tilewright/tilewright.hpp>

namespace from_ck_tile {

namespace ck_tile = tilewright;  // 1. the namespace
using ck_tile::half_t, ck_tile::index_t, ck_tile::make_tuple, ck_tile::number;

struct rmsnorm_args {
  const half_t *x, *weight;
  half_t* y;
  index_t rows, cols;
  float epsilon;
};

/// y = x / sqrt(mean(x^2) + epsilon) * weight for each row. A block of 256 threads has one row.
template <class Arch>
struct rmsnorm {
  using arch = Arch;
  using args_type = rmsnorm_args;
  static constexpr index_t block_size = 256, cols = 1024;  // of a tile; a row may be shorter
  static constexpr index_t wave = Arch::value.wave_size;
  // 2. The pattern is the same, and is a value: R, Hs, P to RH, Y to RH.
  using distribution = decltype(ck_tile::make_static_tile_distribution(
      ck_tile::tile_distribution_encoding<
          ck_tile::sequence<>, ck_tile::tuple<ck_tile::sequence<1>, ck_tile::sequence<block_size / wave, wave, 4>>,
          ck_tile::tuple<ck_tile::sequence<2>, ck_tile::sequence<2>>,
          ck_tile::tuple<ck_tile::sequence<0>, ck_tile::sequence<1>>, ck_tile::sequence<1, 2>,
          ck_tile::sequence<0, 2>>{}));
  static constexpr index_t lds_bytes =
      ck_tile::reduce_lds_bytes<ck_tile::static_distributed_tensor<float, distribution>, 1>;

  // 3. Arguments are checked here, and the grid follows from them: there is no Kargs, no MakeKargs, no GridSize.
  static constexpr const char* check(const rmsnorm_args& args) {
    return args.rows > 0 && args.cols > 0 && args.cols <= cols ? nullptr : "rmsnorm: 1 to 1024 columns, 1 row or more";
  }
  static constexpr ck_tile::exec::block_index grid(const rmsnorm_args& args) { return {args.rows, 1, 1}; }

  TILEWRIGHT_HD void operator()(const rmsnorm_args& args) const {
    constexpr auto global = ck_tile::address_space_enum::global;
    const auto window = [&](auto* data, index_t rows, index_t row) TILEWRIGHT_INLINE_LAMBDA {
      const auto view = ck_tile::make_naive_tensor_view_packed<global>(data, make_tuple(rows, args.cols));
      return ck_tile::make_tile_window(view, make_tuple(number<1>{}, number<cols>{}), {row, 0}, distribution{});
    };
    const index_t row = ck_tile::exec::block_id().x;  // 4. get_block_id() is exec::block_id()
    const auto x = ck_tile::cast_tile<float>(ck_tile::load_tile(window(args.x, args.rows, row)));
    auto squares = x;
    ck_tile::tile_elementwise_inout([](float& a) { a *= a; }, squares);
    // 5. BlockReduce2d, its sync and its cross-warp sync are one call, which gets LDS.
    const auto sum = ck_tile::row_reduce(squares, ck_tile::plus, ck_tile::exec::lds_allocate<lds_bytes>());

    const auto weight = ck_tile::cast_tile<float>(ck_tile::load_tile(window(args.weight, 1, 0)));
    auto y = x;
    ck_tile::tile_elementwise_inout(
        [&](float& a, float w, float all) { a *= w * ck_tile::exec::rsqrt(all / float(args.cols) + args.epsilon); }, y,
        weight, ck_tile::along<0>(sum));  // 6. a row's value for each element: no sweep over spans
    ck_tile::store_tile(window(args.y, args.rows, row), ck_tile::cast_tile<half_t>(y));
  }
};

}  // namespace from_ck_tile
