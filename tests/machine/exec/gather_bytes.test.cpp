// SPDX-License-Identifier: MIT
// Parts of several registers become one register.
#include <tilewright/machine/exec/exec.hpp>
#include <tilewright/machine/exec/gather_bytes.hpp>

#include <gtest/gtest.h>

namespace tilewright {
namespace {

TEST(GatherBytes, TransposesFourByFour) {
  const unsigned w[] = {0x13121110, 0x23222120, 0x33323130, 0xf3f2f1f0};
  EXPECT_EQ(exec::gather_bytes(w[0], w[1], w[2], w[3], 0), 0xf0302010u);
  EXPECT_EQ(exec::gather_bytes(w[0], w[1], w[2], w[3], 1), 0xf1312111u);
  EXPECT_EQ(exec::gather_bytes(w[0], w[1], w[2], w[3], 2), 0xf2322212u);
  EXPECT_EQ(exec::gather_bytes(w[0], w[1], w[2], w[3], 3), 0xf3332313u);
}

TEST(GatherHalves, TransposesTwoByTwo) {
  EXPECT_EQ(exec::gather_halves(0x11111010, 0x21212020, 0), 0x20201010u);
  EXPECT_EQ(exec::gather_halves(0x11111010, 0x21212020, 1), 0x21211111u);
}

}  // namespace
}  // namespace tilewright
