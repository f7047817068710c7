// SPDX-License-Identifier: MIT
// Where a tile of accumulators lies in C, and how an epilogue reads what other tensors hold for that place.
#pragma once

#include <tilewright/core/base/type_traits.hpp>
#include <tilewright/core/distribution/reduce_encoding.hpp>
#include <tilewright/kernels/gemm/gemm_args.hpp>
#include <tilewright/tile/copy/load_store.hpp>

namespace tilewright::detail {

/// The `at` of an epilogue: a tile of C with a distribution, whose first element is C(origin[0], origin[1]) of problem
/// `batch`. R is C's element type; a `const void*` points to elements of it. Rows are read in vectors of Vector
/// elements: what is read along n is aligned to Vector elements, and leading dimensions and batch strides are multiples
/// of it.
template <class Distribution, class R, index_t Vector>
struct epilogue_tile {
  using distribution = Distribution;
  using rows = tile_distribution<number<reduce(Distribution::encoding, array<index_t, 1>{{1}})>::value>;
  using columns = tile_distribution<number<reduce(Distribution::encoding, array<index_t, 1>{{0}})>::value>;
  template <class T>
  using element = detail::conditional_t<__is_same(T, void), R, T>;

  const gemm_args& args;
  multi_index<2> origin;
  long_index_t batch;
  multi_index<Distribution::ndim_p> partition;

  /// Loads the elements of a vector of length m that belong to the rows of the tile: for `along<0>`.
  template <class T>
  TILEWRIGHT_HD auto along_m(const T* data) const {
    const auto view = make_naive_tensor_view_packed<address_space_enum::global>(static_cast<const element<T>*>(data),
                                                                                make_tuple(args.m));
    return load_tile(
        make_tile_window(view, make_tuple(number<Distribution::x_lengths[0]>{}), {origin[0]}, rows{}, partition));
  }

  /// Loads the elements of a vector of length n that belong to the columns of the tile: for `along<1>`.
  template <class T>
  TILEWRIGHT_HD auto along_n(const T* data) const {
    const auto view = make_naive_tensor_view_packed<address_space_enum::global>(static_cast<const element<T>*>(data),
                                                                                make_tuple(args.n), number<Vector>{});
    return load_tile(
        make_tile_window(view, make_tuple(number<Distribution::x_lengths[1]>{}), {origin[1]}, columns{}, partition));
  }

  /// The same of elements that are `step` apart; they need no alignment.
  template <class T>
  TILEWRIGHT_HD auto along_n(const T* data, index_t step) const {
    const auto view = make_naive_tensor_view<address_space_enum::global>(static_cast<const element<T>*>(data),
                                                                         make_tuple(args.n), make_tuple(step));
    return load_tile(
        make_tile_window(view, make_tuple(number<Distribution::x_lengths[1]>{}), {origin[1]}, columns{}, partition));
  }

  /// The same place of a row-major m x n matrix for each problem of the batch. Elements outside of it are zero.
  template <class T>
  TILEWRIGHT_HD auto matrix(const T* data, index_t ld, long_index_t batch_stride) const {
    return load_tile(window(static_cast<const element<T>*>(data), ld, batch_stride));
  }

  /// The window that matrix() reads; that of a matrix of elements that are not const can be written.
  template <class T>
  TILEWRIGHT_HD auto window(T* data, index_t ld, long_index_t batch_stride) const {
    const auto view = make_naive_tensor_view<address_space_enum::global>(
        data + batch * batch_stride, make_tuple(args.m, args.n), make_tuple(ld, number<1>{}), number<Vector>{});
    constexpr auto lengths = make_tuple(number<Distribution::x_lengths[0]>{}, number<Distribution::x_lengths[1]>{});
    return make_tile_window(view, lengths, origin, Distribution{}, partition);
  }
};

/// A epilogue_tile that reads and writes C through one window.
template <class Distribution, class R, index_t Vector>
struct output_tile : epilogue_tile<Distribution, R, Vector> {
  using place = epilogue_tile<Distribution, R, Vector>;
  decltype(declval<const place&>().window(declval<R*>(), 0, 0)) c_window =
      place::window(static_cast<R*>(place::args.c), place::args.ldc, place::args.batch_stride_c);

  /// The old elements of C. Call it only where args.beta is not 0.
  TILEWRIGHT_HD auto c() const { return load_tile(c_window); }
  /// The same into a tile that exists.
  TILEWRIGHT_HD void read_c(tile_of<decltype(c_window)>& tile) const { load_tile(tile, c_window); }

  /// Moves on by a number of rows.
  TILEWRIGHT_HD void move_down(index_t step) {
    place::origin[0] += step;
    move_tile_window(c_window, {step, 0});
  }
};

}  // namespace tilewright::detail
