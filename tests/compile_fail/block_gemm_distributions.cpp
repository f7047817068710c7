// SPDX-License-Identifier: MIT
// Attention's second product: the first one's result as its A without an order of k that suits; B in another order of
// k than A; C of other lanes.
// EXPECT: found::operand<'A'>
// EXPECT: block_gemm: the distributions of A, B and C disagree: this lane holds another element
// EXPECT: found::operand<'B'>
// EXPECT: found::operand<'C'>
#include <tilewright/mma/block_gemm.hpp>

namespace tw = tilewright;
using enum tw::arch::matrix_op;

constexpr tw::block_tile tile{32, 32, 32, 1, 1, mfma_32x32x16};
constexpr tw::block_tile other_k{32, 32, 32, 1, 1, mfma_32x32x16, 0x31};
template <class T, class Distribution>
using tensor = tw::static_distributed_tensor<T, Distribution>;

void f(tensor<float, tw::c_distribution<tile>>& c, const tensor<tw::half_t, tw::c_distribution<tile>>& p,
       const tensor<tw::half_t, tw::b_distribution<tile>>& b) {
  tw::block_gemm<tile>(c, p, b);
}
void g(tensor<float, tw::c_distribution<tile>>& c, const tensor<tw::half_t, tw::a_distribution<tile>>& a,
       const tensor<tw::half_t, tw::b_distribution<other_k>>& b) {
  tw::block_gemm(c, a, b);
}
void h(tensor<float, tw::a_distribution<tile>>& c, const tensor<tw::half_t, tw::a_distribution<tile>>& a,
       const tensor<tw::half_t, tw::b_distribution<tile>>& b) {
  tw::block_gemm<tile>(c, a, b);
}
