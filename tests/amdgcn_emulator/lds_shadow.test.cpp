// SPDX-License-Identifier: MIT
// The shadow of LDS by dwords against one cell for each byte.
#include "lds_shadow.hpp"

#include <array>
#include <random>

#include <gtest/gtest.h>

TEST(LdsShadow, IsOneCellForEachByte) {
  constexpr emu::u32 size = 64;
  emu::lds_shadow shadow;
  shadow.resize(size);
  std::array<emu::u64, size> bytes{};
  std::mt19937 random(1);
  int merged = 0;
  for (int step = 0; step < 20000; ++step) {
    const emu::u32 n = 1 + random() % 16, a = random() % 2 ? random() % (size - n) : random() % (size / 4 - 4) * 4;
    const emu::u64 value = random() % 3;
    const auto change = [&](emu::u64& cell) { cell = value ? value : cell * 5 + 1; };
    shadow.change(a, n, change);
    for (emu::u32 k = a; k < a + n; ++k) change(bytes[k]);
    for (emu::u32 k = 0; k < size; ++k) {
      emu::u64 seen = 0;
      shadow.each(k, 1, [&](emu::u64 cell, emu::u32) {
        seen = cell;
        return false;
      });
      ASSERT_EQ(seen, bytes[k]) << "byte " << k << " after step " << step;
    }
    merged += !shadow.is_split(a / 4);
  }
  EXPECT_GT(merged, 1000) << "dwords become whole again";
  shadow.clear();
  shadow.each(0, size, [](emu::u64 cell, emu::u32) {
    EXPECT_EQ(cell, 0u);
    return false;
  });
}
