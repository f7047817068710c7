// SPDX-License-Identifier: MIT
// How many random inputs are tried, and which: the same in every run, unless the environment asks for others.
#pragma once

#include <cstdlib>
#include <string>

namespace tilewright::property {

/// The environment variable's value, or the default.
inline long setting(const char* name, long otherwise) {
  const char* const value = std::getenv(name);
  return value != nullptr && *value != '\0' ? std::stol(value) : otherwise;
}

/// As many times as a test asks for, multiplied where TILEWRIGHT_PROPERTY_CASES is above its default of 5000.
inline long scaled(long cases) {
  const long wanted = setting("TILEWRIGHT_PROPERTY_CASES", 5000);
  return cases * (wanted > 5000 ? wanted : 5000) / 5000;
}

}  // namespace tilewright::property
