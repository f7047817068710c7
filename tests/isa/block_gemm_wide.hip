// SPDX-License-Identifier: MIT
// A wave's product with so many columns that B's step along k does not fit beside the accumulators: block_gemm reads it
// in groups.
#include <tilewright/block/mma/block_gemm.hpp>
#include <tilewright/core/arch/current.hpp>
#include <tilewright/core/lds/layout_presets.hpp>

namespace tw = tilewright;
using tw::index_t, tw::make_tuple, tw::number;

#if defined(__gfx1100__)
constexpr tw::block_tile tile{
    .m = 16, .n = 256, .k = 64, .waves_m = 1, .waves_n = 1, .op = tw::arch::matrix_op::wmma_16x16x16_gfx11};
#else
constexpr tw::block_tile tile{
    .m = 16, .n = 512, .k = 64, .waves_m = 1, .waves_n = 1, .op = tw::arch::matrix_op::mfma_16x16x16};
#endif

extern "C" TILEWRIGHT_GLOBAL TILEWRIGHT_BLOCK_SIZE(tile.block_size()) void multiply([[maybe_unused]] float* out,
                                                                                    [[maybe_unused]] index_t tiles) {
#if TILEWRIGHT_DEVICE_PASS
  const auto lds = tw::exec::lds_allocate<64 * 1024>();
  const auto window = [&]<class Distribution>(index_t offset, Distribution) {
    constexpr index_t rows = Distribution::x_lengths[0], k = Distribution::x_lengths[1];
    constexpr auto layout = tw::make_lds_descriptor<tw::row_xor_layout(tw::lds_tile{rows, k, 2})>();
    return tw::make_tile_window(tw::make_tensor_view<tw::address_space_enum::lds, tw::half_t>(lds + offset, layout),
                                make_tuple(number<rows>{}, number<k>{}), {}, Distribution{});
  };
  // Both operands are anywhere in LDS: a loop over them is all that this kernel has.
  const auto a = window(0, tw::a_lds_distribution<tile>{});
  const auto b = window(0, tw::b_lds_distribution<tile>{});
  tw::static_distributed_tensor<float, tw::c_distribution<tile>> c{};
  TILEWRIGHT_UNROLL(1)
  for (index_t i = 0; i < tiles; ++i) tw::block_gemm<tile>(c, a, b, (i & 1) * 128);
  for (index_t i = 0; i < c.size(); ++i) out[i * tile.block_size() + tw::exec::thread_id()] = c.thread_buffer[i];
#endif
}
