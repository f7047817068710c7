// SPDX-License-Identifier: MIT
// The row_tile that a program would choose among a few compiled ones.
#pragma once

#include "library.hpp"

#include <tilewright/rows/row_block.hpp>

namespace row_kernels {

/// Starts Kernel::kernel<row_tile> with the smallest of some tiles that holds a row, with vectors of Vector elements if
/// they fit. LDS keeps what registers do not hold; the longest rows are shared by the blocks of a cluster.
template <class Kernel, index_t Vector>
const char* start_rows(const auto& args, const call& c) {
  using tw::choose_row_tile;
  constexpr tw::row_tile in_lds{512, 512, 4, Vector, 1, false, 3}, two_blocks{512, 512, 4, Vector, 2, false, 3},
      four_blocks{512, 512, 4, Vector, 4, false, 3}, any_start{256, 256, 4, Vector, 1, true, 3};
  constexpr index_t wave = 32 * 4 * Vector;  // elements that a wave holds
  const char* why = nullptr;
  if (args.cols <= wave) {
    why = start<typename Kernel::template kernel<choose_row_tile(wave, Vector)>>(args, c);
  } else if (args.cols <= 4 * wave) {
    why = start<typename Kernel::template kernel<choose_row_tile(4 * wave, Vector)>>(args, c);
  } else if (args.cols <= 8 * wave) {
    why = start<typename Kernel::template kernel<choose_row_tile(8 * wave, Vector)>>(args, c);
  } else if (args.cols <= 64 * wave) {
    why = start<typename Kernel::template kernel<in_lds>>(args, c);
  } else if (args.cols <= 128 * wave) {
    why = start<typename Kernel::template kernel<two_blocks>>(args, c);
  } else {
    why = start<typename Kernel::template kernel<four_blocks>>(args, c);
  }
  if (!why) return nullptr;
  if (!start<typename Kernel::template kernel<any_start>>(args, c)) return nullptr;
  return start<typename Kernel::template kernel<choose_row_tile(4096, 1)>>(args, c);
}

}  // namespace row_kernels
