// SPDX-License-Identifier: MIT
// Visits what a thread holds of a tile, with indices that are known at compile time.
#pragma once

#include <tilewright/tile/elementwise.hpp>
#include <tilewright/util/static_walk.hpp>

namespace tilewright {

namespace detail {

/// Digits of register Register along dimension X of the tile.
template <class Distribution, index_t X>
TILEWRIGHT_HD constexpr distributed_index digits_of(const multi_index<Distribution::ndim_y>& y) {
  distributed_index digits;
  for_each_held_factor(Distribution::encoding, [&](index_t x, index_t, index_t i) {
    if (x == X) digits.push_back(y[i]);
  });
  return digits;
}

template <class Distribution, index_t Register, index_t X>
TILEWRIGHT_HD constexpr auto distributed_index_of() {
  return []<index_t... Ks>(sequence<Ks...>) {
    return tile_distributed_index<digits_of<Distribution, X>(y_of_register<Distribution>(Register))[Ks]...>{};
  }(make_sequence<digits_of<Distribution, X>({}).size()>{});
}

/// One tile_distributed_index for each dimension of the tile.
template <class Distribution, index_t Register>
TILEWRIGHT_HD constexpr auto distributed_indices_of() {
  return []<index_t... Xs>(sequence<Xs...>) {
    return make_tuple(distributed_index_of<Distribution, Register, Xs>()...);
  }(make_sequence<Distribution::ndim_x>{});
}

/// Number of elements in all spans of one dimension.
template <class Distribution, index_t X>
inline constexpr index_t span_size = [] {
  const auto spans = get_distributed_spans(Distribution{});
  index_t n = 1;
  for (index_t length : spans[X]) n *= length;
  return n;
}();

template <class Distribution, index_t X, index_t K>
TILEWRIGHT_HD constexpr auto span_index() {
  constexpr index_t count = get_distributed_spans(Distribution{})[X].size();
  return []<index_t... Ks>(sequence<Ks...>) {
    constexpr auto digit = [](index_t wanted) {
      const auto spans = get_distributed_spans(Distribution{});
      index_t rest = K, result = 0;
      for (index_t k = count; k-- > wanted; rest /= spans[X][k]) result = rest % spans[X][k];
      return result;
    };
    return tile_distributed_index<digit(Ks)...>{};
  }(make_sequence<count>{});
}

/// Registers of the groups of Unpacks neighbours along each y, groups and members in row-major order.
template <class Distribution, index_t... Unpacks>
struct sweep_groups {
  using walk_type = static_walk<Distribution::ndim_y>;
  static constexpr walk_type walk = [] {
    walk_type w{Distribution::y_lengths, {}, {{Unpacks...}}};
    for (index_t i = 0; i < Distribution::ndim_y; ++i) w.order[i] = i;
    return w;
  }();
  static constexpr index_t per_group = walk.per_group(), count = walk.num_groups();

  TILEWRIGHT_HD static constexpr index_t register_of(index_t group, index_t member) {
    return Distribution::y_to_register(walk.at(group, member));
  }
};

template <class Tile, index_t... Unpacks>
TILEWRIGHT_HD constexpr auto groups_of(sequence<Unpacks...>) {
  using distribution = typename Tile::distribution_type;
  if constexpr (sizeof...(Unpacks) == 0) {
    return []<index_t... Ys>(sequence<Ys...>) {
      return sweep_groups<distribution, (Ys < 0 ? 0 : 1)...>{};
    }(make_sequence<distribution::ndim_y>{});
  } else {
    static_assert(sizeof...(Unpacks) == distribution::ndim_y,
                  "sweep_tile: unpacks need one number for each y of the distribution");
    if constexpr (sizeof...(Unpacks) == distribution::ndim_y) {
      constexpr bool divides = [] {
        index_t i = 0;
        return ((Unpacks >= 1 && distribution::get_y_length(i++) % Unpacks == 0) && ...);
      }();
      static_assert(divides, "sweep_tile: each number of unpacks must divide the length of its y");
      return sweep_groups<distribution, Unpacks...>{};
    }
  }
}

template <class F, class... Indices>
concept CallableWith = requires(F& f, const Indices&... indices) { f(indices...); };

// Members of the group are a pack of this function, not of a lambda inside: nvcc would find no function callable.
TILEWRIGHT_CALLS_ANYTHING
template <class Groups, index_t Group, class Tile, class F, index_t... Ms>
TILEWRIGHT_HD constexpr void sweep_group(Tile& tile, F& f, sequence<Ms...>) {
  using distribution = typename Tile::distribution_type;
  if constexpr (CallableWith<F, decltype(distributed_indices_of<distribution, Groups::register_of(Group, Ms)>())...>) {
    f(distributed_indices_of<distribution, Groups::register_of(Group, Ms)>()...);
  } else {
    static_assert(Groups::per_group == 1,
                  "sweep_tile: the function must take one index for each element that is unpacked");
    (f(distributed_indices_of<distribution, Groups::register_of(Group, Ms)>(),
       tile.thread_buffer[constant(Groups::register_of(Group, Ms))]),
     ...);
  }
}
template <class Groups, index_t Group, class Tile, class F>
TILEWRIGHT_HD constexpr void sweep_group(Tile& tile, F& f) {
  sweep_group<Groups, Group>(tile, f, make_sequence<Groups::per_group>{});
}

}  // namespace detail

/// Calls f(index) or f(index, element) for each element that the thread holds, in the order of its registers. The index
/// is a tuple of a tile_distributed_index for each dimension of the tile: tile[index] is the element, in any tile of
/// the distribution. unpacks: how many neighbours along each y one call gets, as several indices.
TILEWRIGHT_CALLS_ANYTHING
template <class Tile, class F, class Unpacks = sequence<>>
  requires detail::is_static_distributed_tensor_v<detail::remove_const_t<Tile>>
TILEWRIGHT_HD constexpr void sweep_tile(Tile& tile, F f, Unpacks unpacks = {}) {
  using groups = decltype(detail::groups_of<Tile>(unpacks));
  unroll<groups::count>([&](auto g) TILEWRIGHT_INLINE_LAMBDA { detail::sweep_group<groups, g.value>(tile, f); });
}

/// The same for a type of tile: f(index).
TILEWRIGHT_CALLS_ANYTHING
template <class Tile, class F, class Unpacks = sequence<>>
  requires detail::is_static_distributed_tensor_v<detail::remove_const_t<Tile>>
TILEWRIGHT_HD constexpr void sweep_tile(F f, Unpacks unpacks = {}) {
  using groups = decltype(detail::groups_of<Tile>(unpacks));
  using distribution = typename Tile::distribution_type;
  unroll<groups::count>([&](auto g) TILEWRIGHT_INLINE_LAMBDA {
    [&]<index_t... Ms>(sequence<Ms...>) TILEWRIGHT_INLINE_LAMBDA {
      f(detail::distributed_indices_of<distribution, groups::register_of(g.value, Ms)>()...);
    }(make_sequence<groups::per_group>{});
  });
}

/// A sweep in steps that the caller takes: sweeper(number<i>{}) for i < get_num_of_access().
template <class Tile, class F, class Unpacks = sequence<>>
struct tile_sweeper {
  using groups = decltype(detail::groups_of<Tile>(Unpacks{}));
  Tile& tile;
  F f;

  TILEWRIGHT_HD constexpr tile_sweeper(Tile& t, F function, Unpacks = {}) : tile(t), f(function) {}
  TILEWRIGHT_HD static constexpr index_t get_num_of_access() { return groups::count; }

  template <auto I>
  TILEWRIGHT_HD constexpr void operator()(number<I>) {
    static_assert(0 <= I && I < groups::count, "tile_sweeper: there are not so many accesses; see get_num_of_access()");
    detail::sweep_group<groups, I>(tile, f);
  }
};

/// Calls f(tile_distributed_index) for what the thread holds along dimension X of the tile. Nested for each dimension,
/// tile[make_tuple(index0, index1)] is the element.
TILEWRIGHT_CALLS_ANYTHING
template <index_t X, class Tile, class F>
TILEWRIGHT_HD constexpr void sweep_tile_span(const Tile&, F f) {
  using distribution = typename Tile::distribution_type;
  static_assert(0 <= X && X < distribution::ndim_x, "sweep_tile_span: the tile has no such dimension");
  unroll<detail::span_size<distribution, X>>(
      [&](auto k) TILEWRIGHT_INLINE_LAMBDA { f(detail::span_index<distribution, X, k.value>()); });
}

namespace detail {

/// Numbers of the positions along a span in groups, see static_walk; the span's digits are most significant first.
template <class Distribution, index_t X, index_t... Unpacks>
struct span_groups {
  using walk_type = static_walk<sizeof...(Unpacks)>;
  static constexpr walk_type walk = [] {
    walk_type w{{}, {}, {{Unpacks...}}};
    const auto spans = get_distributed_spans(Distribution{});
    for (index_t k = 0; k < index_t(sizeof...(Unpacks)); ++k) {
      w.lengths[k] = spans[X][k];
      w.order[k] = k;
    }
    return w;
  }();
  TILEWRIGHT_HD static constexpr index_t position(index_t group, index_t member) {
    const auto digits = walk.at(group, member);
    index_t k = 0;
    for (index_t i = 0; i < index_t(sizeof...(Unpacks)); ++i) k = k * walk.lengths[i] + digits[i];
    return k;
  }
};

}  // namespace detail

/// The same in groups: Unpacks has the number of neighbours along each digit of the span that one call gets,
/// as several indices.
TILEWRIGHT_CALLS_ANYTHING
template <index_t X, class Tile, class F, index_t... Unpacks>
TILEWRIGHT_HD constexpr void sweep_tile_uspan(const Tile&, F f, sequence<Unpacks...>) {
  using distribution = typename Tile::distribution_type;
  constexpr bool exists = 0 <= X && X < distribution::ndim_x;
  static_assert(exists, "sweep_tile_uspan: the tile has no such dimension");
  constexpr bool right_count =
      exists && get_distributed_spans(distribution{})[exists ? X : 0].size() == index_t(sizeof...(Unpacks));
  static_assert(right_count || !exists, "sweep_tile_uspan: one number of unpacks is needed for each digit of the span");
  if constexpr (right_count) {
    using groups = detail::span_groups<distribution, X, Unpacks...>;
    static_assert(groups::walk.is_sound(),
                  "sweep_tile_uspan: each number of unpacks must divide the length of its digit");
    if constexpr (groups::walk.is_sound()) {
      unroll<groups::walk.num_groups()>([&](auto group) TILEWRIGHT_INLINE_LAMBDA {
        [&]<index_t... Ms>(sequence<Ms...>) TILEWRIGHT_INLINE_LAMBDA {
          f(detail::span_index<distribution, X, groups::position(group.value, Ms)>()...);
        }(make_sequence<groups::walk.per_group()>{});
      });
    }
  }
}

/// Position in the tile of the calling thread's element with these distributed indices.
template <class Distribution, class... Indices>
TILEWRIGHT_HD constexpr multi_index<Distribution::ndim_x> get_x_indices_from_distributed_indices(
    Distribution, const tuple<Indices...>&,
    const multi_index<Distribution::ndim_p>& p = get_partition_index<Distribution>()) {
  multi_index<Distribution::ndim_x> x = Distribution::calculate_index(p);
  constexpr index_t d = register_of<Distribution, Indices...>::value;
  unroll<Distribution::ndim_x>([&](auto i) TILEWRIGHT_INLINE_LAMBDA {
    x[i] += constant(detail::position_of_register<Distribution, d>[i.value]);
  });
  return x;
}

}  // namespace tilewright
