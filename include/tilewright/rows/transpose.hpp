// SPDX-License-Identifier: MIT
// Transpose of matrices: tiles go through LDS, coalesced and without bank conflicts on both sides.
#pragma once

#include <tilewright/distribution/copy_distribution.hpp>
#include <tilewright/lds/layout_solver.hpp>
#include <tilewright/lds/lds_proof.hpp>
#include <tilewright/rows/check_rows.hpp>
#include <tilewright/tile/shuffle_tile.hpp>

namespace tilewright {

/// y(b, j, i) = x(b, i, j) for matrices of rows x cols. Strides in elements; columns are contiguous.
template <class T>
struct transpose_args {
  const T* x = nullptr;
  T* y = nullptr;
  index_t rows = 0, cols = 0, batch = 1;
  long_index_t x_stride = 0, y_stride = 0;  // between rows: at least cols of x, rows of y
  long_index_t x_batch_stride = 0, y_batch_stride = 0;
};

/// Each block moves one tile: loads vectors of rows, transposes squares of vectors in registers, writes them to LDS as
/// vectors of y's rows and reads them back so that neighbouring lanes store neighbouring vectors. T: 2 or 4 bytes.
/// Vector: elements of an access to global memory, 16 bytes or 1 for lengths and strides that are no multiples.
template <class Arch, class T, index_t Vector = 16 / index_t(sizeof(T))>
struct transpose {
  using arch = Arch;
  using args_type = transpose_args<T>;
  static constexpr index_t square = 16 / sizeof(T), side = 16 * square, block_size = 256;
  static constexpr index_t lds_bytes = side * side * sizeof(T);
  static_assert((sizeof(T) == 2 || sizeof(T) == 4) && (Vector == 1 || Vector == square),
                "transpose: elements have 2 or 4 bytes, and vectors 16 bytes or one element");

  /// A wave reads squares of vectors, 8 next to each other.
  static constexpr index_t wave = Arch::value.wave_size, beside = 8, below = wave / beside;
  static constexpr index_t waves_beside = 16 / beside, waves_below = 16 / below;
  template <bool Transposed>
  static constexpr distribution_encoding squares = [] {
    using along_rows = sequence<waves_below, below, square>;
    using along_cols = sequence<waves_beside, beside, square>;
    if constexpr (Transposed) {
      return tile_distribution_encoding<sequence<>, tuple<along_cols, along_rows>,
                                        tuple<sequence<2, 1>, sequence<2, 1>>, tuple<sequence<0, 0>, sequence<1, 1>>,
                                        sequence<1, 2>, sequence<2, 2>>::value;
    } else {
      return tile_distribution_encoding<sequence<>, tuple<along_rows, along_cols>,
                                        tuple<sequence<1, 2>, sequence<1, 2>>, tuple<sequence<0, 0>, sequence<1, 1>>,
                                        sequence<1, 2>, sequence<2, 2>>::value;
    }
  }();
  using read = tile_distribution<squares<false>>;
  using turned = tile_distribution<squares<true>>;
  using written = decltype(make_copy_distribution<side, side, T, block_size, wave>());
  static constexpr lds_layout_choice choice =
      choose_lds_layout<Arch>(lds_tile{side, side, sizeof(T)}, lds_use{turned::encoding, lds_access_kind::write},
                              lds_use{written::encoding, lds_access_kind::read});
  using layout = decltype(make_lds_descriptor<choice.layout>());
  static_assert(require_conflict_free<lds_access<Arch, layout{}, turned, T, lds_access_kind::write>,
                                      lds_access<Arch, layout{}, written, T, lds_access_kind::read>>());

  /// What this kernel cannot do with these arguments, as a sentence; nullptr when it can.
  static constexpr const char* check(const args_type& args) {
    const detail::row_matrix x{args.x, args.rows, args.cols, args.x_stride, sizeof(T), args.batch, args.x_batch_stride};
    const detail::row_matrix y{args.y, args.cols, args.rows, args.y_stride, sizeof(T), args.batch, args.y_batch_stride};
    if (const char* why = detail::check_matrix(x, Vector, side)) return why;
    if (const char* why = detail::check_matrix(y, Vector, side)) return why;
    if (long_index_t{ceil_div(args.rows, side)} * ceil_div(args.cols, side) * args.batch > 0x7fffffff)
      return "there are more than 2^31 tiles";
    if (detail::overlap(x, y)) return "the result overlaps the input: a transpose needs memory of its own";
    return nullptr;
  }
  static constexpr exec::block_index grid(const args_type& args) {
    return {ceil_div(args.rows, side) * ceil_div(args.cols, side) * args.batch, 1, 1};
  }

  TILEWRIGHT_HD void operator()(const args_type& args) const {
    constexpr auto lengths = make_tuple(number<side>{}, number<side>{});
    const auto view = [&](auto* p, index_t rows, index_t cols, long_index_t stride) TILEWRIGHT_INLINE_LAMBDA {
      return make_naive_tensor_view<address_space_enum::global>(
          p, make_tuple(rows, cols), make_tuple(index_t(stride), number<1>{}), number<Vector>{});
    };
    const unsigned across = unsigned(ceil_div(args.cols, side)), tiles = across * unsigned(ceil_div(args.rows, side));
    const unsigned block = unsigned(exec::block_id().x), batch = block / tiles, tile = block % tiles;
    const index_t row = index_t(tile / across) * side, col = index_t(tile % across) * side;
    const T* const x = args.x + (batch * args.x_batch_stride + row * args.x_stride + col);
    T* const y = args.y + (batch * args.y_batch_stride + col * args.y_stride + row);

    const auto in =
        load_tile(make_tile_window(view(x, args.rows - row, args.cols - col, args.x_stride), lengths, {}, read{}));
    static_distributed_tensor<T, turned> columns;
    transpose_tile2d(columns, in);
    static_distributed_tensor<T, written> out;
    shuffle_tile(out, columns, exec::lds_allocate<lds_bytes>(), layout{});
    store_tile(make_tile_window(view(y, args.cols - col, args.rows - row, args.y_stride), lengths, {}, written{}), out);
  }
};

}  // namespace tilewright
