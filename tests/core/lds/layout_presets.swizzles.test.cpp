// SPDX-License-Identifier: MIT
#include <tilewright/core/lds/layout_presets.hpp>

#include <gtest/gtest.h>

namespace tw = tilewright;

namespace {

// Swizzle<Bits, 4, 3> as others write it.
int swizzle(int bits, int address) { return address ^ ((address & ((1 << bits) - 1) << 7) >> 3); }

TEST(BulkSwizzle, AddressesAreThoseOfTheHardware) {
  for (const int row_bytes : {64, 128}) {
    for (int address = 0; address < 8192; ++address) {
      EXPECT_EQ(tw::detail::tma_swizzled_address(row_bytes, address), swizzle(row_bytes == 128 ? 3 : 2, address));
    }
  }
}

TEST(BulkSwizzle, LayoutPutsEveryByteThere) {
  for (const int row_bytes : {64, 128}) {
    for (const int element_bytes : {1, 2, 4}) {
      for (const int rows : {8, 16, 64, 80, 160, 256}) {
        const tw::swizzled_layout l = tw::tma_swizzle(rows, row_bytes, element_bytes);
        EXPECT_GE(l.tile.rows, rows);
        EXPECT_EQ(l.tile.cols * element_bytes, row_bytes);
        for (int row = 0; row < rows; ++row) {
          for (int byte = 0; byte < row_bytes; ++byte) {
            ASSERT_EQ(l.address(row, byte), swizzle(row_bytes == 128 ? 3 : 2, row * row_bytes + byte));
          }
        }
        EXPECT_TRUE(tw::detail::is_tma_swizzle(l));
      }
    }
  }
}

TEST(BulkSwizzle, OtherLayoutsAreNot) {
  tw::swizzled_layout plain = tw::tma_swizzle(64, 128, 2);
  for (tw::index_t& flip : plain.flips) flip = 0;
  EXPECT_FALSE(tw::detail::is_tma_swizzle(plain));
  tw::swizzled_layout other = tw::tma_swizzle(64, 128, 2);
  other.flips[4] = 1;
  EXPECT_FALSE(tw::detail::is_tma_swizzle(other));
  EXPECT_FALSE(tw::detail::is_tma_swizzle(tw::swizzled_rows({64, 128, 2}, 256, {1, 2, 4, 0, 0, 0})));
}

// The descriptor that kernels use agrees with the layout.
TEST(BulkSwizzle, Descriptor) {
  constexpr tw::swizzled_layout layout = tw::tma_swizzle(64, 128, 2);
  constexpr auto descriptor = tw::make_lds_descriptor<layout>();
  for (int row = 0; row < 64; ++row) {
    for (int col = 0; col < 64; ++col) {
      ASSERT_EQ(descriptor.calculate_offset({{row, col}}) * 2, swizzle(3, row * 128 + col * 2));
    }
  }
}

}  // namespace
