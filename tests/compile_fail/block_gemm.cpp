// SPDX-License-Identifier: MIT
// A block's product, and fragments of its operands.
#include <tilewright/block/mma/block_gemm.hpp>

namespace tw = tilewright;
using enum tw::arch::matrix_op;
using enum tw::address_space_enum;
using tw::half_t, tw::make_tuple, tw::number;

template <class T, class Distribution>
using tensor = tw::static_distributed_tensor<T, Distribution>;

// Attention's second product: the first one's result as its A without an order of k that suits; B in another order of
// k than A; C of other lanes.
// EXPECT(3): found::operand<'A'>
// EXPECT(3): block_gemm: the distributions of A, B and C disagree: this lane holds another element
// EXPECT(2): found::operand<'B'>
// EXPECT: found::operand<'C'>
constexpr tw::block_tile block_gemm_distributions_tile{32, 32, 32, 1, 1, mfma_32x32x16};
constexpr tw::block_tile other_k{32, 32, 32, 1, 1, mfma_32x32x16, 0x31};

void block_gemm_distributions_f(tensor<float, tw::c_distribution<block_gemm_distributions_tile>>& c,
                                const tensor<half_t, tw::c_distribution<block_gemm_distributions_tile>>& p,
                                const tensor<half_t, tw::b_distribution<block_gemm_distributions_tile>>& b) {
  tw::block_gemm<block_gemm_distributions_tile>(c, p, b);
}
void block_gemm_distributions_g(tensor<float, tw::c_distribution<block_gemm_distributions_tile>>& c,
                                const tensor<half_t, tw::a_distribution<block_gemm_distributions_tile>>& a,
                                const tensor<half_t, tw::b_distribution<other_k>>& b) {
  tw::block_gemm(c, a, b);
}
void block_gemm_distributions_h(tensor<float, tw::a_distribution<block_gemm_distributions_tile>>& c,
                                const tensor<half_t, tw::a_distribution<block_gemm_distributions_tile>>& a,
                                const tensor<half_t, tw::b_distribution<block_gemm_distributions_tile>>& b) {
  tw::block_gemm<block_gemm_distributions_tile>(c, a, b);
}

// An operand that is a pointer; a window in global memory; parts of a product from LDS; sums of floats in int; f32
// operands for an f16 instruction; another k for B; another number of waves; wgmma with operands in registers.
// EXPECT: block_gemm: an operand is a tile in registers (static_distributed_tensor) or a tile window in LDS
// EXPECT: block_gemm: an operand's window is in global memory
// EXPECT: block_gemm: only operands in registers can be multiplied in parts; load_fragment_steps reads them
// EXPECT: block_gemm: products of int8_t are added up in int, all others in float
// EXPECT: block_gemm: the matrix instruction multiplies elements of another size
// EXPECT(2): block_gemm: an operand has other lengths than the product: A is m x k, B n x k, C m x n
// EXPECT: block_gemm: an operand is distributed over another number of waves or lanes than the product has
// EXPECT: block_gemm: wgmma takes its operands from LDS itself; give both as wgmma_tile_in_lds
constexpr tw::block_tile block_gemm_operands_tile{32, 32, 32, 1, 1, mfma_32x32x16};
constexpr tw::block_tile longer{32, 32, 64, 1, 1, mfma_32x32x16};
constexpr tw::block_tile two_waves{32, 32, 32, 1, 2, mfma_16x16x32};
using a_tile = tensor<half_t, tw::a_distribution<block_gemm_operands_tile>>;
using b_tile = tensor<half_t, tw::b_distribution<block_gemm_operands_tile>>;
using c_tile = tensor<float, tw::c_distribution<block_gemm_operands_tile>>;

template <tw::address_space_enum Space, class Pointer>
auto block_gemm_operands_window_of(Pointer p) {
  constexpr auto lengths = make_tuple(number<32>{}, number<32>{});
  const auto view = tw::make_tensor_view<Space, half_t>(p, tw::make_naive_tensor_descriptor_packed(lengths));
  return tw::make_tile_window(view, lengths, {0, 0}, tw::a_lds_distribution<block_gemm_operands_tile>{});
}

void block_gemm_operands_f(c_tile& c, const a_tile& a, const b_tile& b, half_t* p, tw::exec::lds_pointer lds) {
  tw::block_gemm<block_gemm_operands_tile>(c, a, p);
  tw::block_gemm<block_gemm_operands_tile>(c, block_gemm_operands_window_of<global>(p), b);
  tw::block_gemm<block_gemm_operands_tile, 0, 1>(c, block_gemm_operands_window_of<tw::address_space_enum::lds>(lds), b);
}
void block_gemm_operands_g(tensor<int, tw::c_distribution<block_gemm_operands_tile>>& c, const a_tile& a,
                           const b_tile& b) {
  tw::block_gemm(c, a, b);
}
void block_gemm_operands_h(c_tile& c, const tensor<float, tw::a_distribution<block_gemm_operands_tile>>& a,
                           const b_tile& b) {
  tw::block_gemm<block_gemm_operands_tile>(c, a, b);
}
void i(c_tile& c, const a_tile& a, const tensor<half_t, tw::b_distribution<longer>>& b) { tw::block_gemm(c, a, b); }
void j(tensor<float, tw::c_distribution<two_waves>>& c, const a_tile& a, const b_tile& b) {
  tw::block_gemm<two_waves>(c, a, b);
}

constexpr tw::block_tile hopper{64, 16, 16, 4, 1, wgmma_k16};
void k(tensor<float, tw::c_distribution<hopper>>& c, const a_tile& a, const b_tile& b) {
  tw::block_gemm<hopper>(c, a, b);
}

// A tile of 24 rows by instructions of 16; more instructions than there are.
// EXPECT: block_gemm: the block tile is not a whole number of matrix instructions for each wave
// EXPECT: block_gemm: a wave issues fewer instructions; see matrix_instructions_per_step and num_k_steps
constexpr tw::block_tile block_gemm_tile_tile{24, 16, 16, 1, 1, tw::arch::matrix_op::mfma_16x16x16};
constexpr tw::block_tile sound{16, 16, 16, 1, 1, tw::arch::matrix_op::mfma_16x16x16};
void block_gemm_tile_f(
    tw::static_distributed_tensor<float, tw::tile_distribution<tw::detail::c_encoding(sound)>>& c,
    const tw::static_distributed_tensor<half_t, tw::tile_distribution<tw::detail::a_encoding(sound)>>& a,
    const tw::static_distributed_tensor<half_t, tw::tile_distribution<tw::detail::b_encoding(sound)>>& b) {
  tw::block_gemm<block_gemm_tile_tile>(c, a, b);
  tw::block_gemm<sound, 1, 1>(c, a, b);
}

// Transposing reads of columns with 2 bytes of padding; steps along k that do not divide what a window reads, or that
// are not there.
// EXPECT: load_fragments: a transposing read takes 8 contiguous bytes
// EXPECT: load_fragment_steps: the window's accesses are not the same for each step along k
// EXPECT: load_fragment_steps: there are fewer steps along k
// EXPECT: load_fragment_accesses: there are fewer steps along k, or fewer reads in a step; see reads_per_step
constexpr auto load_fragments_op = tw::arch::matrix_op::mfma_16x16x32;
constexpr tw::block_tile load_fragments_tile{16, 16, 64, 1, 1, load_fragments_op};
template <bool Transposed, class Layout>
auto load_fragments_window_of(const Layout& layout) {
  const auto view = tw::make_tensor_view<tw::address_space_enum::lds, half_t>(tw::exec::lds_pointer{}, layout);
  return tw::make_tile_window(view, make_tuple(number<16>{}, number<64>{}), {0, 0},
                              tw::tile_distribution<tw::detail::a_encoding(load_fragments_tile, true, Transposed)>{});
}
using operand = tw::tile_distribution<tw::detail::a_encoding(load_fragments_tile)>;

auto load_fragments_f() {
  constexpr auto padded =
      tw::make_naive_tensor_descriptor(make_tuple(number<16>{}, number<64>{}), make_tuple(number<1>{}, number<17>{}));
  return tw::detail::load_fragments<load_fragments_op, operand>(load_fragments_window_of<true>(padded), 0);
}
void load_fragments_g(tw::static_distributed_tensor<half_t, operand>& fragments) {
  constexpr auto packed = tw::make_naive_tensor_descriptor_packed(make_tuple(number<16>{}, number<64>{}));
  tw::load_fragment_steps<load_fragments_op, 3, 0, 1>(fragments, load_fragments_window_of<false>(packed), 0);
  tw::load_fragment_steps<load_fragments_op, 2, 1, 2>(fragments, load_fragments_window_of<false>(packed), 0);
  tw::detail::load_fragment_accesses<load_fragments_op, 2, 0, 0, 2>(fragments, load_fragments_window_of<false>(packed),
                                                                    0);
}

// ldmatrix from rows with 2 bytes of padding.
// EXPECT: load_fragments: ldmatrix reads rows of 16 contiguous bytes
constexpr auto load_fragments_padding_op = tw::arch::matrix_op::mma_m16n8k16_x2;
constexpr tw::block_tile load_fragments_padding_tile{16, 16, 16, 1, 1, load_fragments_padding_op};
constexpr auto layout =
    tw::make_naive_tensor_descriptor(make_tuple(number<16>{}, number<16>{}), make_tuple(number<17>{}, number<1>{}));
auto load_fragments_padding_f() {
  const auto view = tw::make_tensor_view<tw::address_space_enum::lds, half_t>(tw::exec::lds_pointer{}, layout);
  const auto window =
      tw::make_tile_window(view, make_tuple(number<16>{}, number<16>{}), {0, 0},
                           tw::tile_distribution<tw::detail::a_encoding(load_fragments_padding_tile, true)>{});
  return tw::detail::load_fragments<load_fragments_padding_op,
                                    tw::tile_distribution<tw::detail::a_encoding(load_fragments_padding_tile)>>(window,
                                                                                                                0);
}
