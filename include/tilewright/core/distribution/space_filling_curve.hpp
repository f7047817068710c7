// SPDX-License-Identifier: MIT
// Space-filling curves: visit every access of a tile once, in a chosen order.
#pragma once

#include <tilewright/core/base/math.hpp>
#include <tilewright/core/base/sequence.hpp>

namespace tilewright {

/// A traversal as a value: lengths in elements, the order of the dimensions (the last moves fastest), elements of one
/// access along each dimension, and whether it snakes: a dimension then runs backwards while the linear index of the
/// dimensions before it in the order is odd.
template <index_t NDim>
struct curve {
  multi_index<NDim> lengths{};             ///< in elements
  multi_index<NDim> order{};               ///< slowest dimension first
  multi_index<NDim> scalars_per_access{};  ///< by dimension
  bool snake = false;                      ///< every other line runs backwards

  /// Accesses along a dimension; the last one may overhang the tensor.
  TILEWRIGHT_HD constexpr index_t access_length(index_t d) const { return ceil_div(lengths[d], scalars_per_access[d]); }

  /// Accesses that cover the tensor.
  TILEWRIGHT_HD constexpr index_t get_num_of_access() const {
    index_t n = 1;
    for (index_t d = 0; d < NDim; ++d) n *= access_length(d);
    return n;
  }

  /// First element of access i, for 0 <= i < get_num_of_access().
  TILEWRIGHT_HD constexpr multi_index<NDim> get_index(index_t i) const {
    multi_index<NDim> index{};
    index_t slower = i;  // linear index of the dimensions that move more slowly
    for (index_t k = NDim; k-- > 0;) {
      const index_t d = order[k], n = access_length(d);
      const index_t forwards = modulo(slower, n);
      slower = divide(slower, n);
      const bool backwards = snake && k > 0 && slower % 2 == 1;
      index[d] = (backwards ? n - 1 - forwards : forwards) * scalars_per_access[d];
    }
    return index;
  }

  /// From the first element of one access to that of another.
  TILEWRIGHT_HD constexpr multi_index<NDim> get_step_between(index_t start, index_t end) const {
    const multi_index<NDim> from = get_index(start);
    multi_index<NDim> step = get_index(end);
    for (index_t d = 0; d < NDim; ++d) step[d] -= from[d];
    return step;
  }
  /// From access i to the next one.
  TILEWRIGHT_HD constexpr multi_index<NDim> get_forward_step(index_t i) const { return get_step_between(i, i + 1); }
  /// From access i to the one before.
  TILEWRIGHT_HD constexpr multi_index<NDim> get_backward_step(index_t i) const { return get_step_between(i, i - 1); }

  /// Whether access i is wholly inside of the tensor.
  TILEWRIGHT_HD constexpr bool is_in_bounds(index_t i) const {
    const multi_index<NDim> index = get_index(i);
    for (index_t d = 0; d < NDim; ++d) {
      if (index[d] + scalars_per_access[d] > lengths[d]) return false;
    }
    return true;
  }
  friend constexpr bool operator==(const curve&, const curve&) = default;
};

/// CK Tile's spelling of the same traversal as a type; indices may be run-time integers or number<>.
template <index_t NDim, class Lengths, class DimAccessOrder, class ScalarsPerAccess, bool Snake = false>
struct space_filling_curve {
  static_assert(
      sizeof(Lengths) == 0,
      "space_filling_curve: the number of dimensions, then lengths, order and scalars per access as sequence<...>s");
};

template <index_t NDim, index_t... Lengths, index_t... Order, index_t... Scalars, bool Snake>
struct space_filling_curve<NDim, sequence<Lengths...>, sequence<Order...>, sequence<Scalars...>, Snake> {
  static_assert(sizeof...(Lengths) == NDim && sizeof...(Order) == NDim && sizeof...(Scalars) == NDim,
                "space_filling_curve: lengths, order and scalars per access need one entry for each dimension");
  static_assert(((Lengths > 0) && ...), "space_filling_curve: lengths must be positive");
  static_assert(((Scalars > 0) && ...), "space_filling_curve: scalars per access must be positive");
  /// Whether Order names each dimension once.
  static constexpr bool is_order_complete = [] {
    bool seen[NDim + 1] = {};
    for (index_t d : {Order...}) {
      if (d < 0 || d >= NDim || seen[d]) return false;
      seen[d] = true;
    }
    return true;
  }();
  static_assert(is_order_complete, "space_filling_curve: the access order must list each dimension once");

  static constexpr index_t ndim = NDim;                                                   ///< dimensions
  static constexpr curve<NDim> traversal{{Lengths...}, {Order...}, {Scalars...}, Snake};  ///< the same as a value
  static constexpr multi_index<NDim> tensor_lengths{Lengths...};                          ///< in elements
  static constexpr multi_index<NDim> dim_access_order{Order...};                          ///< slowest dimension first
  static constexpr multi_index<NDim> scalars_per_access{Scalars...};                      ///< of an access
  static constexpr bool snake_curved = Snake;  ///< every other line runs backwards
  /// accesses along each dimension
  static constexpr multi_index<NDim> access_lengths{ceil_div(Lengths, Scalars)...};

  /// Accesses that cover the tensor.
  TILEWRIGHT_HD static constexpr index_t get_num_of_access() { return value().get_num_of_access(); }
  /// First element of access i.
  TILEWRIGHT_HD static constexpr multi_index<NDim> get_index(index_t i) { return value().get_index(i); }
  /// From the first element of access a to that of access b.
  TILEWRIGHT_HD static constexpr multi_index<NDim> get_step_between(index_t a, index_t b) {
    return value().get_step_between(a, b);
  }
  /// From access i to the next one.
  TILEWRIGHT_HD static constexpr multi_index<NDim> get_forward_step(index_t i) { return value().get_forward_step(i); }
  /// From access i to the one before.
  TILEWRIGHT_HD static constexpr multi_index<NDim> get_backward_step(index_t i) { return value().get_backward_step(i); }
  /// Whether all elements of access i are inside of the tensor.
  TILEWRIGHT_HD static constexpr bool is_in_bounds(index_t i) { return value().is_in_bounds(i); }

  /// The same for an access that is known at compile time, number<Nth>{}: the compiler checks that there is one.
  template <index_t Nth>
  TILEWRIGHT_HD static constexpr multi_index<NDim> get_index(number<Nth>) {
    require_access<Nth>();
    return value().get_index(Nth);
  }
  /// From access Nth to the next one, which must exist.
  template <index_t Nth>
  TILEWRIGHT_HD static constexpr multi_index<NDim> get_forward_step(number<Nth>) {
    require_access<Nth, 1>();
    return value().get_forward_step(Nth);
  }
  /// From access Nth to the one before, which must exist.
  template <index_t Nth>
  TILEWRIGHT_HD static constexpr multi_index<NDim> get_backward_step(number<Nth>) {
    require_access<Nth, -1>();
    return value().get_backward_step(Nth);
  }
  /// From access A to access B, both of which must exist.
  template <index_t A, index_t B>
  TILEWRIGHT_HD static constexpr multi_index<NDim> get_step_between(number<A>, number<B>) {
    require_access<A, B - A>();
    return value().get_step_between(A, B);
  }

 private:
  template <index_t Nth, index_t Step = 0>
  TILEWRIGHT_HD static constexpr void require_access() {
    static_assert(0 <= Nth && Nth < get_num_of_access(), "space_filling_curve: there is no such access");
    static_assert(0 <= Nth + Step && Nth + Step < get_num_of_access(),
                  "space_filling_curve: the step leads past the first or the last access");
  }
  // A copy, because device code may not refer to static members that live on the host.
  TILEWRIGHT_HD static constexpr curve<NDim> value() { return {{Lengths...}, {Order...}, {Scalars...}, Snake}; }
};

}  // namespace tilewright
