// SPDX-License-Identifier: MIT
// The row_tile that a program would choose among a few compiled ones.
#pragma once

#include "library.hpp"

#include <tilewright/rows/row_block.hpp>

namespace row_kernels {

/// Starts Kernel::kernel<row_tile> with the smallest of some tiles that holds a row of T. Rows that start anywhere have
/// vectors, too, if AnyStart, else single elements. Threads: most for rows that one block holds.
template <class Kernel, class T, index_t Threads, bool AnyStart>
const char* start_rows(const auto& args, const call& c) {
  using tw::choose_row_tile;
  constexpr index_t vector = 16 / index_t(sizeof(T)), wave = 32 * 4 * vector;  // elements that a wave holds
  const char* why = nullptr;
  if (args.cols <= wave) {
    why = start<typename Kernel::template kernel<choose_row_tile<arch, T>(wave)>>(args, c);
  } else if (args.cols <= 4 * wave) {
    why = start<typename Kernel::template kernel<choose_row_tile<arch, T>(4 * wave)>>(args, c);
  } else if (args.cols <= 8 * wave) {
    why = start<typename Kernel::template kernel<choose_row_tile<arch, T>(8 * wave, 256)>>(args, c);
  } else if (args.cols <= 32 * wave) {
    why = start<typename Kernel::template kernel<choose_row_tile<arch, T>(32 * wave, Threads)>>(args, c);
  } else if (args.cols <= 128 * wave || sizeof(T) == 2) {
    why = start<typename Kernel::template kernel<choose_row_tile<arch, T>(128 * wave)>>(args, c);
  } else if constexpr (sizeof(T) == 4) {
    why = start<typename Kernel::template kernel<choose_row_tile<arch, T>(256 * wave)>>(args, c);
  }
  if (!why) return nullptr;
  if constexpr (AnyStart) {
    constexpr tw::row_tile short_rows{256, 64, 4, vector, 1, true}, long_rows{256, 256, 4, vector, 1, true, 3};
    if (args.cols <= 2 * wave) return start<typename Kernel::template kernel<short_rows>>(args, c);
    return start<typename Kernel::template kernel<long_rows>>(args, c);
  } else {
    return start<typename Kernel::template kernel<choose_row_tile(4096, 1)>>(args, c);
  }
}

}  // namespace row_kernels
