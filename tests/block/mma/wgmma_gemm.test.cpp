// SPDX-License-Identifier: MIT
// C of a product as A of the next one, in registers.
#include <tilewright/block/mma/wgmma_gemm.hpp>
#include <tilewright/core/arch/arch.hpp>
#include <tilewright/machine/emulator/launch.hpp>

#include <gtest/gtest.h>

#include <vector>

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

float a_at(index_t m, index_t k) { return float((m * 5 + k * 3) % 7 - 3); }
float b_at(index_t n, index_t k) { return float((n * 2 + k * 11) % 5 - 2); }

/// call(register, row, column) for a thread's sums.
void for_each_sum(auto call) {
  const auto own = sums::distribution_type::calculate_index(get_partition_index<sums::distribution_type>());
  for (index_t d = 0; d < sums::num_elements; ++d) {
    const auto at = detail::position_in_tile<sums::distribution_type>(own, d);
    call(d, at[0], at[1]);
  }
}

// A in registers and B in LDS, by four instructions along k.
TEST(WgmmaGemm, MultipliesRegistersByLds) {
  std::vector<float> c(64 * 64, -1);
  emulator::launch(
      {.target = &arch::sm90::value,
       .grid = {1},
       .block_size = 128,
       .lds_bytes = operand.bytes(),
       .check_lds = emulator::lds_checks::on},
      [&] {
        const exec::lds_pointer lds = exec::lds_allocate<operand.bytes()>();
        for (index_t i = exec::thread_id(); i < 64 * 64; i += 128)
          exec::lds_store(lds, operand.layout().address(i / 64, i % 64 * 2), half_t(b_at(i / 64, i % 64)));
        sums x, product{};
        for_each_sum([&](index_t d, index_t m, index_t k) { x.thread_buffer[d] = a_at(m, k); });
        wgmma_tile_in_registers<halves, half_t> a;
        a.assign(x);
        exec::fence_async_proxy();
        exec::block_sync();
        block_gemm(product, a, wgmma_tile_in_lds<operand>{exec::lds_address(lds)}, false);
        exec::wgmma_wait<0>();
        for_each_sum([&](index_t d, index_t m, index_t n) { c[std::size_t(m * 64 + n)] = product.thread_buffer[d]; });
      });
  for (index_t m = 0; m < 64; ++m) {
    for (index_t n = 0; n < 64; ++n) {
      float wanted = 0;
      for (index_t k = 0; k < 64; ++k) wanted += a_at(m, k) * b_at(n, k);
      ASSERT_EQ(c[std::size_t(m * 64 + n)], wanted) << m << ", " << n;
    }
  }
}

// A in LDS with contiguous columns: the second 64 rows are the next box, of 32 rows along k.
TEST(WgmmaGemm, MultipliesTwoBoxesOfColumns) {
  constexpr block_tile tile{128, 64, 32, 4, 1, arch::matrix_op::wgmma_k16};
  constexpr wgmma_operand a{128, 2, false, 32}, b{64, 2, false, 32};
  using result = static_distributed_tensor<float, c_distribution<tile>>;
  std::vector<float> c(128 * 64, -1);
  emulator::launch({.target = &arch::sm90::value,
                    .grid = {1},
                    .block_size = 128,
                    .lds_bytes = a.bytes() + b.bytes(),
                    .check_lds = emulator::lds_checks::on},
                   [&] {
                     const exec::lds_pointer lds = exec::lds_allocate<a.bytes() + b.bytes()>();
                     for (index_t i = exec::thread_id(); i < 128 * 32; i += 128) {
                       const index_t m = i / 32, k = i % 32, place = a.layout().address(k, m % 64 * 2);
                       exec::lds_store(lds, m / 64 * a.box_bytes() + place, half_t(a_at(m, k)));
                       if (m < 64) exec::lds_store(lds, a.bytes() + place, half_t(b_at(m, k)));
                     }
                     exec::fence_async_proxy();
                     exec::block_sync();
                     result product{};
                     const unsigned address = exec::lds_address(lds);
                     block_gemm<tile, half_t>(product, wgmma_tile_in_lds<a>{address},
                                              wgmma_tile_in_lds<b>{address + unsigned(a.bytes())}, false);
                     exec::wgmma_wait<0>();
                     using distribution = result::distribution_type;
                     const auto own = distribution::calculate_index(get_partition_index<distribution>());
                     for (index_t d = 0; d < result::num_elements; ++d) {
                       const auto at = detail::position_in_tile<distribution>(own, d);
                       c[std::size_t(at[0] * 64 + at[1])] = product.thread_buffer[d];
                     }
                   });
  for (index_t m = 0; m < 128; ++m) {
    for (index_t n = 0; n < 64; ++n) {
      float wanted = 0;
      for (index_t k = 0; k < 32; ++k) wanted += a_at(m, k) * b_at(n, k);
      ASSERT_EQ(c[std::size_t(m * 64 + n)], wanted) << m << ", " << n;
    }
  }
}

}  // namespace
}  // namespace tilewright
