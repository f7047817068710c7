// SPDX-License-Identifier: MIT
// A result that is to be the next product's A without the order of k that keeps it in its lanes; products that no order
// of k brings together.
// EXPECT: relayout: an element would change its lane; give the second product the k_order that chained finds
// EXPECT: chained: no order of k makes C of the first product A of the second without an exchange between lanes
#include <tilewright/mma/chained_products.hpp>
#include <tilewright/tile/shuffle_tile.hpp>

namespace tw = tilewright;
using enum tw::arch::matrix_op;

constexpr tw::block_tile tile{32, 32, 32, 1, 1, mfma_32x32x16};
auto f(const tw::static_distributed_tensor<float, tw::c_distribution<tile>>& p) {
  return tw::relayout<tw::half_t>(p, tw::a_distribution<tile>{});
}
constexpr tw::block_tile rdna3{32, 32, 32, 1, 1, wmma_16x16x16_gfx11};
constexpr auto second = tw::chained<rdna3, rdna3>;
