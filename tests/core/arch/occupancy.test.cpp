// SPDX-License-Identifier: MIT
// Blocks of a compute unit, limited by LDS and by registers.
#include <tilewright/core/arch/arch.hpp>
#include <tilewright/core/arch/occupancy.hpp>

#include <gtest/gtest.h>

namespace tilewright::arch {
namespace {

TEST(Occupancy, LdsIsAllocatedInGranules) {
  EXPECT_EQ(resident_blocks(gfx942::value, 16384), 4);
  EXPECT_EQ(resident_blocks(gfx942::value, 16385), 3) << "33 granules of 512 bytes";
  EXPECT_EQ(resident_blocks(gfx942::value, 65537), 0);
  EXPECT_EQ(resident_blocks(gfx950::value, 32768), 4) << "26 granules of 1280 bytes; 160 KiB hold 128 granules";
  EXPECT_EQ(resident_blocks(gfx942::value, 0), 128) << "one granule";
}

TEST(Occupancy, BlocksShareAPool) {
  EXPECT_EQ(resident_blocks(gfx1100::value, 65536), 2) << "two blocks of a workgroup processor";
  EXPECT_EQ(resident_blocks(sm90::value, 32768), 6) << "each reserves 1 KiB of 228";
  EXPECT_EQ(resident_blocks(sm90::value, 227 * 1024), 1);
}

TEST(Occupancy, RegistersLimitWaves) {
  EXPECT_EQ(resident_blocks(gfx942::value, 1024, 256, 256), 2) << "2 waves on each of 4 SIMDs";
  EXPECT_EQ(resident_blocks(gfx942::value, 1024, 256, 257), 1);
  EXPECT_EQ(resident_blocks(gfx942::value, 40000, 256, 128), 1) << "LDS";
  EXPECT_EQ(resident_blocks(gfx1100::value, 1024, 256, 192), 4) << "8 waves of 32 on each of 4 SIMDs";
  EXPECT_EQ(resident_blocks(sm90::value, 1024, 256, 128), 2) << "65,536 registers";
  EXPECT_EQ(resident_blocks(sm90::value, 1024, 256, 129), 1);
}

}  // namespace
}  // namespace tilewright::arch
