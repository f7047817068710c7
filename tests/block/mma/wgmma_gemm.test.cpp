// SPDX-License-Identifier: MIT
// C of a product as A of the next one, in registers.
#include <tilewright/block/mma/wgmma_gemm.hpp>
#include <tilewright/core/arch/sm90.hpp>

#include <gtest/gtest.h>

namespace tilewright {
namespace {

constexpr block_tile halves{64, 64, 64, 4, 1, arch::matrix_op::wgmma_k16},
    bytes{64, 64, 64, 4, 1, arch::matrix_op::wgmma_k32_b8};
using sums = static_distributed_tensor<float, c_distribution<halves>>;

// A thread's sums are numbers that e4m3 has; word w of step i holds columns of two groups of eight (PTX ISA, wgmma with
// A in registers: the thread's four elements that follow each other along k).
TEST(WgmmaGemm, RoundedSumsInRegisters) {
  sums c{};
  for (index_t i = 0; i < 32; ++i) c.thread_buffer[i] = float(i < 16 ? i + 1 : 15 - i);
  wgmma_tile_in_registers<bytes, fp8_ocp_t> a;
  a.assign(c);
  wgmma_tile_in_registers<halves, half_t> b;
  b.assign(c);
  for (index_t group = 0; group < 8; ++group) {  // of eight columns, of which the thread has two of each of two rows
    for (index_t row = 0; row < 2; ++row) {
      for (index_t l = 0; l < 2; ++l) {
        const float expected = c.thread_buffer[4 * group + 2 * row + l];
        const unsigned of_bytes = a.words[group / 2 * 2 + row] >> (16 * (group % 2) + 8 * l);
        EXPECT_EQ(float(bit_cast<fp8_ocp_t>(static_cast<unsigned char>(of_bytes))), expected);
        const unsigned of_halves = b.words[2 * group + row] >> 16 * l;
        EXPECT_EQ(float(bit_cast<half_t>(static_cast<unsigned short>(of_halves))), expected);
      }
    }
  }
}

constexpr wgmma_operand operand{64, 2, true};
[[maybe_unused]] constexpr auto multiplies = &block_gemm<halves, half_t, operand, c_distribution<halves>>;

}  // namespace
}  // namespace tilewright
