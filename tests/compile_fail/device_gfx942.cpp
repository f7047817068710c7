// SPDX-License-Identifier: MIT
// What gfx942 does not have: more than 64 KiB of LDS, transposing reads, a matrix instruction, wide copies past
// registers, copies that do not write LDS lane after lane.
// COMPILERS: gfx942
// EXPECT: lds_allocate: the kernel needs more LDS than this target has; use a smaller block tile or fewer stages
// EXPECT: lds_load_transpose: this target has no transposing reads; load_tile_transpose works everywhere
// EXPECT(2): mma: this target does not have the matrix instruction for these elements
// EXPECT: async_load_wave_to_lds: this target does not copy this many bytes for each lane without registers
// EXPECT: async_load_tile: this target fills LDS lane after lane, and the layout or the distribution has another order
#include <tilewright/tile/copy/async_load.hpp>

namespace tw = tilewright;
using tw::make_tuple, tw::number, tw::sequence, tw::tuple;

using columns = tw::tile_distribution<
    tw::tile_distribution_encoding<sequence<>, tuple<sequence<64>, sequence<4>>, tuple<sequence<1>>, tuple<sequence<0>>,
                                   sequence<2>, sequence<0>>::value>;
constexpr auto lengths = make_tuple(number<64>{}, number<4>{});

TILEWRIGHT_GLOBAL void f(const float* memory, const tw::fp8_ocp_t* a, float* c) {
  const auto lds = tw::exec::lds_allocate<65 * 1024>();
  (void)tw::exec::lds_load_transpose<tw::half_t>(lds, 0);
  tw::exec::mma<tw::arch::matrix_op::mfma_16x16x32_b8_x2>(c, a, a);
  const tw::exec::walking_buffer walking(tw::exec::make_global_buffer(memory, 1024));
  tw::exec::async_load_wave_to_lds<16>(walking, 0, lds);
  // A row of 16 bytes for each lane, 20 bytes apart, in accesses of 4 bytes.
  const auto layout = tw::make_naive_tensor_descriptor(lengths, make_tuple(number<5>{}, number<1>{}));
  const auto to = tw::make_tile_window(tw::make_tensor_view<tw::address_space_enum::lds, float>(lds, layout), lengths,
                                       {0, 0}, columns{});
  const auto from = tw::make_tile_window(tw::make_tensor_view<tw::address_space_enum::global>(memory, layout), lengths,
                                         {0, 0}, columns{});
  tw::async_load_tile(to, from);
}
