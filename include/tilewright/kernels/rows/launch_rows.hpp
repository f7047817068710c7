// SPDX-License-Identifier: MIT
// Launches a kernel on rows with the tile that fits their length and alignment, of those that are compiled.
#pragma once

#include <tilewright/block/rows/row_tile.hpp>
#include <tilewright/launch/check_rows.hpp>
#include <tilewright/launch/launch.hpp>

#include <string_view>

namespace tilewright {

namespace detail {

template <template <row_tile> class Kernel, row_tile Tile, row_tile... Longer>
void launch_shortest(const auto& args, const launch_options& options) {
  if constexpr (sizeof...(Longer) > 0) {
    if (args.cols > Tile.most_cols()) return launch_shortest<Kernel, Longer...>(args, options);
  }
  launch<Kernel<Tile>>(args, options);
}

/// The threads of a row that fits in registers and LDS.
template <class Kernel>
inline constexpr index_t most_threads_v = 512;
template <class Kernel>
  requires requires { Kernel::most_threads; }
inline constexpr index_t most_threads_v<Kernel> = Kernel::most_threads;
/// The vectors of a thread for unaligned rows.
template <class Kernel>
inline constexpr index_t most_vectors_v = 6;
template <class Kernel>
  requires requires { Kernel::most_vectors; }
inline constexpr index_t most_vectors_v<Kernel> = Kernel::most_vectors;

}  // namespace detail

/// Launches Kernel<tile> for rows of args.cols elements of args.x, with the tile for the shortest of Cols that is not
/// shorter, or for the last one. Compiles two tiles for each of Cols, as rows may start anywhere. Throws launch_error
/// with the kernel's error message.
template <template <row_tile> class Kernel, index_t... Cols>
  requires(sizeof...(Cols) > 0)
void launch_rows(const auto& args, const launch_options& options = {}) {
  using any = Kernel<row_tile{}>;
  using arch = typename any::arch;
  using T = detail::remove_cvref_t<decltype(*args.x)>;
  constexpr auto threads = [](index_t cols) {
    return cols > 65536 / index_t(sizeof(T)) ? 512 : detail::most_threads_v<any>;
  };
  // A block of this tile has one row: no stride is too large for it alone.
  const char* const why = Kernel<choose_row_tile<arch, T>(16384)>::check(args);
  const bool is_aligned = !why || std::string_view(why) != detail::needs_vectors;
  is_aligned ? detail::launch_shortest<Kernel, choose_row_tile<arch, T>(Cols, threads(Cols))...>(args, options)
             : detail::launch_shortest<Kernel, choose_unaligned_tile<arch, T>(Cols, detail::most_vectors_v<any>)...>(
                   args, options);
}

/// The same for rows of any length.
template <template <row_tile> class Kernel>
void launch_rows(const auto& args, const launch_options& options = {}) {
  launch_rows<Kernel, 1024, 1536, 2048, 4096, 5120, 6144, 8192, 32768, 51200, 131072>(args, options);
}

}  // namespace tilewright
