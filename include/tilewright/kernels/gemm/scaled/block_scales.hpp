// SPDX-License-Identifier: MIT
// Scales of blocks of 128 along k: reads those of a tile, and adds scaled products to accumulators.
#pragma once

#include <tilewright/kernels/gemm/gemm_policy.hpp>
#include <tilewright/tile/copy/load_store.hpp>
#include <tilewright/tile/registers/elementwise.hpp>

namespace tilewright::detail {

inline constexpr index_t scale_block = 128;

/// Scales of a tile of C that is made of Parts tiles with Distribution side by side.
template <class Distribution, index_t Parts>
class block_scales {
  using products = static_distributed_tensor<float, Distribution>;
  using rows = tile_distribution<number<reduce(Distribution::encoding, array<index_t, 1>{{1}})>::value>;

  const float *a_, *b_;
  const block_scaled_args& args_;
  index_t rows_, first_column_;

 public:
  /// The scales of one step along k.
  struct values {
    static_distributed_tensor<float, rows> a;
    float b[Parts];
  };

  /// The tile at (m0, n0) of matrices a_batch of A and b_batch of B.
  TILEWRIGHT_HD block_scales(const block_scaled_args& args, index_t m0, index_t n0, index_t a_batch, index_t b_batch)
      : a_(args.a_scales + a_batch * args.batch_stride_a_scales + long_index_t(m0) * args.row_stride_a_scales),
        b_(args.b_scales + b_batch * args.batch_stride_b_scales),
        args_(args),
        rows_(args.m - m0),
        first_column_(divide(n0, scale_block)) {}

  TILEWRIGHT_HD values load(index_t k_block) const {
    const float* const a = a_ + long_index_t(k_block) * args_.k_stride_a_scales;
    const auto view =
        make_naive_tensor_view<address_space_enum::global>(a, make_tuple(rows_), make_tuple(args_.row_stride_a_scales));
    values v{load_tile(make_tile_window(view, make_tuple(number<rows::x_lengths[0]>{}), {0}, rows{})), {}};
    const index_t last_column = divide(args_.n - 1, scale_block);  // what is scaled after it is not stored
    for (index_t i = 0; i < Parts; ++i)
      v.b[i] = b_[long_index_t(min(first_column_ + i, last_column)) * args_.ld_b_scales + k_block];
    return v;
  }

  /// The scales of A for the tile's rows, which lie in LDS one after the other.
  TILEWRIGHT_HD static values load_rows(exec::lds_pointer from) {
    constexpr auto descriptor = make_naive_tensor_descriptor_packed(make_tuple(number<rows::x_lengths[0]>{}));
    const auto view = make_tensor_view<address_space_enum::lds, float>(from, descriptor);
    return {load_tile(make_tile_window(view, make_tuple(number<rows::x_lengths[0]>{}), {}, rows{})), {}};
  }

  /// Registers of part `Part` of accumulators += those of its products times scales.
  template <index_t Part>
  TILEWRIGHT_HD static void add(float* accumulators, const float* part_products, const values& v) {
    add(accumulators + Part * Distribution::num_elements, part_products, v, v.b[Part]);
  }
  /// Registers of one part += those of its products times the scales of A and b.
  TILEWRIGHT_HD static void add(float* accumulators, const float* part_products, const values& v, float b) {
    constexpr index_t n = Distribution::num_elements;
    const auto scales = tile_elementwise_in([&](float a) { return a * b; }, v.a);
    products x, y;
    for (index_t d = 0; d < n; ++d) {
      x.thread_buffer[d] = accumulators[d];
      y.thread_buffer[d] = part_products[d];
    }
    tile_elementwise_inout([](float& to, float product, float s) { to += product * s; }, x, y, along<0>(scales));
    for (index_t d = 0; d < n; ++d) accumulators[d] = x.thread_buffer[d];
  }
};

/// What the arguments lack, as an error message; nullptr: nothing.
TILEWRIGHT_HD constexpr const char* check_block_scales(const block_scaled_args& g) {
  if (!g.a_scales || !g.b_scales) return "block-scaled GEMMs need a_scales and b_scales, of which one is null";
  if (g.row_stride_a_scales < 1 || g.k_stride_a_scales < 1 || g.ld_b_scales < ceil_div(g.k, scale_block))
    return "strides of a_scales must be positive, and ld_b_scales at least a row of b_scales: k / 128, rounded up";
  if (long_index_t(g.row_stride_a_scales) * g.m > 0x7fffffff / 4) return "a_scales takes 2 GiB or more";
  return nullptr;
}

}  // namespace tilewright::detail
