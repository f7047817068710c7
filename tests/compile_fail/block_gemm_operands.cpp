// SPDX-License-Identifier: MIT
// An operand that is a pointer; a window in global memory; parts of a product from LDS; sums of floats in int; f32
// operands for an f16 instruction; another k for B; another number of waves; wgmma with operands in registers.
// EXPECT: block_gemm: an operand is a tile in registers (static_distributed_tensor) or a tile window in LDS
// EXPECT: block_gemm: an operand's window is in global memory
// EXPECT: block_gemm: only operands in registers can be multiplied in parts; load_fragment_steps reads them
// EXPECT: block_gemm: products of int8_t are added up in int, all others in float
// EXPECT: block_gemm: the matrix instruction multiplies elements of another size
// EXPECT: block_gemm: an operand has other lengths than the product: A is m x k, B n x k, C m x n
// EXPECT: block_gemm: an operand is distributed over another number of waves or lanes than the product has
// EXPECT: block_gemm: wgmma takes its operands from LDS itself; give both as wgmma_tile_in_lds
#include <tilewright/mma/block_gemm.hpp>

namespace tw = tilewright;
using tw::half_t, tw::make_tuple, tw::number;
using enum tw::arch::matrix_op;
using enum tw::address_space_enum;

constexpr tw::block_tile tile{32, 32, 32, 1, 1, mfma_32x32x16};
constexpr tw::block_tile longer{32, 32, 64, 1, 1, mfma_32x32x16};
constexpr tw::block_tile two_waves{32, 32, 32, 1, 2, mfma_16x16x32};
template <class T, class Distribution>
using tensor = tw::static_distributed_tensor<T, Distribution>;
using a_tile = tensor<half_t, tw::a_distribution<tile>>;
using b_tile = tensor<half_t, tw::b_distribution<tile>>;
using c_tile = tensor<float, tw::c_distribution<tile>>;

template <tw::address_space_enum Space, class Pointer>
auto window_of(Pointer p) {
  constexpr auto lengths = make_tuple(number<32>{}, number<32>{});
  const auto view = tw::make_tensor_view<Space, half_t>(p, tw::make_naive_tensor_descriptor_packed(lengths));
  return tw::make_tile_window(view, lengths, {0, 0}, tw::a_lds_distribution<tile>{});
}

void f(c_tile& c, const a_tile& a, const b_tile& b, half_t* p, tw::exec::lds_pointer lds) {
  tw::block_gemm<tile>(c, a, p);
  tw::block_gemm<tile>(c, window_of<global>(p), b);
  tw::block_gemm<tile, 0, 1>(c, window_of<tw::address_space_enum::lds>(lds), b);
}
void g(tensor<int, tw::c_distribution<tile>>& c, const a_tile& a, const b_tile& b) { tw::block_gemm(c, a, b); }
void h(c_tile& c, const tensor<float, tw::a_distribution<tile>>& a, const b_tile& b) { tw::block_gemm<tile>(c, a, b); }
void i(c_tile& c, const a_tile& a, const tensor<half_t, tw::b_distribution<longer>>& b) { tw::block_gemm(c, a, b); }
void j(tensor<float, tw::c_distribution<two_waves>>& c, const a_tile& a, const b_tile& b) {
  tw::block_gemm<two_waves>(c, a, b);
}

constexpr tw::block_tile hopper{64, 16, 16, 4, 1, wgmma_k16};
void k(tensor<float, tw::c_distribution<hopper>>& c, const a_tile& a, const b_tile& b) {
  tw::block_gemm<hopper>(c, a, b);
}
