// SPDX-License-Identifier: MIT
// Windows whose accesses share addresses along dimensions that the user knows to be linear.
#pragma once

#include <tilewright/tile/grouped_accesses.hpp>
#include <tilewright/tile/load_store.hpp>

namespace tilewright {

/// The dimension whose indices come from a table (-1: none), and whether these may lead further than 2^31 bytes.
struct gathered_dim {
  index_t dim = -1;
  bool is_far = false;
  friend constexpr bool operator==(const gathered_dim&, const gathered_dim&) = default;
};

/// Made by make_tile_window_linear and, with a gathered dimension, by make_tile_scatter_gather. One address for each
/// group of accesses.
template <class View, TileDistribution Distribution, gathered_dim Gathered, index_t... Linear>
struct grouped_tile_window {
  using view_type = View;
  using distribution_type = Distribution;
  using element_type = typename View::element_type;
  using descriptor_type = typename View::descriptor_type;
  static constexpr index_t ndim = descriptor_type::ndim;
  static constexpr tensor_graph graph = descriptor_type::graph;
  static constexpr index_t element_bytes = sizeof(element_type);
  static constexpr bool is_linear_view = grows_linearly(graph);
  static constexpr address_rule rule = address_rule::independent;
  static constexpr index_t gathered = Gathered.dim;
  static constexpr bool reaches_far = Gathered.is_far;
  using offset_type = detail::conditional_t<reaches_far, long_index_t, index_t>;
  using accesses = grouped_accesses<graph, Distribution::encoding, element_bytes, gathered, Linear...>;
  static constexpr index_t num_access = accesses::num_access;
  using access_sequence = make_sequence<num_access>;
  using dim_sequence = make_sequence<ndim>;
  static constexpr index_t num_bases = accesses::list.num_groups;
  static constexpr index_t num_pages = accesses::page.count;
  static constexpr index_t vector_length = accesses::vector.length;
  static constexpr index_t vector_dim_y = accesses::vector.dim_y;
  static constexpr index_t register_step = Distribution::encoding.y_stride(vector_dim_y);
  using vector_type = vector_t<element_type, vector_length>;
  using page_index = array<index_t, num_pages>;

  View view;
  multi_index<ndim> origin;
  multi_index<ndim> thread_index;
  page_index page_idx;                 // of the gathered dimension: an index for each position that the thread holds
  array<offset_type, num_bases> base;  // byte offsets from the buffer's begin

  template <index_t G, index_t D>
  static constexpr index_t group_position = accesses::list.group_x[G][D];
  template <index_t G>
  static constexpr index_t page_of_group = accesses::page.of_group[G];
  template <index_t D>
  static constexpr bool is_linear_dim = ((D == Linear) || ...);

  TILEWRIGHT_HD constexpr const multi_index<ndim>& get_window_origin() const { return origin; }
  TILEWRIGHT_HD static constexpr multi_index<ndim> get_window_lengths() { return Distribution::get_lengths(); }
  TILEWRIGHT_HD static constexpr Distribution get_tile_distribution() { return {}; }

  /// Byte offsets from the buffer's begin, of accesses Is.
  template <index_t... Is>
  TILEWRIGHT_HD constexpr array<offset_type, num_access> offsets(sequence<Is...>) const {
    array<offset_type, num_access> result;
    ((result[Is] = base[constant(accesses::list.base[Is])] + constant(accesses::list.immediate[Is] * element_bytes)),
     ...);
    return result;
  }

  /// Index of access I along dimension D of the tensor.
  template <index_t I, index_t D>
  TILEWRIGHT_HD constexpr index_t index_along() const {
    if constexpr (D == gathered) {
      return page_idx[constant(accesses::page.of_access[I])];
    } else {
      return origin[D] + thread_index[D] + constant(accesses::list.x[I][D]);
    }
  }
  template <index_t I, index_t... Ds>
  TILEWRIGHT_HD constexpr multi_index<ndim> index_of_access(sequence<Ds...>) const {
    return {{index_along<I, Ds>()...}};
  }

  /// Clears inside[I] for those accesses that lie outside of the tensor along dimension D.
  template <index_t D, index_t... Is>
  TILEWRIGHT_HD constexpr void check_along(array<bool, num_access>& inside, sequence<Is...>) const {
    const unsigned length = unsigned(view.descriptor.template get_length<D>());
    ((inside[Is] &= unsigned(index_along<Is, D>()) < length), ...);
  }
};

namespace detail {

/// How far one step moves along dimension D of a view, which is said to be linear there.
template <index_t D, class Descriptor>
TILEWRIGHT_HD constexpr index_t claimed_stride(const Descriptor& descriptor) {
  if constexpr (step_along(Descriptor::graph, D).is_linear) {
    return index_t(linear_stride<D>(descriptor));
  } else {
    multi_index<Descriptor::ndim> unit{};
    unit[D] = 1;
    return descriptor.calculate_offset(unit) - descriptor.calculate_offset({});
  }
}

#if TILEWRIGHT_CPU_PASS
/// On the CPU: what is said to be linear must be so, and what is said to be near. Compares each access with its own
/// offset.
template <class Window>
void expect_linear(const Window& window) {
  expect_near(window);
  const auto& descriptor = window.view.descriptor;
  const auto offsets =
      checked_offsets<known_inside<>>(window, typename Window::access_sequence{}, typename Window::dim_sequence{});
  unroll<Window::num_access>([&](auto i) {
    const auto index = window.template index_of_access<i.value>(typename Window::dim_sequence{});
    if (offsets[i] == exec::out_of_bounds_offset && !descriptor.is_valid(index)) return;
    long_index_t elements = 0;  // from the buffer's begin
    if constexpr (Window::is_linear_view) {
      unroll<Window::ndim>([&](auto d) {
        elements += (long_index_t(index[d]) - window.origin[d]) * linear_stride<d.value>(descriptor);
      });
    } else {
      elements = descriptor.calculate_offset(index);
    }
    const long_index_t offset = elements * Window::element_bytes;
    exec::expect(
        Window::reaches_far || Window::gathered < 0 || (offset >= 0 && offset + Window::element_bytes <= 0x7fffffff),
        "make_tile_scatter_gather: a row lies 2^31 bytes or more behind the window's begin; near_rows{} does not hold");
    exec::expect(
        offsets[i] == offset,
        "make_tile_window_linear: offsets do not grow by a constant along the dimensions that are said to be linear");
  });
}
#endif

/// Fills the addresses. With a linear view the origin is part of the buffer, but for the gathered dimension.
template <class Window>
TILEWRIGHT_HD constexpr void compute_group_bases(Window& window) {
  const auto& descriptor = window.view.descriptor;
  unroll<Window::num_bases>([&](auto g) TILEWRIGHT_INLINE_LAMBDA {
    multi_index<Window::ndim> index{};
    unroll<Window::ndim>([&](auto d) TILEWRIGHT_INLINE_LAMBDA {
      if constexpr (d.value == Window::gathered) {
        index[d] = window.page_idx[Window::template page_of_group<g.value>];
      } else {
        index[d] = window.thread_index[d] + Window::template group_position<g.value, d.value>;
        if constexpr (!Window::is_linear_view) index[d] += window.origin[d];
      }
    });
    if constexpr (Window::reaches_far && Window::is_linear_view) {
      const long_index_t row = index[Window::gathered];
      index[Window::gathered] = 0;
      const index_t in_row = without_constant_term(descriptor, descriptor.calculate_offset(index));
      window.base[g] = (row * linear_stride<Window::gathered>(descriptor) + in_row) * Window::element_bytes;
    } else {
      index_t offset = descriptor.calculate_offset(index);
      if constexpr (Window::is_linear_view) offset = without_constant_term(descriptor, offset);
      window.base[g] = static_cast<typename Window::offset_type>(offset) * Window::element_bytes;
    }
  });
#if TILEWRIGHT_CPU_PASS
  expect_linear(window);
#endif
}

/// The origin without the gathered dimension, whose index is the table's.
template <class Window>
TILEWRIGHT_HD constexpr multi_index<Window::ndim> without_gathered(multi_index<Window::ndim> index) {
  if constexpr (Window::gathered >= 0) index[Window::gathered] = 0;
  return index;
}

template <class Window, class View, class Distribution>
TILEWRIGHT_HD constexpr Window make_grouped_window(const View& view, const multi_index<Window::ndim>& origin,
                                                   Distribution, const typename Window::page_index& page_idx) {
  Window window{view,
                without_gathered<Window>(origin),
                Distribution::calculate_index(get_partition_index<Distribution>()),
                page_idx,
                {}};
#if TILEWRIGHT_CPU_PASS
  expect_partition<Distribution>(get_partition_index<Distribution>());
  expect_allowed_origin(window);
#endif
  if constexpr (Window::is_linear_view) advance_buffer(window, window.origin, constant_term(view.descriptor));
  compute_group_bases(window);
  return window;
}

}  // namespace detail

/// A window of a view whose addresses are not linear as a whole (merged, swizzled, indexed) but are so along dimensions
/// `Linear`: accesses that differ only there share an address register, and moving along them is an addition.
/// The CPU backend checks the claim.
template <class View, class... Lengths, TileDistribution Distribution, index_t... Linear>
TILEWRIGHT_HD constexpr auto make_tile_window_linear(const View& view, const tuple<Lengths...>&,
                                                     const multi_index<sizeof...(Lengths)>& origin,
                                                     Distribution distribution, sequence<Linear...>) {
  constexpr index_t ndim = View::descriptor_type::ndim;
  constexpr bool num_lengths_match = ndim == index_t(sizeof...(Lengths));
  static_assert(num_lengths_match, "make_tile_window_linear: one length is needed for each dimension of the view");
  static_assert(((0 <= Linear && Linear < ndim) && ...), "make_tile_window_linear: the view has no such dimension");
  using window_type = grouped_tile_window<View, Distribution, gathered_dim{}, Linear...>;
  if constexpr (!detail::are_lengths_of_tile_v<Distribution, Lengths...>)
    detail::require_lengths_of_tile<Distribution, Lengths...>();
  return detail::make_grouped_window<window_type>(view, origin, distribution, {});
}

/// Moves the window by a number of elements along each dimension. Along the gathered dimension it moves by other
/// indices only: update_page_idx.
template <class View, class Distribution, gathered_dim Gathered, index_t... Linear>
TILEWRIGHT_HD constexpr void move_tile_window(grouped_tile_window<View, Distribution, Gathered, Linear...>& window,
                                              const multi_index<View::descriptor_type::ndim>& step) {
  using window_type = grouped_tile_window<View, Distribution, Gathered, Linear...>;
#if TILEWRIGHT_CPU_PASS
  if constexpr (Gathered.dim >= 0) {
    exec::expect(step[Gathered.dim] == 0,
                 "move_tile_window: along the gathered dimension a window moves by update_page_idx");
  }
#endif
  bool only_linear = true;
  unroll<window_type::ndim>([&](auto d) TILEWRIGHT_INLINE_LAMBDA {
    window.origin[d] += step[d];
    if constexpr (!window_type::template is_linear_dim<d.value>) only_linear = only_linear && step[d] == 0;
  });
#if TILEWRIGHT_CPU_PASS
  detail::expect_allowed_origin(window);
#endif
  if constexpr (window_type::is_linear_view) {
    detail::advance_buffer(window, step);
  } else if (only_linear) {
    index_t elements = 0;
    unroll<window_type::ndim>([&](auto d) TILEWRIGHT_INLINE_LAMBDA {
      if constexpr (window_type::template is_linear_dim<d.value>)
        elements += step[d] * detail::claimed_stride<d.value>(window.view.descriptor);
    });
    unroll<window_type::num_bases>(
        [&](auto g) TILEWRIGHT_INLINE_LAMBDA { window.base[g] += elements * window_type::element_bytes; });
#if TILEWRIGHT_CPU_PASS
    detail::expect_linear(window);
#endif
  } else {
    detail::compute_group_bases(window);
  }
}

}  // namespace tilewright
