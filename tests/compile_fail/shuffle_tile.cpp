// SPDX-License-Identifier: MIT
// Shuffled and transposed tiles.
#include <tilewright/block/mma/chained_products.hpp>
#include <tilewright/tile/copy/shuffle_tile.hpp>

#include "sample_tile.hpp"

using enum tw::arch::matrix_op;

// Lanes that are counted along the other dimension: the same registers of other threads.
// EXPECT: shuffle_tile: threads would have to exchange elements; pass a place in LDS as the third argument
template <class Major>
using by_lanes =
    tw::tile_distribution<tw::tile_distribution_encoding<sequence<>, tuple<sequence<8>, sequence<8, 4>>, tuple<Major>,
                                                         tuple<sequence<0, 0>>, sequence<2>, sequence<1>>::value>;
using down = by_lanes<sequence<2, 1>>;
using along = by_lanes<sequence<1, 2>>;

void shuffle_tile_lanes(tw::static_distributed_tensor<float, down>& out,
                        const tw::static_distributed_tensor<float, along>& in) {
  tw::shuffle_tile(out, in);
}

// A tile shuffled into a tile of other lengths.
// EXPECT: shuffle_tile: the tiles have different lengths
using smaller = tw::tile_distribution<
    tw::tile_distribution_encoding<sequence<>, tuple<sequence<8>, sequence<8, 2>>, tuple<sequence<1, 2>>,
                                   tuple<sequence<0, 0>>, sequence<2>, sequence<1>>::value>;
void shuffle_tile_lengths(tw::static_distributed_tensor<float, smaller>& out,
                          const tw::static_distributed_tensor<float, distribution>& in, tw::exec::lds_pointer p) {
  tw::shuffle_tile(out, in, p);
}

// An exchange between threads without a place for it.
// EXPECT: shuffle_tile: threads would have to exchange elements; pass a place in LDS as the third argument
void shuffle_tile_threads(tw::static_distributed_tensor<float, by_columns>& out,
                          const tw::static_distributed_tensor<float, distribution>& in) {
  tw::shuffle_tile(out, in);
}

// A transpose between threads in registers.
// EXPECT: transpose_tile2d: threads would have to exchange elements; use transpose_tile with a place in LDS
void transpose_tile2d_threads(tw::static_distributed_tensor<float, distribution>& out,
                              const tw::static_distributed_tensor<float, distribution>& in) {
  tw::transpose_tile2d(out, in);
}

// A transpose into a tile of the same lengths; of a tile of one dimension.
// EXPECT(2): transpose_tile: the tiles must have two dimensions, the lengths of one being those of the other exchanged
// EXPECT: transpose_tile2d: the tiles must have two dimensions
void transpose_tile_lengths(tw::static_distributed_tensor<float, distribution>& out,
                            const tw::static_distributed_tensor<float, distribution>& in, tw::exec::lds_pointer p) {
  tw::transpose_tile(out, in, p);
}

using row = tw::tile_distribution<tw::tile_distribution_encoding<sequence<>, tuple<sequence<64>>, tuple<sequence<1>>,
                                                                 tuple<sequence<0>>, sequence<>, sequence<>>::value>;
void g(tw::static_distributed_tensor<float, distribution>& out, tw::static_distributed_tensor<float, row>& in,
       tw::exec::lds_pointer p) {
  tw::transpose_tile(out, in, p);
  tw::transpose_tile2d(out, in);
}

// A result that is to be the next product's A without the order of k that keeps it in its lanes; products that no order
// of k brings together.
// EXPECT: relayout: an element would change its lane; give the second product the k_order that chained finds
// EXPECT: chained: no order of k makes C of the first product A of the second without an exchange between lanes
constexpr tw::block_tile tile{32, 32, 32, 1, 1, mfma_32x32x16};
auto relayout(const tw::static_distributed_tensor<float, tw::c_distribution<tile>>& p) {
  return tw::relayout<tw::half_t>(p, tw::a_distribution<tile>{});
}
constexpr tw::block_tile rdna3{32, 32, 32, 1, 1, wmma_16x16x16_gfx11};
constexpr auto second = tw::chained<rdna3, rdna3>;
