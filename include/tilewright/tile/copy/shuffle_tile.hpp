// SPDX-License-Identifier: MIT
// Gives a tile another distribution: inside of each thread, or through LDS.
#pragma once

#include <tilewright/core/distribution/distribution_encoding.hpp>
#include <tilewright/machine/exec/expect.hpp>
#include <tilewright/tile/copy/load_store.hpp>
#include <tilewright/tile/registers/elementwise.hpp>

namespace tilewright::detail {

/// For each register of one distribution the register of the other that has the same element of the tile, for every
/// thread; possible or not.
template <index_t N>
struct register_exchange {
  bool is_possible = false;
  array<index_t, N> source{};
};

/// The numbers of the elements in a thread's registers, less that of the first one; stride[x]: what a step along
/// dimension x adds.
template <index_t N>
TILEWRIGHT_HD constexpr array<index_t, N> number_registers(const distribution_encoding& e, const index_t* stride) {
  array<index_t, N> numbers{};
  for (index_t y = e.ndim_y(), known = 1; y-- > 0; known *= e.y_length(y)) {
    const index_t step = e.stride(e.y[y]) * stride[e.y[y].major - 1];
    for (index_t r = known; r < known * e.y_length(y); ++r) numbers[r] = numbers[r - known] + step;
  }
  return numbers;
}

/// From `in` to `out`, whose N registers are wanted; dimension d of out's tile is dimension order[d] of in's.
template <index_t N, index_t NDimX>
TILEWRIGHT_HD constexpr register_exchange<N> find_register_exchange(const distribution_encoding& in,
                                                                    const distribution_encoding& out,
                                                                    const array<index_t, NDimX>& order) {
  register_exchange<N> exchange;
  if (in.ndim_x() != NDimX || out.ndim_x() != NDimX || in.num_elements_per_thread() != N ||
      out.num_elements_per_thread() != N)
    return exchange;
  index_t out_stride[NDimX] = {}, in_stride[NDimX] = {};
  for (index_t d = NDimX, stride = 1; d-- > 0; stride *= out.x_length(d)) {
    if (out.x_length(d) != in.x_length(order[d])) return exchange;
    out_stride[d] = in_stride[order[d]] = stride;
    if (!in.places_threads_like(out, order[d], d)) return exchange;
  }
  const auto wanted = number_registers<N>(out, out_stride), is_at = number_registers<N>(in, in_stride);
  for (index_t r = 0, s = 0; r < N; ++r) {
    index_t tried = 0;
    for (; tried < N && is_at[s] != wanted[r]; ++tried) s = s + 1 == N ? 0 : s + 1;
    if (tried == N) return exchange;
    exchange.source[r] = s;
  }
  exchange.is_possible = true;
  return exchange;
}

}  // namespace tilewright::detail

namespace tilewright {

namespace detail {

template <class Out, class In>
TILEWRIGHT_HD constexpr bool have_equal_lengths() {
  if constexpr (Out::ndim_x == In::ndim_x) return Out::x_lengths == In::x_lengths;
  return false;
}

/// Dimension d of Out's tile is dimension Order[d] of In's.
template <class In, class Out, index_t... Order>
inline constexpr auto register_exchange_v =
    find_register_exchange<Out::num_elements>(In::encoding, Out::encoding, array<index_t, sizeof...(Order)>{Order...});

template <class In, class Out, index_t... Order, class T, class U>
TILEWRIGHT_HD constexpr void exchange_registers(static_distributed_tensor<T, Out>& out,
                                                const static_distributed_tensor<U, In>& in) {
  unroll<Out::num_elements>([&](auto d) {
    out.thread_buffer[d] =
        type_convert<T>(in.thread_buffer[constant(register_exchange_v<In, Out, Order...>.source[d.value])]);
  });
}

/// The tile's lengths as numbers.
template <class Distribution>
TILEWRIGHT_HD constexpr auto lengths_as_numbers() {
  return []<index_t... Ds>(sequence<Ds...>) {
    return make_tuple(number<Distribution::x_lengths[Ds]>{}...);
  }(make_sequence<Distribution::ndim_x>{});
}

template <class T, class Out, class In, class OutLayout, class InLayout>
TILEWRIGHT_HD void exchange_through_lds(static_distributed_tensor<T, Out>& out,
                                        const static_distributed_tensor<T, In>& in, exec::lds_pointer lds,
                                        const OutLayout& out_layout, const InLayout& in_layout) {
  constexpr auto space = address_space_enum::lds;
  if (is_first_replica<In>())
    store_tile(make_tile_window(make_tensor_view<space, T>(lds, in_layout), lengths_as_numbers<In>(), {}, In{}), in);
  exec::block_sync();
  out = load_tile(make_tile_window(make_tensor_view<space, T>(lds, out_layout), lengths_as_numbers<Out>(), {}, Out{}));
}

}  // namespace detail

/// Whether each thread holds the same elements of a tile in both distributions, in registers of another order at most.
template <class Out, class In>
inline constexpr bool can_shuffle_in_registers = []<index_t... Ds>(sequence<Ds...>) {
  return detail::register_exchange_v<In, Out, Ds...>.is_possible;
}(make_sequence<In::ndim_x>{});

/// Gives `in` the distribution of `out` where every thread holds the same elements in both, only in other registers.
template <class T, class Out, class U, class In>
TILEWRIGHT_HD constexpr void shuffle_tile(static_distributed_tensor<T, Out>& out,
                                          const static_distributed_tensor<U, In>& in) {
  static_assert(detail::have_equal_lengths<Out, In>(), "shuffle_tile: the tiles have different lengths");
  constexpr bool possible = can_shuffle_in_registers<Out, In>;
  static_assert(possible,
                "shuffle_tile: threads would have to exchange elements; pass a place in LDS as the third argument");
  if constexpr (possible) {
    [&]<index_t... Ds>(sequence<Ds...>)
        TILEWRIGHT_INLINE_LAMBDA { detail::exchange_registers<In, Out, Ds...>(out, in); }(make_sequence<In::ndim_x>{});
  }
}

/// Gives `in` the distribution of `out` through LDS at `lds`, by all threads of the block. `layout` is the descriptor
/// of the tile in LDS, row-major without gaps by default; a swizzled one avoids conflicts. Waits once, between writing
/// and reading: no thread may still use this LDS before, and a barrier must come before it is used again.
template <class T, class Out, class In, TensorDescriptor Layout>
TILEWRIGHT_HD void shuffle_tile(static_distributed_tensor<T, Out>& out, const static_distributed_tensor<T, In>& in,
                                exec::lds_pointer lds, const Layout& layout, exec::call_site where = {}) {
  const exec::call_scope scope(where);
  static_assert(detail::have_equal_lengths<Out, In>(), "shuffle_tile: the tiles have different lengths");
  detail::exchange_through_lds(out, in, lds, layout, layout);
}
/// shuffle_tile through LDS whose layout is row-major without gaps.
template <class T, class Out, class In>
TILEWRIGHT_HD void shuffle_tile(static_distributed_tensor<T, Out>& out, const static_distributed_tensor<T, In>& in,
                                exec::lds_pointer lds, exec::call_site where = {}) {
  shuffle_tile(out, in, lds, make_naive_tensor_descriptor_packed(detail::lengths_as_numbers<In>()), where);
}

/// out(n, m) = in(m, n) where every thread holds the same elements in both, only in other registers.
template <class T, class Out, class In>
TILEWRIGHT_HD constexpr void transpose_tile2d(static_distributed_tensor<T, Out>& out,
                                              const static_distributed_tensor<T, In>& in) {
  static_assert(Out::ndim_x == 2 && In::ndim_x == 2, "transpose_tile2d: the tiles must have two dimensions");
  if constexpr (Out::ndim_x == 2 && In::ndim_x == 2) {
    constexpr bool possible = detail::register_exchange_v<In, Out, 1, 0>.is_possible;
    static_assert(possible,
                  "transpose_tile2d: threads would have to exchange elements; use transpose_tile with a place in LDS");
    if constexpr (possible) detail::exchange_registers<In, Out, 1, 0>(out, in);
  }
}

/// out(n, m) = in(m, n) through LDS at `lds`, by all threads of the block; the rules are those of shuffle_tile.
/// LDS holds the tile of `in` in row-major order.
template <class T, class Out, class In>
TILEWRIGHT_HD void transpose_tile(static_distributed_tensor<T, Out>& out, const static_distributed_tensor<T, In>& in,
                                  exec::lds_pointer lds, exec::call_site where = {}) {
  const exec::call_scope scope(where);
  constexpr bool fits = [] {
    if constexpr (Out::ndim_x == 2 && In::ndim_x == 2)
      return Out::x_lengths[0] == In::x_lengths[1] && Out::x_lengths[1] == In::x_lengths[0];
    return false;
  }();
  static_assert(
      fits,
      "transpose_tile: the tiles must have two dimensions, the lengths of one being those of the other exchanged");
  if constexpr (fits) {
    constexpr number<In::x_lengths[0]> rows{};
    constexpr number<In::x_lengths[1]> cols{};
    detail::exchange_through_lds(out, in, lds,
                                 make_naive_tensor_descriptor(make_tuple(cols, rows), make_tuple(number<1>{}, cols)),
                                 make_naive_tensor_descriptor(make_tuple(rows, cols), make_tuple(cols, number<1>{})));
  }
}

/// The tile with elements of type T in another distribution, given as a value of its type. Each thread must hold the
/// same elements in both (can_shuffle_in_registers): no instruction moves anything between lanes.
template <class T, class From, class In, TileDistribution Out>
TILEWRIGHT_HD constexpr auto relayout(const static_distributed_tensor<From, In>& tile, Out) {
  constexpr bool stays_in_lanes = can_shuffle_in_registers<Out, In>;
  static_assert(
      stays_in_lanes,
      "relayout: an element would change its lane; give the second product the k_order that chained finds, or "
      "use shuffle_tile with a place in LDS");
  static_distributed_tensor<T, Out> result;
  if constexpr (stays_in_lanes) shuffle_tile(result, cast_tile<T>(tile));
  return result;
}

}  // namespace tilewright
