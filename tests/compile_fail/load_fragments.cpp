// SPDX-License-Identifier: MIT
// Transposing reads of columns with 2 bytes of padding; steps along k that do not divide what a window reads, or that
// are not there.
// EXPECT: load_fragments: a transposing read takes 8 contiguous bytes
// EXPECT: load_fragment_steps: the window's accesses are not the same for each step along k
// EXPECT: load_fragment_steps: there are fewer steps along k
// EXPECT: load_fragment_accesses: there are fewer steps along k, or fewer reads in a step; see reads_per_step
#include <tilewright/mma/block_gemm.hpp>

namespace tw = tilewright;
using tw::make_tuple, tw::number;

constexpr auto op = tw::arch::matrix_op::mfma_16x16x32;
constexpr tw::block_tile tile{16, 16, 64, 1, 1, op};
template <bool Transposed, class Layout>
auto window_of(const Layout& layout) {
  const auto view = tw::make_tensor_view<tw::address_space_enum::lds, tw::half_t>(tw::exec::lds_pointer{}, layout);
  return tw::make_tile_window(view, make_tuple(number<16>{}, number<64>{}), {0, 0},
                              tw::tile_distribution<tw::detail::a_encoding(tile, true, Transposed)>{});
}
using operand = tw::tile_distribution<tw::detail::a_encoding(tile)>;

auto f() {
  constexpr auto padded =
      tw::make_naive_tensor_descriptor(make_tuple(number<16>{}, number<64>{}), make_tuple(number<1>{}, number<17>{}));
  return tw::detail::load_fragments<op, operand>(window_of<true>(padded), 0);
}
void g(tw::static_distributed_tensor<tw::half_t, operand>& fragments) {
  constexpr auto packed = tw::make_naive_tensor_descriptor_packed(make_tuple(number<16>{}, number<64>{}));
  tw::load_fragment_steps<op, 3, 0, 1>(fragments, window_of<false>(packed), 0);
  tw::load_fragment_steps<op, 2, 1, 2>(fragments, window_of<false>(packed), 0);
  tw::detail::load_fragment_accesses<op, 2, 0, 0, 2>(fragments, window_of<false>(packed), 0);
}
