// SPDX-License-Identifier: MIT
// Moves a tile between a window and registers.
#pragma once

#include <tilewright/machine/exec/gather_bytes.hpp>
#include <tilewright/tile/registers/static_distributed_tensor.hpp>
#include <tilewright/tile/window/tile_window.hpp>

namespace tilewright {

/// The caller's guarantee that the window is inside the tensor along dimensions Dims, which then need no bounds check:
/// accesses outside are undefined. Global memory only. Pads, indexing and functors of the view are checked in any case:
/// elements that they add are inside, but do not exist.
template <index_t... Dims>
struct in_bounds {
  template <index_t D>
  static constexpr bool contains = ((D == Dims) || ...);  ///< Whether dimension D needs no check.
};

namespace detail {

/// The tile in registers that a window is read into and written from.
template <class Window>
using tile_of = static_distributed_tensor<typename Window::view_type::element_type, typename Window::distribution_type>;

/// Registers of one vector, Step apart.
template <index_t Step, class T, class V>
TILEWRIGHT_HD void vector_to_registers(T* registers, const V& v) {
  if constexpr (Step == 1) {
    __builtin_memcpy(registers, &v, sizeof(v));
  } else {
    for (index_t j = 0; j < index_t(sizeof(V) / sizeof(T)); ++j) registers[j * Step] = v[j];
  }
}
/// The vector of the registers from number `first` on.
template <class V, index_t Step, class T>
TILEWRIGHT_HD V vector_of_registers(const T* registers, index_t first) {
  V v;
  if constexpr (Step == 1) {
    __builtin_memcpy(&v, registers + first, sizeof(v));
  } else if constexpr (sizeof(T) <= 2 && Step * sizeof(T) % 4 == 0 && sizeof(V) % 4 == 0) {
    // Elements at the same place of 32-bit registers.
    constexpr index_t in_word = 4 / index_t(sizeof(T));
    const index_t place = first % in_word;
    array<unsigned, index_t(sizeof(V)) / 4> words;
    for (index_t j = 0; j < words.size(); ++j) {
      array<unsigned, in_word> from;
      for (index_t i = 0; i < in_word; ++i)
        __builtin_memcpy(&from[i], registers + (first - place) + (in_word * j + i) * Step, sizeof(unsigned));
      if constexpr (in_word == 4) {
        words[j] = exec::gather_bytes(from[0], from[1], from[2], from[3], place);
      } else {
        words[j] = exec::gather_halves(from[0], from[1], place);
      }
    }
    __builtin_memcpy(&v, &words, sizeof(v));
  } else {
    for (index_t j = 0; j < index_t(sizeof(V) / sizeof(T)); ++j) v[j] = registers[first + j * Step];
  }
  return v;
}

/// What one access of a window moves.
template <class Window>
using moved_vector_t = conditional_t<Window::register_step == 1, exec::moved_t<typename Window::vector_type>,
                                     typename Window::vector_type>;

template <class Tile, class Window, class Known, index_t... Is>
TILEWRIGHT_HD void load_accesses(Tile& tile, const Window& window, Known, index_t bytes, sequence<Is...> accesses) {
  constexpr bool has_own_lanes = !Window::accesses::is_permuted;
  static_assert(has_own_lanes, "load_tile: make_async_tile_window is for async_load_tile; use make_tile_window here");
  using vector_type = moved_vector_t<Window>;
  auto* registers = tile.thread_buffer.data();
  if constexpr (Window::view_type::address_space == address_space_enum::global) {
    array<index_t, Window::num_access> offsets;
    fill_offsets<Known>(offsets, window, accesses, typename Window::dim_sequence{},
                        make_sequence<sizeof...(Is) * Window::ndim>{});
    (vector_to_registers<Window::register_step>(
         registers + constant(Window::accesses::list.first_register[Is]),
         exec::buffer_load<vector_type>(window.view.buffer, offsets.elements[Is], bytes)),
     ...);
  } else {
    (vector_to_registers<Window::register_step>(
         registers + constant(Window::accesses::list.first_register[Is]),
         exec::lds_load<vector_type>(window.view.buffer, window.template offset<Is>() + bytes)),
     ...);
  }
}

/// How an LDS instruction hands the elements that a lane addresses to lanes.
enum class lds_read : signed char { plain, ldmatrix, ldmatrix_transposed, transposing };

/// Accesses Is of a window in LDS, by instructions that exchange elements between lanes.
template <lds_read How, class Tile, class Window, index_t... Is>
TILEWRIGHT_HD void load_accesses_exchanging(Tile& tile, const Window& window, index_t bytes, sequence<Is...> accesses) {
  if constexpr (How == lds_read::plain) {
    load_accesses(tile, window, in_bounds<>{}, bytes, accesses);
  } else {
    const auto offsets = window.offsets(accesses);
    const auto read = [&](index_t offset) TILEWRIGHT_INLINE_LAMBDA {
      if constexpr (How == lds_read::transposing) {
        return exec::lds_load_transpose<typename Window::element_type>(window.view.buffer, offset);
      } else {
        return exec::ldmatrix_x4<How == lds_read::ldmatrix_transposed>(window.view.buffer, offset);
      }
    };
    (vector_to_registers<1>(tile.thread_buffer.data() + constant(Window::accesses::list.first_register[Is]),
                            read(offsets[Is] + bytes)),
     ...);
  }
}

template <class Tile, class Window, class Known, index_t... Is>
TILEWRIGHT_HD void store_accesses(const Tile& tile, const Window& window, Known, index_t lds_bytes,
                                  sequence<Is...> accesses) {
  using vector_type = moved_vector_t<Window>;
  const auto* registers = tile.thread_buffer.data();
  if constexpr (Window::view_type::address_space == address_space_enum::global) {
    array<index_t, Window::num_access> offsets;
    fill_offsets<Known>(offsets, window, accesses, typename Window::dim_sequence{},
                        make_sequence<sizeof...(Is) * Window::ndim>{});
    (exec::buffer_store(window.view.buffer, offsets.elements[Is],
                        vector_of_registers<vector_type, Window::register_step>(
                            registers, constant(Window::accesses::list.first_register[Is]))),
     ...);
  } else {
    (exec::lds_store(window.view.buffer, window.template offset<Is>() + lds_bytes,
                     vector_of_registers<vector_type, Window::register_step>(
                         registers, constant(Window::accesses::list.first_register[Is]))),
     ...);
  }
}

/// What store_tile, update_tile and their kin ask of a tile and a window. Constants with names, because compilers print
/// the condition in front of the error message, and these types are long.
template <class Window, class T, class Distribution>
TILEWRIGHT_HD constexpr void require_storable() {
  constexpr bool has_own_lanes = !Window::accesses::is_permuted;
  static_assert(has_own_lanes, "store_tile: make_async_tile_window is for async_load_tile; use make_tile_window here");
  constexpr bool is_read_only = Window::view_type::is_read_only;
  static_assert(!is_read_only,
                "store_tile: the view is of const elements; make it of a pointer to elements that are not");
  static_assert(__is_same(T, typename Window::view_type::element_type),
                "store_tile: the tile's element type is not the view's; use cast_tile");
  constexpr bool has_same_distribution = __is_same(Distribution, typename Window::distribution_type);
  static_assert(has_same_distribution, "store_tile: the tile's distribution is not the window's; use shuffle_tile");
}

}  // namespace detail

/// Reads the window into registers: returns a static_distributed_tensor of the view's element type, with the window's
/// distribution. Elements outside of a tensor in global memory are zero. Accesses outside of LDS are undefined on a
/// GPU, a fault on the CPU emulator.
template <TileWindow Window, class Known = in_bounds<>>
TILEWRIGHT_HD auto load_tile(const Window& window, Known known = {}, exec::call_site where = {}) {
  const exec::call_scope scope(where);
  detail::tile_of<Window> tile;
  detail::load_accesses(tile, window, known, 0, typename Window::access_sequence{});
  return tile;
}

/// Reads the window from memory `bytes` further on. In LDS: another buffer of the same layout. In global memory: at
/// least 0, the same for all threads of a wave, and inside of the tensor wherever the window itself is.
template <TileWindow Window, class Known = in_bounds<>>
TILEWRIGHT_HD auto load_tile_with_offset(const Window& window, index_t bytes, Known known = {},
                                         exec::call_site where = {}) {
  const exec::call_scope scope(where);
  detail::tile_of<Window> tile;
  detail::load_accesses(tile, window, known, bytes, typename Window::access_sequence{});
  return tile;
}

/// Reads the window into an existing tile.
template <class T, class Distribution, TileWindow Window, class Known = in_bounds<>>
TILEWRIGHT_HD void load_tile(static_distributed_tensor<T, Distribution>& tile, const Window& window, Known known = {},
                             exec::call_site where = {}) {
  constexpr bool has_right_type = __is_same(detail::tile_of<Window>, static_distributed_tensor<T, Distribution>);
  static_assert(has_right_type,
                "load_tile: the tile must have the element type of the view and the distribution of the window");
  const exec::call_scope scope(where);
  detail::load_accesses(tile, window, known, 0, typename Window::access_sequence{});
}

/// Writes registers into the window. Elements outside of a tensor in global memory are not written.
/// The tile must have the window's distribution.
template <TileWindow Window, class T, class Distribution, class Known = in_bounds<>>
TILEWRIGHT_HD void store_tile(const Window& window, const static_distributed_tensor<T, Distribution>& tile,
                              Known known = {}, exec::call_site where = {}) {
  const exec::call_scope scope(where);
  detail::require_storable<Window, T, Distribution>();
  detail::store_accesses(tile, window, known, 0, typename Window::access_sequence{});
}

/// Writes registers to memory `bytes` after the window in LDS.
template <TileWindow Window, class T, class Distribution>
TILEWRIGHT_HD void store_tile_with_offset(const Window& window, const static_distributed_tensor<T, Distribution>& tile,
                                          index_t bytes, exec::call_site where = {}) {
  const exec::call_scope scope(where);
  constexpr bool is_in_lds = Window::view_type::address_space == address_space_enum::lds;
  static_assert(is_in_lds, "store_tile_with_offset: the window must be in LDS");
  detail::require_storable<Window, T, Distribution>();
  detail::store_accesses(tile, window, in_bounds<>{}, bytes, typename Window::access_sequence{});
}

}  // namespace tilewright
