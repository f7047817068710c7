// SPDX-License-Identifier: MIT
// The row_tile that a program would choose among a few compiled ones.
#pragma once

#include "library.hpp"

#include <tilewright/rows/row_block.hpp>

namespace row_kernels {

/// Starts Kernel::kernel<row_tile> with the smallest of some tiles that holds a row, with vectors of Vector elements if
/// they fit. The longest rows are shared by the blocks of a cluster.
template <class Kernel, index_t Vector>
const char* start_rows(const auto& args, const call& c) {
  using tw::choose_row_tile;
  constexpr index_t wave = 32 * 4 * Vector;  // elements that a wave holds
  const char* why = nullptr;
  if (args.cols <= wave) {
    why = start<typename Kernel::template kernel<choose_row_tile(wave, Vector)>>(args, c);
  } else if (args.cols <= 4 * wave) {
    why = start<typename Kernel::template kernel<choose_row_tile(4 * wave, Vector)>>(args, c);
  } else if (args.cols <= 8 * wave) {
    why = start<typename Kernel::template kernel<choose_row_tile(8 * wave, Vector)>>(args, c);
  } else if (args.cols <= 16 * wave) {
    why = start<typename Kernel::template kernel<choose_row_tile(16 * wave, Vector)>>(args, c);
  } else if (args.cols <= 32 * wave) {
    why = start<typename Kernel::template kernel<choose_row_tile(32 * wave, Vector)>>(args, c);
  } else if (args.cols <= 128 * wave) {
    why = start<typename Kernel::template kernel<tw::row_tile{512, 512, 4, Vector, 8}>>(args, c);
  } else {
    why = start<typename Kernel::template kernel<tw::row_tile{1024, 1024, 4, Vector, 8}>>(args, c);
  }
  if (!why) return nullptr;
  return start<typename Kernel::template kernel<choose_row_tile(4096, 1)>>(args, c);
}

}  // namespace row_kernels
