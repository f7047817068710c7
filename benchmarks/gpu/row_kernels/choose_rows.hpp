// SPDX-License-Identifier: MIT
// The row_tile that a program would choose among a few compiled ones.
#pragma once

#include "library.hpp"

#include <tilewright/rows/row_block.hpp>

namespace row_kernels {

/// The same tile for rows that start anywhere.
constexpr tw::row_tile any_start(tw::row_tile tile) {
  tile.any_start = true;
  return tile;
}

/// Starts Kernel::kernel<row_tile> with the smallest of some tiles that holds a row of T, or one for rows that start
/// anywhere. Threads: most for rows that one block holds.
template <class Kernel, class T, index_t Threads>
const char* start_rows(const auto& args, const call& c) {
  using tw::choose_row_tile;
  constexpr index_t vector = 16 / index_t(sizeof(T)), wave = 32 * 4 * vector;  // elements that a wave holds
  constexpr index_t longest = (sizeof(T) == 4 ? 256 : 128) * wave;
  const char* why = nullptr;
  if (args.cols <= wave) {
    why = start<typename Kernel::template kernel<choose_row_tile<arch, T>(wave)>>(args, c);
  } else if (args.cols <= 3 * wave / 2) {
    why = start<typename Kernel::template kernel<choose_row_tile<arch, T>(3 * wave / 2)>>(args, c);
  } else if (args.cols <= 2 * wave) {
    why = start<typename Kernel::template kernel<choose_row_tile<arch, T>(2 * wave)>>(args, c);
  } else if (args.cols <= 4 * wave) {
    why = start<typename Kernel::template kernel<choose_row_tile<arch, T>(4 * wave)>>(args, c);
  } else if (args.cols <= 8 * wave) {
    why = start<typename Kernel::template kernel<choose_row_tile<arch, T>(8 * wave, 256)>>(args, c);
  } else if (args.cols <= 16 * wave) {
    why = start<typename Kernel::template kernel<choose_row_tile<arch, T>(16 * wave, Threads)>>(args, c);
  } else if (args.cols <= 32 * wave) {
    why = start<typename Kernel::template kernel<choose_row_tile<arch, T>(32 * wave, Threads)>>(args, c);
  } else if (args.cols <= 64 * wave) {
    why = start<typename Kernel::template kernel<choose_row_tile<arch, T>(64 * wave)>>(args, c);
  } else if (args.cols <= 128 * wave || sizeof(T) == 2) {
    why = start<typename Kernel::template kernel<choose_row_tile<arch, T>(128 * wave)>>(args, c);
  } else {
    why = start<typename Kernel::template kernel<choose_row_tile<arch, T>(longest)>>(args, c);
  }
  if (!why) return nullptr;
  const index_t cols = args.cols + vector - 1;  // with what is before a row in its first vector
  constexpr tw::row_tile in_lds = Threads == 256 && sizeof(T) == 2
                                      ? tw::row_tile{512, 512, 2, vector, 1, true, 6}
                                      : any_start(choose_row_tile<arch, T>(51200, Threads));
  if (cols <= 512) return start<typename Kernel::template kernel<any_start(choose_row_tile<arch, T>(512))>>(args, c);
  if (cols <= 1536) return start<typename Kernel::template kernel<any_start(choose_row_tile<arch, T>(1536))>>(args, c);
  if (cols <= 3072) return start<typename Kernel::template kernel<any_start(choose_row_tile<arch, T>(3072))>>(args, c);
  if (cols <= 6144)
    return start<typename Kernel::template kernel<any_start(choose_row_tile<arch, T>(6144, Threads))>>(args, c);
  if (cols <= 10240)
    return start<typename Kernel::template kernel<any_start({256, 256, sizeof(T) == 2 ? 5 : 10, vector})>>(args, c);
  return start<typename Kernel::template kernel<in_lds>>(args, c);
}

}  // namespace row_kernels
