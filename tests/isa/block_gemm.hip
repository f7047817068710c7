// SPDX-License-Identifier: MIT
// A loop that does nothing but multiply tiles in LDS: block_gemm reads ahead by itself.
#include <tilewright/block/mma/block_gemm.hpp>
#include <tilewright/core/arch/current.hpp>
#include <tilewright/core/lds/layout_presets.hpp>

namespace tw = tilewright;
using tw::index_t, tw::make_tuple, tw::number;

// The matrix instruction is f16's of the target, for tiles of 128 x 128 x 64 and four waves.
#if defined(__gfx950__)
constexpr auto op = tw::arch::matrix_op::mfma_32x32x16;
#else
constexpr auto op = tw::arch::matrix_op::mfma_32x32x8_x2;
#endif
constexpr tw::block_tile tile{128, 128, 64, 2, 2, op};

extern "C" TILEWRIGHT_GLOBAL TILEWRIGHT_BLOCK_SIZE(256) void multiply([[maybe_unused]] float* out,
                                                                      [[maybe_unused]] index_t stages) {
#if TILEWRIGHT_DEVICE_PASS
  using element = tw::half_t;
  constexpr auto space = tw::address_space_enum::lds;
  constexpr auto layout = tw::make_lds_descriptor<tw::row_xor_layout(tw::lds_tile{128, 64, sizeof(element)})>();
  const auto lds = tw::exec::lds_allocate<4 * 128 * 64 * 2>();
  const auto lengths = make_tuple(number<128>{}, number<64>{});
  const auto a = tw::make_tile_window(tw::make_tensor_view<space, element>(lds, layout), lengths, {},
                                      tw::a_lds_distribution<tile>{});
  const auto b = tw::make_tile_window(tw::make_tensor_view<space, element>(lds + 2 * 128 * 64 * 2, layout), lengths, {},
                                      tw::b_lds_distribution<tile>{});
  tw::static_distributed_tensor<float, tw::c_distribution<tile>> c{};
  TILEWRIGHT_UNROLL(1)
  for (index_t i = 0; i < stages; ++i) tw::block_gemm<tile>(c, a, b, (i & 1) * 128 * 64 * 2);
  for (index_t i = 0; i < c.size(); ++i) out[i * 256 + tw::exec::thread_id()] = c.thread_buffer[i];
#endif
}
