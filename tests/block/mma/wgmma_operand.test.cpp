// SPDX-License-Identifier: MIT
#include <tilewright/block/mma/wgmma_operand.hpp>
#include <tilewright/core/arch/sm90.hpp>
#include <tilewright/core/lds/bank_conflicts.hpp>

#include <gtest/gtest.h>

namespace tw = tilewright;

namespace {

// Where the hardware looks for an element, from the descriptor's fields: PTX ISA, "Canonical layouts" with 128-byte
// swizzle. K-major: 8 rows of 128 bytes are a group, groups are `stride` apart. MN-major: 8 k of 128 bytes are a group,
// groups are `stride` apart; the next 128 bytes along m (n) are `leading` further.
int hardware_address(const tw::wgmma_operand& o, int row, int k) {
  const unsigned long long fields = o.descriptor_fields();
  const int leading = int(fields >> 16 & 0x3fff) * 16, stride = int(fields >> 32 & 0x3fff) * 16;
  EXPECT_EQ(fields >> 62, 1u);  // the 128-byte swizzle
  const int i = k / o.instruction_k(), start = o.instruction_bytes(i), k_in = k % o.instruction_k();
  int address;
  if (o.k_is_contiguous) {
    address = start + row / 8 * stride + row % 8 * 128 + k_in * o.element_bytes;
  } else {
    const int per_box = 128 / o.element_bytes;
    address = start + row / per_box * leading + k_in / 8 * stride + k_in % 8 * 128 + row % per_box * o.element_bytes;
  }
  return tw::detail::tma_swizzled_address(128, address);
}

// Where a bulk copy puts the element.
int copied_address(const tw::wgmma_operand& o, int row, int k) {
  const tw::swizzled_layout l = o.layout();
  const int per_box = 128 / o.element_bytes;
  if (o.k_is_contiguous) return k / per_box * o.box_bytes() + l.address(row, k % per_box * o.element_bytes);
  return row / per_box * o.box_bytes() + l.address(k, row % per_box * o.element_bytes);
}

TEST(WgmmaOperand, TheInstructionFindsWhatTheCopyWrote) {
  for (const tw::wgmma_operand o : {tw::wgmma_operand{64, 2, true},
                                    {128, 2, true},
                                    {160, 2, true},
                                    {256, 2, true},
                                    {256, 1, true},
                                    {64, 2, false},
                                    {128, 2, false},
                                    {160, 2, false},
                                    {256, 2, false},
                                    {176, 2, true, 96},
                                    {96, 2, false, 176},
                                    {256, 2, false, 80}}) {
    EXPECT_TRUE(o.is_sound());
    for (int row = 0; row < o.rows; ++row) {
      for (int k = 0; k < o.k(); ++k) {
        ASSERT_EQ(hardware_address(o, row, k), copied_address(o, row, k)) << row << ' ' << k;
        ASSERT_LT(copied_address(o, row, k), o.bytes());
      }
    }
  }
}

// The hardware reads 8 x 16 bytes at a time: no two of them share a bank.
// Rows 40 to 79 of boxes of 80 rows.
TEST(WgmmaOperand, SomeRowsOfABox) {
  const tw::wgmma_operand all{80, 2, true, 128}, some{40, 2, true, 128, 80};
  for (int row = 0; row < 40; ++row) {
    for (int k = 0; k < 128; ++k)
      ASSERT_EQ(40 * 128 + hardware_address(some, row, k), copied_address(all, 40 + row, k)) << row << ", " << k;
  }
}

TEST(WgmmaOperand, CoreMatricesHaveNoBankConflicts) {
  for (const bool k_is_contiguous : {true, false}) {
    const tw::wgmma_operand o{64, 2, k_is_contiguous};
    for (int row = 0; row < 64; row += 8) {
      for (int k = 0; k < 64; k += 8) {
        tw::lds_addresses addresses;
        for (tw::index_t& a : addresses) a = -1;
        for (int i = 0; i < 8; ++i)
          addresses[i] = k_is_contiguous ? copied_address(o, row + i, k) : copied_address(o, row, k + i);
        EXPECT_EQ(tw::lds_cost(tw::arch::sm90::value, tw::arch::lds_op::read_b128, addresses).conflicts, 0);
      }
    }
  }
}

TEST(WgmmaOperand, AddressesInDescriptors) {
  const unsigned long long fields = tw::wgmma_operand{128, 2, true}.descriptor_fields();
  EXPECT_EQ(tw::detail::wgmma_descriptor(fields, 0x12400) & 0x3fff, 0x1240u);
  EXPECT_EQ(tw::detail::wgmma_descriptor(fields, 0x12400) & ~0x3fffull, fields);
}

TEST(WgmmaOperand, UnsoundOperands) {
  EXPECT_FALSE((tw::wgmma_operand{12, 2, true}).is_sound());
  EXPECT_FALSE((tw::wgmma_operand{12, 2, false, 64}).is_sound()) << "a box of 8192 bytes, but not 8 rows";
}

}  // namespace
