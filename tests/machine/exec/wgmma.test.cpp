// SPDX-License-Identifier: MIT
// Matrix instructions of warpgroups on the CPU: operands where the library's descriptors say, results after the wait
// and not before.
#include "../emulator/fault_text.hpp"

#include <tilewright/block/mma/wgmma_operand.hpp>
#include <tilewright/core/arch/arch.hpp>
#include <tilewright/core/base/fp8.hpp>
#include <tilewright/machine/emulator/launch.hpp>
#include <tilewright/machine/exec/hopper.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

namespace tilewright {
namespace {

constexpr index_t a_place = 0, b_place = 16384, lds_bytes = 65536;

template <class Kernel>
emulator::launch_report run(Kernel kernel) {
  return emulator::launch({.target = &arch::sm90::value,
                           .block_size = 128,
                           .lds_bytes = lds_bytes,
                           .workers = 1,
                           .check_lds = emulator::lds_checks::on},
                          kernel);
}

template <class Kernel>
std::string fault_of(Kernel kernel) {
  return testing_exec::fault_text("wgmma.test.cpp", [&] { run(kernel); });
}

float a_at(index_t m, index_t k) { return float((m * 5 + k * 3) % 7 - 3); }
float b_at(index_t n, index_t k) { return float((n * 2 + k * 11) % 5 - 2); }

/// An operand's elements where bulk copies put them: boxes of 128 bytes along k, or along m or n.
template <class T, class ValueAt>
void write_operand(const wgmma_operand& operand, index_t place, ValueAt value_at) {
  const index_t k = operand.k();
  for (index_t i = exec::thread_id(); i < operand.rows * k; i += 128) {
    const index_t row = i / k, l = i % k;
    const index_t columns = operand.box_columns();
    const index_t box = (operand.k_is_contiguous ? l : row) / columns;
    const index_t along = (operand.k_is_contiguous ? l : row) % columns, across = operand.k_is_contiguous ? row : l;
    const index_t byte = operand.layout().address(across, along * index_t(sizeof(T)));
    exec::lds_store({}, place + box * operand.box_bytes() + byte, type_convert<T>(value_at(row, l)));
  }
}

/// 128 bytes along k by four instructions, added to 100 where `accumulate`.
template <class T, index_t N, bool AAlongK, bool BAlongK>
void expect_product(bool accumulate) {
  constexpr wgmma_operand a{64, sizeof(T), AAlongK}, b{N, sizeof(T), BAlongK};
  std::vector<float> result(64 * N, -1);
  const emulator::launch_report report = run([&] {
    exec::warpgroup_reg_alloc<240>();
    exec::lds_allocate<lds_bytes>();
    write_operand<T>(a, a_place, a_at);
    write_operand<T>(b, b_place, b_at);
    exec::fence_async_proxy();
    exec::block_sync();
    float c[N / 2];
    for (float& e : c) e = 100;
    exec::wgmma_fence();
    for (index_t i = 0; i < 4; ++i) {
      exec::wgmma<N, T, !AAlongK, !BAlongK>(
          c, detail::wgmma_descriptor(a.descriptor_fields(), unsigned(a_place + a.instruction_bytes(i))),
          detail::wgmma_descriptor(b.descriptor_fields(), unsigned(b_place + b.instruction_bytes(i))),
          accumulate || i > 0);
    }
    exec::wgmma_commit();
    for (const float e : c) EXPECT_TRUE(std::isnan(e));
    exec::wgmma_wait<0>();
    const arch::lane_map map = arch::describe(arch::matrix_op::mma_m16n8k16_x2).c;
    for (index_t i = 0; i < N / 2; ++i) {
      const arch::matrix_position at = map.at(exec::lane_id(), i % 8);
      result[std::size_t((exec::wave_id() * 16 + at.row) * N + i / 8 * 16 + at.col)] = c[i];
    }
  });
  for (index_t m = 0; m < 64; ++m) {
    for (index_t n = 0; n < N; ++n) {
      float sum = accumulate ? 100 : 0;
      for (index_t k = 0; k < a.k(); ++k) sum += a_at(m, k) * b_at(n, k);
      ASSERT_EQ(result[std::size_t(m * N + n)], sum) << m << ", " << n;
    }
  }
  EXPECT_EQ(report.matrix_instructions, 16);
}

TEST(Wgmma, OperandsLieWhereDescriptorsSay) {
  expect_product<half_t, 64, true, true>(false);
  expect_product<half_t, 160, true, false>(true);
  expect_product<bfloat16_t, 192, false, true>(false);
  expect_product<bfloat16_t, 256, false, false>(true);
  expect_product<fp8_ocp_t, 128, true, true>(true);
}

/// The same with A in registers, which change before wgmma_wait if `changes`.
template <class T, index_t N, bool BAlongK>
void expect_product_of_registers(bool changes = false) {
  constexpr wgmma_operand b{N, sizeof(T), BAlongK, 48};
  constexpr index_t k = 32 / sizeof(T);
  std::vector<float> result(64 * N, -1);
  run([&] {
    exec::lds_allocate<lds_bytes>();
    write_operand<T>(b, b_place, b_at);
    exec::fence_async_proxy();
    exec::block_sync();
    const arch::lane_map map =
        arch::describe(sizeof(T) == 1 ? arch::matrix_op::wgmma_k32_b8 : arch::matrix_op::wgmma_k16).a;
    unsigned a[3][4];
    for (index_t i = 0; i < 3; ++i) {
      T elements[16 / sizeof(T)];
      for (index_t e = 0; e < index_t(16 / sizeof(T)); ++e) {
        const arch::matrix_position at = map.at(exec::lane_id(), e);
        elements[e] = type_convert<T>(a_at(exec::wave_id() * 16 + at.row, i * k + at.col));
      }
      std::memcpy(a[i], elements, 16);
    }
    float c[N / 2] = {};
    exec::wgmma_fence();
    for (index_t i = 0; i < 48 / k; ++i) {
      exec::wgmma<N, T, !BAlongK>(
          c, a[i], detail::wgmma_descriptor(b.descriptor_fields(), unsigned(b_place + b.instruction_bytes(i))), i > 0);
    }
    exec::wgmma_commit();
    if (changes && exec::thread_id() == 70) a[1][2] ^= 1;
    exec::wgmma_wait<0>();
    for (index_t i = 0; i < N / 2; ++i) {
      const emulator::wgmma_position at = emulator::position_of_wgmma_result(exec::thread_id(), i);
      result[std::size_t(at.row * N + at.col)] = c[i];
    }
  });
  for (index_t m = 0; m < 64; ++m) {
    for (index_t n = 0; n < N; ++n) {
      float sum = 0;
      for (index_t l = 0; l < 48 / k * k; ++l) sum += a_at(m, l) * b_at(n, l);
      ASSERT_EQ(result[std::size_t(m * N + n)], sum) << m << ", " << n;
    }
  }
}

TEST(Wgmma, AInRegisters) {
  expect_product_of_registers<half_t, 80, true>();
  expect_product_of_registers<bfloat16_t, 176, false>();
  expect_product_of_registers<fp8_ocp_t, 64, true>();
  EXPECT_NE(testing_exec::fault_text("wgmma.test.cpp", [] { expect_product_of_registers<half_t, 64, true>(true); })
                .find("thread 70 of block (0, 0, 0) changes operand a in registers before it has waited"),
            std::string::npos);
}

// PTX ISA, "Shared memory matrix layout": patterns of 64 and 32 bytes, which the library's own operands do not use.
TEST(Wgmma, OtherSwizzles) {
  for (const index_t pattern : {64, 32}) {
    const unsigned long long fields =
        (pattern == 64 ? 2ull : 3ull) << 62 | static_cast<unsigned long long>(pattern / 2) << 32 | 1ull << 16;
    float first = 0;
    run([&] {
      exec::lds_allocate<lds_bytes>();
      for (index_t row = exec::thread_id() % 64, i = exec::thread_id() / 64 * 8, end = i + 8; i < end; ++i) {
        for (const index_t place : {a_place, b_place}) {
          const index_t address = place + row * pattern + i * 2, chunk = address >> 3 & (pattern == 64 ? 0x30 : 0x10);
          exec::lds_store({}, address ^ chunk, half_t(place == a_place ? a_at(row, i) : b_at(row, i)));
        }
      }
      exec::fence_async_proxy();
      exec::block_sync();
      float c[32];
      exec::wgmma_fence();
      exec::wgmma<64, half_t, false, false>(c, detail::wgmma_descriptor(fields, a_place),
                                            detail::wgmma_descriptor(fields, b_place), false);
      exec::wgmma_commit();
      exec::wgmma_wait<0>();
      if (exec::thread_id() == 127) first = c[30];  // row 63 - 8, column 62
    });
    float sum = 0;
    for (index_t k = 0; k < 16; ++k) sum += a_at(63, k) * b_at(62, k);
    EXPECT_EQ(first, sum);
  }
}

enum { nothing, fence, commit, wait, last_wait, proxy_fence, barrier, hands_off, instruction, same_operands, swizzle };

/// Two groups of one instruction each; what is `missing` is left out.
void multiply_without(int missing) {
  constexpr wgmma_operand a{64, 2, true}, b{64, 2, true};
  exec::lds_allocate<lds_bytes>();
  write_operand<half_t>(a, a_place, a_at);
  write_operand<half_t>(b, b_place, b_at);
  if (missing != proxy_fence) exec::fence_async_proxy();
  if (missing != barrier) exec::block_sync();
  float c[32] = {};
  if (missing != fence) exec::wgmma_fence();
  const auto fields = missing == swizzle ? a.descriptor_fields() & ~(3ull << 62) : a.descriptor_fields();
  const auto descriptor = [&](index_t place) { return detail::wgmma_descriptor(fields, unsigned(place)); };
  exec::wgmma<64, half_t, false, false>(c, descriptor(a_place), descriptor(b_place), true);
  exec::wgmma_commit();
  if (missing != instruction || exec::wave_id() != 2) {
    const bool other = missing == same_operands && exec::wave_id() == 1;
    exec::wgmma<64, half_t, false, false>(c, descriptor(a_place + 32), descriptor(b_place + 32), !other);
  }
  if (missing != commit) exec::wgmma_commit();
  if (missing == hands_off && exec::thread_id() == 77) c[3] = 0;
  if (missing == last_wait) return;
  if (missing != wait) exec::wgmma_wait<0>();
  if (missing == wait) exec::wgmma_wait<1>();
  const index_t row = exec::wave_id() * 16 + exec::lane_id() / 16;
  exec::lds_store({}, a_place + row * 128 + exec::lane_id() % 16 * 4, 0);  // what the wave has read
}

TEST(Wgmma, WhatIsMissing) {
  const auto fault_without = [](int missing) { return fault_of([=] { multiply_without(missing); }); };
  EXPECT_EQ(fault_without(nothing), "no fault");
  EXPECT_EQ(fault_without(fence),
            "thread 127 of block (0, 0, 0) passes accumulators to wgmma (here) without a wgmma_fence() since they were "
            "the thread's own");
  EXPECT_EQ(fault_without(commit),
            "thread 95 of block (0, 0, 0) writes LDS byte 4284 (here) before a matrix instruction (here) that "
            "reads there was waited for");
  EXPECT_EQ(fault_without(wait),
            "thread 95 of block (0, 0, 0) writes LDS byte 4284 (here) before a matrix instruction (here) that "
            "reads there was waited for");
  EXPECT_EQ(fault_without(last_wait),
            "thread 127 of block (0, 0, 0) leaves the kernel before it has waited for its matrix instructions");
  EXPECT_EQ(fault_without(proxy_fence),
            "thread 96 of block (0, 0, 0) multiplies LDS bytes 6144 to 6145 (here) that thread 0 wrote (here) without "
            "a fence_async_proxy() between");
  EXPECT_EQ(fault_without(barrier),
            "thread 0 of block (0, 0, 0) multiplies LDS bytes 2 to 15 (here), which no thread has written before: is a "
            "write or a barrier missing?");
  EXPECT_EQ(fault_without(hands_off),
            "thread 77 of block (0, 0, 0) changes accumulators before it has waited (here) for the matrix instructions "
            "that add to them");
  EXPECT_EQ(fault_without(instruction),
            "thread 95 of block (0, 0, 0) comes to wgmma_wait (here) with other matrix instructions than thread 0 of "
            "its warpgroup");
  EXPECT_EQ(
      fault_without(same_operands),
      "thread 32 of block (0, 0, 0) passes wgmma (here) other operands than the threads of its warpgroup before it");
  EXPECT_EQ(fault_without(swizzle),
            "thread 127 of block (0, 0, 0) passes wgmma (here) a descriptor of a without a swizzle or with a base "
            "offset, which the CPU emulator does not know");
}

TEST(Wgmma, OperandsMustLieInTheAllocation) {
  EXPECT_EQ(
      fault_of([] {
        constexpr wgmma_operand a{64, 2, true};
        exec::lds_allocate<16384>();
        float c[32];
        exec::wgmma_fence();
        exec::wgmma<64, half_t, false, false>(c, detail::wgmma_descriptor(a.descriptor_fields(), 0),
                                              detail::wgmma_descriptor(a.descriptor_fields(), 8192 + 1024), false);
      }),
      "thread 0 of block (0, 0, 0) multiplies (here) an operand b that reaches LDS byte 16399, outside of the 16384 "
      "bytes that it has allocated");
}

}  // namespace
}  // namespace tilewright
