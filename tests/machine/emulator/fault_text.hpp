// SPDX-License-Identifier: MIT
// What a launch is refused for, in words that do not change when lines of a test move.
#pragma once

#include <tilewright/machine/emulator/fault.hpp>

#include <gtest/gtest.h>

#include <string>

namespace tilewright::testing_exec {

/// "(here)" instead of "(barrier.test.cpp:30)", for a file "barrier.test.cpp".
inline std::string without_lines(std::string text, const std::string& file) {
  for (auto at = text.find(file + ':'); at != text.npos; at = text.find(file + ':'))
    text.replace(at, text.find(')', at) - at, "here");
  return text;
}

/// The text of the fault that ends `run`, without lines of the file.
template <class Run>
std::string fault_text(const std::string& file, Run run) {
  try {
    run();
  } catch (const emulator::fault& f) {
    return without_lines(f.what(), file);
  }
  return "no fault";
}

/// Whether `run` ends with a fault that says `why`.
template <class Run>
testing::AssertionResult is_refused(const char* why, Run run) {
  try {
    run();
  } catch (const emulator::fault& f) {
    if (std::string(f.what()).find(why) != std::string::npos) return testing::AssertionSuccess();
    return testing::AssertionFailure() << f.what();
  }
  return testing::AssertionFailure() << "no fault";
}

}  // namespace tilewright::testing_exec
