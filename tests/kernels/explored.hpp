// SPDX-License-Identifier: MIT
// Runs a kernel in some schedules of the emulator's explorer.
#pragma once

#include <tilewright/machine/emulator/schedule_explorer.hpp>

#include <gtest/gtest.h>

#include <cstdlib>

namespace tilewright::testing_schedules {

/// run() launches kernels and checks their results. A few schedules, or as many as TILEWRIGHT_EXPLORED_SCHEDULES says.
template <class Run>
void expect_in_explored_schedules(Run run) {
  const char* const wanted = std::getenv("TILEWRIGHT_EXPLORED_SCHEDULES");
  const index_t schedules = wanted == nullptr ? 4 : index_t(std::atoi(wanted));
  const emulator::exploration explored = emulator::explore({.deviations = 2, .max_schedules = schedules}, run);
  EXPECT_EQ(explored.schedules, schedules);
  EXPECT_FALSE(explored.is_complete);
}

}  // namespace tilewright::testing_schedules
