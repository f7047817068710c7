// SPDX-License-Identifier: MIT
// Reads an operand's tile from LDS to the registers of a matrix instruction, whole or step by step along k.
#pragma once

#include <tilewright/mma/operand_addresses.hpp>
#include <tilewright/tile/load_store.hpp>

namespace tilewright {

namespace detail {

/// Accesses Is of a window, for the instruction's operand. Its vectors run along k,
/// or along the rows of a transposed operand.
template <arch::matrix_op Op, class Tile, class Window, index_t... Is>
TILEWRIGHT_HD void read_fragments(Tile& tile, const Window& window, index_t lds_bytes, sequence<Is...> accesses) {
  constexpr bool transposed = detail::vector_dim_x<Window> == 0;
  if constexpr (detail::uses_ldmatrix(Op)) {
    constexpr bool reads_16_bytes = Window::vector_length == 8;
    static_assert(reads_16_bytes, "load_fragments: ldmatrix reads rows of 16 contiguous bytes");
    // Either way an access fills 8 registers, in the order of the operand's tiles.
    load_accesses_exchanging<transposed ? lds_read::ldmatrix_transposed : lds_read::ldmatrix>(tile, window, lds_bytes,
                                                                                              accesses);
  } else if constexpr (transposed) {
    constexpr bool reads_8_bytes = Window::vector_length * Window::element_bytes == 8;
    static_assert(reads_8_bytes, "load_fragments: a transposing read takes 8 contiguous bytes");
    load_accesses_exchanging<lds_read::transposing>(tile, window, lds_bytes, accesses);
  } else {
    load_accesses(tile, window, known_inside<>{}, lds_bytes, accesses);
  }
}

}  // namespace detail

/// Reads from a window whose distribution comes from load_map into a tile of the distribution of the operand's lane
/// map. The window's addresses are moved by `lds_bytes`. It reads `Count` of the KSteps steps that the
/// instruction takes along k, from First on.
template <arch::matrix_op Op, index_t KSteps, index_t First, index_t Count, class T, class Result, class View,
          class Distribution>
TILEWRIGHT_HD void load_fragment_steps(static_distributed_tensor<T, Result>& tile,
                                       const tile_window<View, Distribution>& window, index_t lds_bytes,
                                       exec::call_site where = {}) {
  const exec::call_scope scope(where);
  using window_type = tile_window<View, Distribution>;
  constexpr index_t num_access = window_type::num_access;
  static_assert(num_access % KSteps == 0,
                "load_fragment_steps: the window's accesses are not the same for each step along k");
  static_assert(0 <= First && 0 <= Count && First + Count <= KSteps,
                "load_fragment_steps: there are fewer steps along k");
  // Accesses walk through (rows, steps along k, parts of a fragment).
  constexpr index_t parts = window_type::num_access / (window_type::distribution_type::encoding.y_length(0) * KSteps);
  [&]<index_t... Is>(sequence<Is...>) TILEWRIGHT_INLINE_LAMBDA {
    detail::read_fragments<Op>(tile, window, lds_bytes,
                               sequence<((Is / (Count * parts) * KSteps + First) * parts + Is % (Count * parts))...>{});
  }(make_sequence<num_access / KSteps * Count>{});
}

namespace detail {

/// LDS instructions that read one step of KSteps along k.
template <class Window, index_t KSteps>
inline constexpr index_t reads_per_step = Window::num_access / KSteps;

/// Reads First to Last - 1 of those of one step: for kernels that place them among matrix instructions.
template <arch::matrix_op Op, index_t KSteps, index_t Step, index_t First, index_t Last, class T, class Result,
          class View, class Distribution>
TILEWRIGHT_HD void load_fragment_accesses(static_distributed_tensor<T, Result>& tile,
                                          const tile_window<View, Distribution>& window, index_t lds_bytes,
                                          exec::call_site where = {}) {
  const exec::call_scope scope(where);
  using window_type = tile_window<View, Distribution>;
  constexpr bool has_these_accesses =
      0 <= Step && Step < KSteps && 0 <= First && First <= Last && Last <= detail::reads_per_step<window_type, KSteps>;
  static_assert(has_these_accesses,
                "load_fragment_accesses: there are fewer steps along k, or fewer reads in a step; see reads_per_step");
  constexpr index_t parts = detail::reads_per_step<window_type, KSteps> / Distribution::encoding.y_length(0);
  [&]<index_t... Is>(sequence<Is...>) TILEWRIGHT_INLINE_LAMBDA {
    detail::read_fragments<Op>(tile, window, lds_bytes,
                               sequence<(((First + Is) / parts * KSteps + Step) * parts + (First + Is) % parts)...>{});
  }(make_sequence<Last - First>{});
}

/// The whole window.
template <arch::matrix_op Op, TileDistribution Result, class View, class Distribution>
TILEWRIGHT_HD auto load_fragments(const tile_window<View, Distribution>& window, index_t lds_bytes,
                                  exec::call_site where = {}) {
  static_distributed_tensor<typename View::element_type, Result> tile;
  load_fragment_steps<Op, 1, 0, 1>(tile, window, lds_bytes, where);
  return tile;
}

}  // namespace detail

}  // namespace tilewright
