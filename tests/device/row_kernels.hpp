// SPDX-License-Identifier: MIT
// Kernels that work on rows: softmax, and RMSNorm with residual.
#pragma once

#include <tilewright/core/base/types.hpp>
#include <tilewright/core/distribution/copy_distribution.hpp>
#include <tilewright/tile/copy/load_store.hpp>
#include <tilewright/tile/registers/reduce_tile.hpp>

namespace row_kernels {

namespace tw = tilewright;
using tw::half_t, tw::index_t, tw::make_tuple, tw::number;

struct softmax_args {
  const half_t* x;
  half_t* y;
  index_t rows;
};

/// y = softmax of each row of x, rows x 1024. A block takes 8 rows; each wave holds whole rows.
template <index_t Wave>
struct softmax {
  static constexpr index_t block_size = 256, rows_per_block = 8, cols = 1024;

  TILEWRIGHT_HD void operator()(const softmax_args& args) const {
    constexpr auto global = tw::address_space_enum::global;
    constexpr auto rows = tw::make_copy_distribution<rows_per_block, cols, half_t, block_size, Wave>();
    const auto shape = make_tuple(args.rows, number<cols>{});
    const auto tile = make_tuple(number<rows_per_block>{}, number<cols>{});
    const tw::multi_index<2> origin{tw::exec::block_id().x * rows_per_block, 0};
    const auto x = tw::make_naive_tensor_view_packed<global>(args.x, shape);
    const auto y = tw::make_naive_tensor_view_packed<global>(args.y, shape);

    auto p = tw::cast_tile<float>(tw::load_tile(tw::make_tile_window(x, tile, origin, rows)));
    const auto largest = tw::row_reduce(p, tw::max);
    tw::tile_elementwise_inout([](float& e, float most) { e = tw::exec::exp2((e - most) * 1.442695041f); }, p,
                               tw::along<0>(largest));
    const auto sums = tw::row_reduce(p, tw::plus);
    tw::tile_elementwise_inout([](float& e, float sum) { e *= tw::exec::rcp(sum); }, p, tw::along<0>(sums));
    tw::store_tile(tw::make_tile_window(y, tile, origin, rows), tw::cast_tile<half_t>(p));
  }
};

struct rms_norm_args {
  const half_t *x, *weight;
  half_t *residual, *y;
  index_t rows;
};

/// residual += x; y = residual / sqrt(mean of its squares + 1e-5) * weight, in rows of 4096. A block spreads over a
/// row.
template <index_t Wave>
struct rms_norm {
  static constexpr index_t block_size = 256, rows_per_block = 2, cols = 4096;
  using distribution = decltype(tw::make_row_distribution<rows_per_block, cols, half_t, block_size, Wave>());
  static constexpr index_t lds_bytes = tw::reduce_lds_bytes<tw::static_distributed_tensor<float, distribution>, 1>;

  TILEWRIGHT_HD void operator()(const rms_norm_args& args) const {
    constexpr auto global = tw::address_space_enum::global;
    const auto shape = make_tuple(args.rows, number<cols>{});
    const auto tile = make_tuple(number<rows_per_block>{}, number<cols>{});
    const tw::multi_index<2> origin{tw::exec::block_id().x * rows_per_block, 0};
    const auto window = [&](auto* p) TILEWRIGHT_INLINE_LAMBDA {
      return tw::make_tile_window(tw::make_naive_tensor_view_packed<global>(p, shape), tile, origin, distribution{});
    };
    const auto weight = tw::load_tile(
        tw::make_tile_window(tw::make_naive_tensor_view_packed<global>(args.weight, make_tuple(number<cols>{})),
                             make_tuple(number<cols>{}), {0}, tw::reduced_distribution<distribution, 0>{}));

    auto sum = tw::tile_elementwise_in([](half_t a, half_t b) { return float(a) + float(b); },
                                       tw::load_tile(window(args.x)), tw::load_tile(window(args.residual)));
    tw::store_tile(window(args.residual), tw::cast_tile<half_t>(sum));
    const auto squares = tw::row_reduce(tw::tile_elementwise_in([](float e) { return e * e; }, sum), tw::plus,
                                        tw::exec::lds_allocate<lds_bytes>());
    tw::tile_elementwise_inout(
        [](float& e, float all, half_t w) { e *= tw::exec::rsqrt(all * (1.0f / cols) + 1e-5f) * float(w); }, sum,
        tw::along<0>(squares), tw::along<1>(weight));
    tw::store_tile(window(args.y), tw::cast_tile<half_t>(sum));
  }
};

}  // namespace row_kernels
