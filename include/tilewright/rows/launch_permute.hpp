// SPDX-License-Identifier: MIT
// launch_permute: starts the kernel that moves a permutation of dimensions, a slice or a copy fastest.
#pragma once

#include <tilewright/launch/launch.hpp>
#include <tilewright/rows/permute.hpp>

namespace tilewright {

namespace detail {

/// Tiles through LDS where x and y are contiguous along different dimensions, with the longest vectors that fit;
/// otherwise element by element.
template <class Arch, class T, index_t Vector, class Offset>
void launch_permute_with(const map_args<T, T>& args, const launch_options& options) {
  using tiles = permute<Arch, T, Vector, Offset>;
  if (!tiles::check(args)) {
    const auto prepared = tiles::prepare(args, 0);
    if (min(prepared.rows.iterations, prepared.cols.iterations) >= 16) {
      launch<tiles>(args, options);
      return;
    }
  } else if constexpr (Vector > 1) {
    return launch_permute_with<Arch, T, Vector / 2, Offset>(args, options);
  }
  launch<map_tensor<Arch, T>>(args, options);
}

}  // namespace detail

/// y = x, element by element, for tensors of up to six dimensions whose strides order the dimensions in any way. T: 1,
/// 2, 4 or 8 bytes. Throws launch_error with map_tensor's sentence where the tensors do not fit.
template <class Arch, class T>
void launch_permute(const map_args<T, T>& args, const launch_options& options = {}) {
  constexpr index_t vector = sizeof(T) == 1 ? 8 : 16 / index_t(sizeof(T));
  if (detail::is_near(args.x) && detail::is_near(args.y)) {
    detail::launch_permute_with<Arch, T, vector, index_t>(args, options);
  } else {
    detail::launch_permute_with<Arch, T, vector, long_index_t>(args, options);
  }
}

}  // namespace tilewright
