// SPDX-License-Identifier: MIT
// printf to a string.
#pragma once

#include <cstdio>
#include <string>

namespace gemm_program {

/// At most 511 characters; what is beyond is left out.
template <class... Values>
std::string formatted(const char* format, Values... values) {
  char text[512];
  std::snprintf(text, sizeof text, format, values...);
  return text;
}

}  // namespace gemm_program
