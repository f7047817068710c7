// SPDX-License-Identifier: MIT
// Copies of operand tiles: every element once, in vectors along the contiguous dimension.
#include "../../core/distribution/naive_distribution.hpp"

#include <tilewright/block/operands/operand_copy.hpp>

#include <gtest/gtest.h>

namespace tilewright {
namespace {

void expect_sound(operand_major major, index_t rows, index_t k, index_t waves, index_t wave_size) {
  SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(k) + " by " + std::to_string(waves) + " waves of " +
               std::to_string(wave_size) + (major == operand_major::k ? " along k" : " along rows"));
  const distribution_encoding e = operand_copy_encoding(major, rows, k, waves, wave_size, 8, 8);
  EXPECT_TRUE(check_encoding(e).is_sound());
  if (rows * k <= 4096)  // larger tiles repeat the same factors, and counting their elements takes seconds
    EXPECT_EQ(naive::ownership_fault(e), "");
  EXPECT_EQ(e.r.size(), 0);
  EXPECT_EQ(e.x_length(0), rows);
  EXPECT_EQ(e.x_length(1), k);
  EXPECT_EQ(naive::partition_lengths(e), (naive::indices{waves, wave_size}));
  // The last y is a vector of 8 along the contiguous dimension.
  const rh_id vector = e.y[e.ndim_y() - 1];
  EXPECT_EQ(vector.major, major == operand_major::k ? 2 : 1);
  EXPECT_EQ(e.length(vector), 8);
  EXPECT_EQ(e.stride(vector), 1);
}

TEST(OperandCopy, CoversTheTileOnce) {
  for (const operand_major major : {operand_major::k, operand_major::mn}) {
    for (const index_t wave_size : {32, 64}) {
      for (const index_t waves : {1, 2, 4, 8}) {
        for (const index_t rows : {32, 64, 128, 256}) {
          for (const index_t k : {16, 32, 64, 128}) {
            const bool fits = detail::operand_copy_fits(major, rows, k, waves, wave_size, 8, 8);
            EXPECT_EQ(fits, rows * k >= 8 * waves * wave_size);
            if (fits) expect_sound(major, rows, k, waves, wave_size);
          }
        }
      }
    }
  }
}

TEST(OperandCopy, FitsOnlyWholeVectorsForEveryThread) {
  using enum operand_major;
  EXPECT_FALSE(detail::operand_copy_fits(k, 16, 16, 1, 64, 8, 8)) << "half of the threads would have nothing";
  EXPECT_FALSE(detail::operand_copy_fits(mn, 16, 16, 1, 64, 8, 8));
  EXPECT_FALSE(detail::operand_copy_fits(k, 64, 12, 1, 32, 8, 8)) << "a row is not a whole number of vectors";
  EXPECT_FALSE(detail::operand_copy_fits(mn, 12, 64, 1, 32, 8, 8));
  EXPECT_FALSE(detail::operand_copy_fits(k, 48, 32, 4, 32, 8, 8)) << "waves would have different shares";
  EXPECT_FALSE(detail::operand_copy_fits(k, 8, 1024, 1, 32, 8, 8)) << "a row is longer than a wave";
  EXPECT_TRUE(detail::operand_copy_fits(k, 96, 32, 3, 64, 8, 8));
}

}  // namespace
}  // namespace tilewright
