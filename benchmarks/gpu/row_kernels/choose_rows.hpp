// SPDX-License-Identifier: MIT
// The row_tile that a program would choose among a few compiled ones.
#pragma once

#include "library.hpp"

#include <tilewright/rows/row_block.hpp>

namespace row_kernels {

/// Starts Kernel::kernel<row_tile> with the smallest of some tiles that holds a row, with vectors of Vector elements if
/// they fit.
template <class Kernel, index_t Vector>
const char* start_rows(const auto& args, const call& c) {
  using tw::choose_row_tile;
  const char* why = nullptr;
  if (args.cols <= 1024) {
    why = start<typename Kernel::template kernel<choose_row_tile(1024, Vector)>>(args, c);
  } else if (args.cols <= 8192) {
    why = start<typename Kernel::template kernel<choose_row_tile(8192, Vector)>>(args, c);
  } else {
    why = start<typename Kernel::template kernel<choose_row_tile(32768, Vector)>>(args, c);
  }
  if (!why) return nullptr;
  return start<typename Kernel::template kernel<choose_row_tile(4096, 1)>>(args, c);
}

}  // namespace row_kernels
