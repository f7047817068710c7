// SPDX-License-Identifier: MIT
// The tiles along k of a GEMM, and how a loop over them addresses its operands in global memory.
#pragma once

#include <tilewright/core/base/math.hpp>
#include <tilewright/tile/copy/load_store.hpp>

namespace tilewright {

/// Tiles along k. Only the first may be partial: it begins before the tensor, so that the others are whole and the loop
/// needs no checks along k.
struct k_tiles {
  index_t count;         ///< tiles
  index_t first_origin;  ///< <= 0
};

/// The tiles of `k_per_block` elements that k elements need; at least one if k is positive.
TILEWRIGHT_HD constexpr k_tiles tiles_along_k(index_t k, index_t k_per_block) {
  const index_t count = ceil_div(k, k_per_block);
  return {count, k - count * k_per_block};
}

namespace detail {
/// Whether it depends on the index along a dimension whether there is an element: pads, tables.
TILEWRIGHT_HD constexpr bool may_be_invalid_along(const tensor_graph& graph, index_t dim) {
  array<bool, tensor_graph::max_hidden> depends{};
  depends[graph.top[dim]] = true;
  for (index_t n = graph.nodes.size(); n-- > 0;) {  // down to memory
    const tensor_graph::node& node = graph.nodes[n];
    bool on_the_way = false;
    for (const index_t id : node.upper) on_the_way = on_the_way || depends[id];
    if (on_the_way && may_be_invalid_kind(node.spec.kind, every_kind{})) return true;
    for (const index_t id : node.lower) depends[id] = depends[id] || on_the_way;
  }
  return false;
}
}  // namespace detail

/// Whether a number of bytes, the same everywhere, leads from a window's tile to the next along k (dimension 1). The
/// loop then adds it to its scalar offset. Along merges, swizzles and pads there is none: the window's addresses are
/// computed anew for each tile.
template <class Window>
inline constexpr bool has_k_stride =
    detail::step_along(Window::graph, 1).is_linear && !detail::may_be_invalid_along(Window::graph, 1);

namespace detail {

/// The offset from one tile along k to the next: in bytes, or without a stride in elements along k.
template <class Window>
TILEWRIGHT_HD index_t k_step(const Window& window) {
  constexpr index_t k = Window::distribution_type::x_lengths[1];
  if constexpr (has_k_stride<Window>)
    return index_t(detail::linear_stride<1>(window.view.descriptor)) * k * Window::element_bytes;
  return k;
}

}  // namespace detail

/// Reads the tile whose distance from the window's is `offset`, a multiple of k_step, into `tile`.
template <class Window, class Known = in_bounds<>>
TILEWRIGHT_HD void load_tile_along_k(detail::tile_of<Window>& tile, const Window& window, index_t offset,
                                     Known known = {}, exec::call_site where = {}) {
  if constexpr (has_k_stride<Window>) {
    const exec::call_scope scope(where);
    detail::load_accesses(tile, window, known, offset, typename Window::access_sequence{});
  } else {
    Window ahead = window;
    move_tile_window(ahead, {0, offset});
    load_tile(tile, ahead, known, where);
  }
}

namespace detail {

/// Bytes that a loop's offset grows to before the loop moves its windows, unless two steps are more.
inline constexpr index_t max_loop_bytes = 1 << 30;

/// Steps that a loop takes before it moves its windows, even and at least two: a power of two,
/// so that finding it takes no division.
template <class AWindow, class BWindow>
TILEWRIGHT_HD index_t steps_without_move(const AWindow& a, const BWindow& b) {
  const index_t bits = 32 - __builtin_clz(unsigned(max(k_step(a), k_step(b))));
  return max(max_loop_bytes >> bits, 2);
}

}  // namespace detail

/// Calls step(number<buffer>, a_offset, b_offset) `count` times for the LDS buffers 0 to Buffers - 1, again and again.
/// With two buffers steps come in pairs, so that each step's LDS addresses are constants. The windows are at the first
/// of `count` tiles; step i gets the offsets (see k_step) of tile i + Ahead, or of the last one if there is none.
/// Returns the buffer of a further step.
template <index_t Buffers, index_t Ahead, class AWindow, class BWindow, class Step>
TILEWRIGHT_HD index_t for_tiles(AWindow& a, BWindow& b, index_t count, const Step& step) {
  static_assert(Buffers == 1 || Buffers == 2);
  const index_t a_step = detail::k_step(a), b_step = detail::k_step(b), at_once = detail::steps_without_move(a, b);
  index_t left = count;
  while (left >= Buffers) {
    const index_t rounds = min(left & -Buffers, at_once), last = min(left - 1, rounds + Ahead - 1);
    const index_t a_last = last * a_step, b_last = last * b_step;
    index_t a_offset = (Ahead - 1) * a_step, b_offset = (Ahead - 1) * b_step;
    TILEWRIGHT_UNROLL(1)
    for (index_t i = 0; i < rounds; i += Buffers) {
      unroll<Buffers>([&](auto buffer) TILEWRIGHT_INLINE_LAMBDA {
        a_offset = min(a_offset + a_step, a_last);
        b_offset = min(b_offset + b_step, b_last);
        step(buffer, a_offset, b_offset);
      });
    }
    move_tile_window(a, {0, rounds * AWindow::distribution_type::x_lengths[1]});
    move_tile_window(b, {0, rounds * BWindow::distribution_type::x_lengths[1]});
    left -= rounds;
  }
  if (Buffers > 1 && left == 1) step(number<0>{}, 0, 0);
  return left;
}

/// Refuses windows that a pipeline with this policy cannot follow along k.
template <class Policy, class AWindow, class BWindow>
TILEWRIGHT_HD constexpr void require_operand_windows() {
  constexpr bool are_in_global_memory = AWindow::view_type::address_space == address_space_enum::global &&
                                        BWindow::view_type::address_space == address_space_enum::global;
  static_assert(are_in_global_memory,
                "gemm: a pipeline copies its operands from global memory; block_gemm multiplies those in LDS");
  constexpr bool are_elements_right = __is_same(typename AWindow::element_type, typename Policy::element_type) &&
                                      __is_same(typename BWindow::element_type, typename Policy::b_element_type);
  static_assert(are_elements_right,
                "gemm: the windows' elements are not the policy's element_type (A) and b_element_type (B)");
  constexpr bool are_copies_right = __is_same(typename AWindow::distribution_type, tile_distribution<Policy::a_copy>) &&
                                    __is_same(typename BWindow::distribution_type, tile_distribution<Policy::b_copy>);
  static_assert(are_copies_right,
                "gemm: a pipeline's windows have the distributions that the policy copies with: "
                "tile_distribution<Policy::a_copy>{} and tile_distribution<Policy::b_copy>{}");
}

}  // namespace tilewright
