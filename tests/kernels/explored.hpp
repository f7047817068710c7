// SPDX-License-Identifier: MIT
// Runs a kernel in some schedules of the emulator's explorer.
#pragma once

#include <tilewright/machine/emulator/schedule_explorer.hpp>

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

namespace tilewright::testing_schedules {

/// run() launches kernels and checks their results: in the default schedule and one with early copies and waves in
/// descending order, or in as many as TILEWRIGHT_EXPLORED_SCHEDULES says. Prints how many there were.
template <class Run>
void expect_in_explored_schedules(Run run) {
  const char* const wanted = std::getenv("TILEWRIGHT_EXPLORED_SCHEDULES");
  const index_t schedules = wanted == nullptr ? 2 : index_t(std::atoi(wanted));
  const emulator::exploration explored = emulator::explore({.deviations = 2, .max_schedules = schedules}, [&] {
    if (!testing::Test::HasFailure()) run();
  });
  std::printf("explored %d schedules, which are %d orders of waves and copies\n", int(explored.schedules),
              int(explored.orders));
  EXPECT_TRUE(explored.is_complete || 2 * explored.schedules >= schedules) << explored.schedules;
  EXPECT_TRUE(schedules < 2 || explored.orders > 1);
}

}  // namespace tilewright::testing_schedules
