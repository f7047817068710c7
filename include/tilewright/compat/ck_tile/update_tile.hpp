// SPDX-License-Identifier: MIT
// Updates memory through a window with a tile in registers: set, add, atomic add, atomic maximum.
#pragma once

#include <tilewright/tile/copy/load_store.hpp>

namespace tilewright {

/// set: replaces. add: reads, adds and writes; no other thread may do so at the same time. The others are atomic.
enum class memory_operation_enum : signed char { set, add, atomic_add, atomic_max };

namespace detail {

/// What one atomic update changes: a 4-byte element, or two 16-bit ones.
template <class T>
using atomic_piece = conditional_t<sizeof(T) == 2, vector_t<T, 2>, T>;

template <exec::atomic_op Op, index_t Step, index_t Count, class T, class Buffer, class Offset>
TILEWRIGHT_HD void update_vector(const Buffer& buffer, Offset offset, const T* registers) {
  constexpr index_t elements = 4 / index_t(sizeof(T));
  unroll<Count / elements>([&](auto j) {
    const T* first = registers + j.value * elements * Step;
    atomic_piece<T> value;
    if constexpr (elements == 1) {
      value = *first;
    } else {
      value = {{first[0], first[Step]}};
    }
    if constexpr (__is_same(Buffer, exec::global_buffer)) {
      exec::buffer_atomic<Op>(buffer, offset + 4 * j.value, value);
    } else {
      exec::lds_atomic<Op>(buffer, offset + 4 * j.value, value);
    }
  });
}

template <exec::atomic_op Op, class Tile, class Window, class Known, index_t... Is>
TILEWRIGHT_HD void update_accesses(const Tile& tile, const Window& window, Known, sequence<Is...> accesses) {
  const auto offsets = checked_offsets<Known>(window, accesses, typename Window::dim_sequence{});
  (update_vector<Op, Window::register_step, Window::vector_length>(
       window.view.buffer, offsets[Is],
       tile.thread_buffer.data() + constant(Window::accesses::list.first_register[Is])),
   ...);
}

}  // namespace detail

/// Updates the window with the tile's elements, which must have its distribution. Elements outside of a tensor in
/// global memory are left alone. The atomic operations are relaxed; they take int, unsigned and float, and half_t and
/// bfloat16_t in pairs, so that the window's vectors must hold at least two of these. Floats must not be NaN where the
/// largest is kept. If several threads hold the same elements (replication R), one updates.
template <memory_operation_enum Operation, TileWindow Window, class T, class Distribution, class Known = in_bounds<>>
TILEWRIGHT_HD void update_tile(const Window& window, const static_distributed_tensor<T, Distribution>& tile,
                               Known known = {}, exec::call_site where = {}) {
  using enum memory_operation_enum;
  const exec::call_scope scope(where);
  detail::require_storable<Window, T, Distribution>();
  if constexpr (Operation != set) {
    if (!detail::is_first_replica<Distribution>()) return;
  }
  if constexpr (Operation == set) {
    store_tile(window, tile, known);
  } else if constexpr (Operation == add) {
    auto sum = load_tile(window, known);
    unroll<Distribution::num_elements>(
        [&](auto d) { sum.thread_buffer[d] = type_convert<T>(sum.thread_buffer[d] + tile.thread_buffer[d]); });
    store_tile(window, sum, known);
  } else {
    constexpr bool is_possible = detail::is_atomic_v<detail::atomic_piece<T>>;
    static_assert(is_possible,
                  "update_tile: atomic updates are of int, unsigned, float, half_t or bfloat16_t; cast_tile converts");
    constexpr bool moves_pairs = Window::vector_length * sizeof(T) % 4 == 0;
    static_assert(
        !is_possible || moves_pairs,
        "update_tile: 16-bit elements are updated atomically in pairs; the window's vectors must hold at least two");
    if constexpr (is_possible && moves_pairs) {
      constexpr exec::atomic_op op = Operation == atomic_add ? exec::atomic_op::add : exec::atomic_op::max;
      detail::update_accesses<op>(tile, window, known, typename Window::access_sequence{});
    }
  }
}

}  // namespace tilewright
