// SPDX-License-Identifier: MIT
// Starts kernels on rows with one of the tiles that launch_rows compiles.
#pragma once

#include "library.hpp"

#include <tilewright/kernels/rows/launch_rows.hpp>

namespace row_kernels {

template <template <tw::row_tile> class Kernel>
const char* start_rows(const auto& args, const call& c) {
  tw::launch_rows<Kernel>(args, {.stream = c.stream});
  return nullptr;
}

}  // namespace row_kernels
