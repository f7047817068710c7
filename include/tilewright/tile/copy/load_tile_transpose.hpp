// SPDX-License-Identifier: MIT
// Reads a tile from LDS into registers transposed, by the target's transposing instruction where it has one.
#pragma once

#include <tilewright/core/arch/current.hpp>
#include <tilewright/core/distribution/transpose_encoding.hpp>
#include <tilewright/tile/copy/load_store.hpp>

namespace tilewright {

#if TILEWRIGHT_CPU_PASS
/// The target of this compilation pass; on the CPU one without transposing instructions,
/// so that any target can be emulated.
struct current_target {
  static constexpr arch::target value{};  ///< without facts
};
#else
using current_target = arch::current;
#endif

namespace detail {

/// The tile that a window on LDS is read into transposed.
template <class Window, class Target = current_target>
using transposed_tile_of =
    static_distributed_tensor<typename Window::element_type,
                              decltype(make_transpose_output_distribution<typename Window::element_type, Target>(
                                  typename Window::distribution_type{}))>;

}  // namespace detail

/// Reads a window (k, m) on LDS into registers as the tile (m, k), `lds_bytes` after the window's start. Target
/// is a type with the target's table, arch::gfx950 for instance: on gfx950 elements of 1 and 2 bytes are exchanged by
/// ds_read_b64_tr_b8 and _b16, on NVIDIA GPUs those of 2 bytes by ldmatrix; elsewhere each thread reads what it holds.
/// What a thread holds follows from what it addresses (make_transpose_output_distribution), and the reverse
/// (make_transpose_input_distribution). Every thread calls it.
template <class Target = current_target, TileWindow Window>
TILEWRIGHT_HD auto load_tile_transpose_with_offset(const Window& window, index_t lds_bytes,
                                                   exec::call_site where = {}) {
  const exec::call_scope scope(where);
  using element_type = typename Window::element_type;
  constexpr bool in_lds = Window::view_type::address_space == address_space_enum::lds;
  static_assert(in_lds, "load_tile_transpose: the window must be in LDS");
  constexpr arch::lds_op op = arch::transposing_op(Target::value, sizeof(element_type));
  constexpr arch::lane_exchange exchange = arch::exchange_of(op);
  constexpr bool whole_vectors =
      exchange.is_identity() || (Window::vector_length == exchange.vector_length() && Window::register_step == 1);
  static_assert(
      whole_vectors,
      "load_tile_transpose: the instruction takes 8 (ldmatrix: 16) bytes of each lane that are neighbours in LDS "
      "and along the last dimension of Y; take the distribution from make_transpose_input_distribution, and a "
      "layout whose second dimension is contiguous");
  detail::transposed_tile_of<Window, Target> tile;
  if constexpr (in_lds && whole_vectors) {
    constexpr auto how = exchange.is_identity()         ? detail::lds_read::plain
                         : op == arch::lds_op::ldmatrix ? detail::lds_read::ldmatrix_transposed
                                                        : detail::lds_read::transposing;
    detail::load_accesses_exchanging<how>(tile, window, lds_bytes, typename Window::access_sequence{});
  }
  return tile;
}

/// Reads a window (k, m) on LDS into registers and returns the tile (m, k): load_tile_transpose_with_offset at the
/// window's start.
template <class Target = current_target, TileWindow Window>
TILEWRIGHT_HD auto load_tile_transpose(const Window& window, exec::call_site where = {}) {
  return load_tile_transpose_with_offset<Target>(window, 0, where);
}

/// load_tile_transpose into a tile that exists. Its distribution may be another spelling of the result's: each thread
/// has to hold the same elements in the same registers.
template <class Target = current_target, class T, class Distribution, TileWindow Window>
TILEWRIGHT_HD void load_tile_transpose(static_distributed_tensor<T, Distribution>& tile, const Window& window,
                                       index_t lds_bytes = 0, exec::call_site where = {}) {
  using result = detail::transposed_tile_of<Window, Target>;
  static_assert(__is_same(T, typename Window::element_type),
                "load_tile_transpose: the tile must have the element type of the view");
  constexpr bool fits = detail::hold_the_same(Distribution::encoding, result::distribution_type::encoding);
  static_assert(
      fits,
      "load_tile_transpose: the tile's threads hold other elements than the window's distribution gives them; "
      "make_transpose_input_distribution makes the window's from the tile's");
  if constexpr (fits) {
    const result loaded = load_tile_transpose_with_offset<Target>(window, lds_bytes, where);
    __builtin_memcpy(tile.thread_buffer.data(), loaded.thread_buffer.data(), sizeof(loaded.thread_buffer));
  }
}

}  // namespace tilewright
