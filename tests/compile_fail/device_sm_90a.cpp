// SPDX-License-Identifier: MIT
// stmatrix to rows with 2 bytes of padding.
// COMPILERS: sm_90a
// EXPECT: store_fragments: stmatrix writes rows of 16 contiguous bytes
#include <tilewright/block/mma/block_tile.hpp>
#include <tilewright/block/mma/fragments.hpp>

namespace tw = tilewright;

constexpr auto result = tw::arch::describe(tw::arch::matrix_op::mma_m16n8k16_x2).c;
using held = tw::tile_distribution<tw::detail::wave_tile_encoding(1, result)>;
using addressed = tw::tile_distribution<tw::detail::wave_tile_encoding(1, tw::detail::ldmatrix_address_map(result))>;

TILEWRIGHT_GLOBAL void f() {
  const auto layout = tw::make_naive_tensor_descriptor(tw::make_tuple(tw::number<16>{}, tw::number<16>{}),
                                                       tw::make_tuple(tw::number<17>{}, tw::number<1>{}));
  const auto view =
      tw::make_tensor_view<tw::address_space_enum::lds, tw::half_t>(tw::exec::lds_allocate<1024>(), layout);
  [[maybe_unused]] const auto window =
      tw::make_tile_window(view, tw::make_tuple(tw::number<16>{}, tw::number<16>{}), {0, 0}, addressed{});
#if TILEWRIGHT_NVPTX_PASS
  tw::detail::store_fragments(window, tw::static_distributed_tensor<tw::half_t, held>{}, 0);
#endif
}
