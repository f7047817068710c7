// SPDX-License-Identifier: MIT
// ldmatrix from rows with 2 bytes of padding.
// EXPECT: load_fragments: ldmatrix reads rows of 16 contiguous bytes
#include <tilewright/mma/block_gemm.hpp>

namespace tw = tilewright;

constexpr auto op = tw::arch::matrix_op::mma_m16n8k16_x2;
constexpr tw::block_tile tile{16, 16, 16, 1, 1, op};
constexpr auto layout = tw::make_naive_tensor_descriptor(tw::make_tuple(tw::number<16>{}, tw::number<16>{}),
                                                         tw::make_tuple(tw::number<17>{}, tw::number<1>{}));
auto f() {
  const auto view = tw::make_tensor_view<tw::address_space_enum::lds, tw::half_t>(tw::exec::lds_pointer{}, layout);
  const auto window = tw::make_tile_window(view, tw::make_tuple(tw::number<16>{}, tw::number<16>{}), {0, 0},
                                           tw::tile_distribution<tw::detail::a_encoding(tile, true)>{});
  return tw::detail::load_fragments<op, tw::tile_distribution<tw::detail::a_encoding(tile)>>(window, 0);
}
