// SPDX-License-Identifier: MIT
// Moves a tile between a window and registers.
#pragma once

#include <tilewright/tile/elementwise.hpp>
#include <tilewright/tile/tile_window.hpp>

namespace tilewright {

namespace detail {

template <index_t I, class Window, index_t... Known>
TILEWRIGHT_HD index_t checked_offset(const Window& window, known_inside<Known...>) {
  if constexpr (Window::view_type::address_space == address_space_enum::lds || sizeof...(Known) == Window::ndim) {
    return window.template offset<I>();
  } else {
    return window.template is_inside<I, Known...>() ? window.template offset<I>() : exec::out_of_bounds_offset;
  }
}

template <index_t I, class Tile, class Window, class Known>
TILEWRIGHT_HD void load_access(Tile& tile, const Window& window, Known known, index_t bytes) {
  using vector_type = typename Window::vector_type;
  constexpr index_t first = Window::template first_register<I>;
  constexpr index_t step = Window::register_step;
  vector_type v;
  if constexpr (Window::view_type::address_space == address_space_enum::global) {
    v = exec::buffer_load<vector_type>(window.view.buffer, checked_offset<I>(window, known), bytes);
  } else {
    v = exec::lds_load<vector_type>(window.view.buffer, window.template offset<I>() + bytes);
  }
  if constexpr (step == 1) {
    __builtin_memcpy(tile.thread_buffer.data() + first, &v, sizeof(v));
  } else {
    for (index_t j = 0; j < Window::vector_length; ++j) tile.thread_buffer[first + j * step] = v[j];
  }
}

template <index_t I, class Tile, class Window, class Known>
TILEWRIGHT_HD void store_access(const Tile& tile, const Window& window, Known known, index_t lds_bytes) {
  using vector_type = typename Window::vector_type;
  constexpr index_t first = Window::template first_register<I>;
  constexpr index_t step = Window::register_step;
  vector_type v;
  if constexpr (step == 1) {
    __builtin_memcpy(&v, tile.thread_buffer.data() + first, sizeof(v));
  } else {
    for (index_t j = 0; j < Window::vector_length; ++j) v[j] = tile.thread_buffer[first + j * step];
  }
  if constexpr (Window::view_type::address_space == address_space_enum::global) {
    exec::buffer_store(window.view.buffer, checked_offset<I>(window, known), v);
  } else {
    exec::lds_store(window.view.buffer, window.template offset<I>() + lds_bytes, v);
  }
}

}  // namespace detail

/// The tile in registers that a window is read into and written from.
template <class Window>
using tile_of = static_distributed_tensor<typename Window::view_type::element_type, typename Window::distribution_type>;

/// Reads the window into registers. Elements outside of a tensor in global memory are zero.
template <TileWindow Window, class Known = known_inside<>>
TILEWRIGHT_HD auto load_tile(const Window& window, Known known = {}, exec::call_site where = {}) {
  const exec::call_scope scope(where);
  tile_of<Window> tile;
  [&]<index_t... Is>(std::integer_sequence<index_t, Is...>) TILEWRIGHT_INLINE_LAMBDA {
    (detail::load_access<Is>(tile, window, known, 0), ...);
  }(std::make_integer_sequence<index_t, Window::num_access>{});
  return tile;
}

/// The same from memory that lies `bytes` further. In LDS: another buffer of the same layout. In global memory: at least 0, the same
/// for all threads of a wave, and inside of the tensor wherever the window itself is.
template <TileWindow Window, class Known = known_inside<>>
TILEWRIGHT_HD auto load_tile_with_offset(const Window& window, index_t bytes, Known known = {}, exec::call_site where = {}) {
  const exec::call_scope scope(where);
  tile_of<Window> tile;
  [&]<index_t... Is>(std::integer_sequence<index_t, Is...>) TILEWRIGHT_INLINE_LAMBDA {
    (detail::load_access<Is>(tile, window, known, bytes), ...);
  }(std::make_integer_sequence<index_t, Window::num_access>{});
  return tile;
}

/// The same into a tile that exists.
template <class T, class Distribution, TileWindow Window, class Known = known_inside<>>
TILEWRIGHT_HD void load_tile(static_distributed_tensor<T, Distribution>& tile, const Window& window, Known known = {},
                             exec::call_site where = {}) {
  static_assert(__is_same(tile_of<Window>, static_distributed_tensor<T, Distribution>),
                "load_tile: the tile must have the element type of the view and the distribution of the window");
  tile = load_tile(window, known, where);
}

namespace detail {

/// What store_tile, update_tile and their kin ask of a tile and a window.
template <class Window, class T, class Distribution>
TILEWRIGHT_HD constexpr void require_storable() {
  static_assert(!Window::view_type::is_read_only, "store_tile: the view is of const elements");
  static_assert(__is_same(T, typename Window::view_type::element_type),
                "store_tile: the tile's element type is not the view's; use cast_tile");
  static_assert(__is_same(Distribution, typename Window::distribution_type),
                "store_tile: the tile's distribution is not the window's; use shuffle_tile");
}

}  // namespace detail

/// Writes registers into the window. Elements outside of a tensor in global memory are not written. The tile must have the
/// window's distribution.
template <TileWindow Window, class T, class Distribution, class Known = known_inside<>>
TILEWRIGHT_HD void store_tile(const Window& window, const static_distributed_tensor<T, Distribution>& tile, Known known = {},
                              exec::call_site where = {}) {
  const exec::call_scope scope(where);
  detail::require_storable<Window, T, Distribution>();
  [&]<index_t... Is>(std::integer_sequence<index_t, Is...>) TILEWRIGHT_INLINE_LAMBDA {
    (detail::store_access<Is>(tile, window, known, 0), ...);
  }(std::make_integer_sequence<index_t, Window::num_access>{});
}

/// The same to memory that lies `bytes` further in LDS.
template <TileWindow Window, class T, class Distribution>
TILEWRIGHT_HD void store_tile_with_offset(const Window& window, const static_distributed_tensor<T, Distribution>& tile, index_t bytes,
                                          exec::call_site where = {}) {
  const exec::call_scope scope(where);
  static_assert(Window::view_type::address_space == address_space_enum::lds, "store_tile_with_offset: the window must be in LDS");
  detail::require_storable<Window, T, Distribution>();
  [&]<index_t... Is>(std::integer_sequence<index_t, Is...>) TILEWRIGHT_INLINE_LAMBDA {
    (detail::store_access<Is>(tile, window, known_inside<>{}, bytes), ...);
  }(std::make_integer_sequence<index_t, Window::num_access>{});
}

}  // namespace tilewright
