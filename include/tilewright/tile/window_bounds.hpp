// SPDX-License-Identifier: MIT
// Byte offsets of a tile window's accesses, checked against the tensor's bounds.
#pragma once

#include <tilewright/exec/exec.hpp>
#include <tilewright/tile/window.hpp>

namespace tilewright::detail {

/// Sets the byte offsets of accesses Is from the buffer's first byte; in global memory to out_of_bounds_offset for
/// those outside of the tensor. Dimensions listed in Known are taken to be inside. Es counts pairs of a dimension and
/// an access. Everything stays in this function: arrays that another one fills cost the compiler far more.
template <class Known, class Window, index_t... Is, index_t... Ds, index_t... Es>
TILEWRIGHT_HD constexpr void fill_offsets(array<typename Window::offset_type, Window::num_access>& result,
                                          const Window& window, sequence<Is...> accesses, sequence<Ds...> dims,
                                          sequence<Es...>) {
  using list = typename Window::accesses;
  constexpr bool all_known = (Known::template contains<Ds> && ...) && !Window::descriptor_type::has_pads();
  if constexpr (Window::view_type::address_space == address_space_enum::lds || all_known) {
    ((result.elements[Is] = window.base.elements[constant(list::list.base[Is])] +
                            constant(list::list.immediate[Is] * Window::element_bytes)),
     ...);
  } else {
    array<bool, Window::num_access> inside;
    ((inside.elements[Is] = true), ...);
    if constexpr (Window::num_lanes == 1 && Window::gathered < 0) {
      constexpr index_t n = sizeof...(Is), access[] = {Is...};
      const unsigned first[] = {unsigned(window.origin[Ds]) + unsigned(window.thread_index[0][Ds])...};
      const unsigned length[] = {unsigned(window.view.descriptor.template get_length<Ds>())...};
      ((Known::template contains<Es / n>
            ? void()
            : void(inside.elements[constant(access[Es % n])] &=
                   first[Es / n] + unsigned(constant(list::list.x[access[Es % n]][Es / n])) < length[Es / n])),
       ...);
    } else {
      ((Known::template contains<Ds> ? void() : window.template check_along<Ds>(inside, accesses)), ...);
    }
    if constexpr (Window::descriptor_type::has_pads()) {
      ((inside.elements[Is] =
            inside.elements[Is] && window.view.descriptor.is_valid(window.template index_of_access<Is>(dims))),
       ...);
    }
    ((result.elements[Is] = inside.elements[Is] ? window.base.elements[constant(list::list.base[Is])] +
                                                      constant(list::list.immediate[Is] * Window::element_bytes)
                                                : exec::out_of_bounds_offset),
     ...);
  }
}

/// Returns what fill_offsets fills in.
template <class Known, class Window, index_t... Is, index_t... Ds>
TILEWRIGHT_HD constexpr auto checked_offsets(const Window& window, sequence<Is...> accesses, sequence<Ds...> dims) {
  array<typename Window::offset_type, Window::num_access> result;
  fill_offsets<Known>(result, window, accesses, dims, make_sequence<sizeof...(Is) * sizeof...(Ds)>{});
  return result;
}

}  // namespace tilewright::detail
