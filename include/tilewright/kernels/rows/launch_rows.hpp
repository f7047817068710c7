// SPDX-License-Identifier: MIT
// Launches a kernel on rows with the tile that fits their length and alignment, of those that are compiled.
#pragma once

#include <tilewright/kernels/rows/row_choice.hpp>
#include <tilewright/launch/launch.hpp>

namespace tilewright {

namespace detail {

/// Launches the instance of Kernel that has `tile`, if it is one of Tiles.
template <template <row_tile> class Kernel, row_tile... Tiles>
void launch_with_tile(const row_tile& tile, const auto& args, const launch_options& options) {
  bool is_launched = false;
  const auto launch_if = [&]<row_tile Tile>(number<Tile>) {
    if (is_launched || !(tile == Tile)) return;
    is_launched = true;
    launch<Kernel<Tile>>(args, options);
  };
  (launch_if(number<Tiles>{}), ...);
}

}  // namespace detail

/// Launches Kernel<tile> for rows of args.cols elements of args.x, with the tile for the shortest of Cols that is not
/// shorter, or for the last one. Compiles two tiles for each of Cols, as rows may start anywhere. Throws launch_error
/// with the kernel's error message.
template <template <row_tile> class Kernel, index_t... Cols>
  requires(sizeof...(Cols) > 0)
void launch_rows(const auto& args, const launch_options& options = {}) {
  using any = Kernel<row_tile{}>;
  using arch = typename any::arch;
  constexpr index_t bytes = sizeof(*args.x), lengths[] = {Cols...};
  constexpr row_limits limits = row_limits_of<any>();
  const bool is_aligned = has_aligned_rows<any>(args, bytes);
  const row_tile tile = choose_tile_of(lengths, arch::value, bytes, args.cols, is_aligned, limits);
  detail::launch_with_tile<Kernel, tile_of_length(arch::value, bytes, Cols, true, limits)...,
                           tile_of_length(arch::value, bytes, Cols, false, limits)...>(tile, args, options);
}

/// The same for rows of any length.
template <template <row_tile> class Kernel>
void launch_rows(const auto& args, const launch_options& options = {}) {
  [&]<index_t... I>(sequence<I...>) {
    launch_rows<Kernel, row_lengths[I]...>(args, options);
  }(make_sequence<sizeof(row_lengths) / sizeof(index_t)>{});
}

}  // namespace tilewright
