// SPDX-License-Identifier: MIT
// What is in a window's part of a tensor, as text: for kernels that run on the CPU.
#pragma once

#include <tilewright/machine/emulator/fault.hpp>
#include <tilewright/tile/window/tile_window.hpp>

#include <cstdio>
#include <string>

namespace tilewright {

namespace detail {

template <class T>
std::string element_text(T value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", double(value));
  return text;
}

/// Bytes of a view's memory on the CPU; reading them is no access that is counted or checked.
inline const char* memory_of(const exec::global_buffer& buffer) { return buffer.base; }
inline const char* memory_of(exec::lds_pointer p) {
  if (emulator::current_thread == nullptr) throw emulator::fault("print_tile_window_range: LDS exists in kernels only");
  return emulator::current_thread->lds + p.byte;
}

}  // namespace detail

/// Rows i_begin to i_end - 1 and columns j_begin to j_end - 1 of a two-dimensional window, counted from its origin; a
/// dot for what is outside of the tensor. It shows the memory as it is, whoever wrote it.
template <class Window>
std::string tile_window_range_text(const Window& window, index_t i_begin, index_t i_end, index_t j_begin, index_t j_end,
                                   const std::string& label = "") {
  using view_type = typename Window::view_type;
  using element_type = typename view_type::element_type;
  constexpr bool has_two_dimensions = Window::ndim == 2;
  static_assert(has_two_dimensions, "print_tile_window_range: the window must have two dimensions");
  const auto& descriptor = window.view.descriptor;
  const multi_index<2> origin = window.get_window_origin();
  std::string text = label + (label.empty() ? "" : " ") + "window range [" + std::to_string(i_begin) + ":" +
                     std::to_string(i_end) + ", " + std::to_string(j_begin) + ":" + std::to_string(j_end) +
                     "] (origin " + std::to_string(origin[0]) + ", " + std::to_string(origin[1]) + ")\n";
  // The buffer of a distributed window of a linear view begins at its origin.
  index_t of_buffer = 0;
  if constexpr (requires { Window::is_linear_view; }) {
    if constexpr (Window::is_linear_view) of_buffer = descriptor.calculate_offset(origin);
  }
  for (index_t i = i_begin; i < i_end; ++i) {
    for (index_t j = j_begin; j < j_end; ++j) {
      const multi_index<2> index{{origin[0] + i, origin[1] + j}};
      if (j > j_begin) text += ' ';
      if (!descriptor.is_valid(index)) {
        text += '.';
        continue;
      }
      element_type value;
      const auto elements = index_t(unsigned(descriptor.calculate_offset(index)) - unsigned(of_buffer));
      const long_index_t offset = long_index_t(elements) * index_t(sizeof(value));
      __builtin_memcpy(&value, detail::memory_of(window.view.buffer) + offset, sizeof(value));
      text += detail::element_text(value);
    }
    text += '\n';
  }
  return text;
}

/// The same on the standard output, by the one thread that calls it.
template <class Window>
void print_tile_window_range(const Window& window, index_t i_begin, index_t i_end, index_t j_begin, index_t j_end,
                             const std::string& label = "") {
  std::fputs(tile_window_range_text(window, i_begin, i_end, j_begin, j_end, label).c_str(), stdout);
}

}  // namespace tilewright
