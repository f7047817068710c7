// SPDX-License-Identifier: MIT
// Results of 8 bits with scales: one for each row, or one for each 128 elements of a row.
#pragma once

#include <tilewright/block/rows/row_block.hpp>

namespace tilewright {

/// Which elements share a scale: their largest |value| / the largest number of the result's type.
enum class scale_kind : signed char { none, per_row, per_128 };

namespace detail {
/// The largest finite number of an 8-bit element type.
template <class T>
inline constexpr float largest_of = 127;
template <class T>
  requires detail::is_fp8_v<T>
inline constexpr float largest_of<T> = float(T(1e30f));

/// Where scales go: that of row r, and of its g-th 128 elements, is scale[r * row_stride + g * group_stride].
struct scale_position {
  float* scale;
  long_index_t row_stride = 1, group_stride = 0;
};

TILEWRIGHT_HD constexpr scale_position scales_of(const auto& args) {
  return {args.scale, args.scale_row_stride, args.scale_group_stride};
}

/// Their memory, for the rows of x.
template <scale_kind Scales>
constexpr row_matrix memory_of(const scale_position& to, const row_matrix& x) {
  const long_index_t groups = Scales == scale_kind::per_128 ? ceil_div(x.cols, long_index_t{128}) : 1;
  return row_array(Scales == scale_kind::none ? nullptr : to.scale,
                   (x.rows - 1) * to.row_stride + (groups - 1) * to.group_stride + 1);
}

/// Why scales cannot be written, as an error message; nullptr: they can. They must not touch x and y.
template <scale_kind Scales>
constexpr const char* check_scales(const scale_position& to, const row_matrix& x, const row_matrix& y) {
  if constexpr (Scales == scale_kind::none) return nullptr;
  if (!to.scale) return "a result of 8 bits needs scale: floats for each row, or for each 128 elements of a row";
  const long_index_t groups = Scales == scale_kind::per_row ? 1 : ceil_div(x.cols, long_index_t{128});
  if (to.row_stride < 1 || (groups > 1 && to.group_stride < 1)) return "strides of scales must be positive";
  const bool is_by_row = to.row_stride >= groups * to.group_stride || groups == 1;
  if (!is_by_row && to.group_stride < x.rows * to.row_stride) return "strides of scales make two of them one element";
  const row_matrix written = memory_of<Scales>(to, x);
  if (!is_aligned(written, 1)) return "scale is not aligned to its floats";
  if (overlap(written, x) || overlap(written, y))
    return "the memory from scale's first element to its last overlaps a matrix's";
  return nullptr;
}

/// What elements are multiplied by, so that `largest` becomes `most`. Raises tiny ones: scales are normal numbers or 0.
TILEWRIGHT_HD float factor_of_scale(float& largest, float most) {
  if (largest > 0) largest = exec::max(largest, most * 0x1p-125f);
  return largest > 0 ? most * exec::rcp(largest) : 0.0f;
}

/// Elements of an access: vectors must divide groups of 128, so unaligned rows are moved one by one.
TILEWRIGHT_HD constexpr index_t access_of(const row_tile& tile, scale_kind scales) {
  return tile.unaligned && scales == scale_kind::per_128 ? 1 : tile.vector;
}
template <row_tile Tile, scale_kind Scales>
inline constexpr index_t access_v = access_of(Tile, Scales);

/// Multiplies the elements of each Group of a row by what scale(largest, row, group, is_writer) returns for their
/// largest |value|; one lane of those that share a group, if it exists, is the writer of its scale.
template <index_t Group, row_tile Tile, class Block, class Scale>
TILEWRIGHT_HD void scale_groups(const Block& rows, typename Block::template segment<float>& e, index_t first_col,
                                Scale scale) {
  constexpr index_t lanes = Group / Tile.vector;
  static_assert(lanes <= Block::lanes,
                "row_scales: the lanes of a wave that share a row hold whole groups at a time: use longer vectors");
  TILEWRIGHT_UNROLL_ALL
  for (index_t first = 0; first < Block::in_vectors; first += Tile.vector) {
    float largest = 0;
    for (index_t i = 0; i < Tile.vector; ++i) {
      const float x = e.thread_buffer[first + i];
      largest = exec::max(largest, exec::abs(x));
    }
    largest = combine_lanes<1, lanes>(largest, max);
    const unsigned col = unsigned(rows.position(first_col, first));
    const float factor = scale(largest, rows.first_row + rows.row, index_t(col / Group),
                               rows.row < rows.rows && rows.exists(first_col, first) && col % Group == 0);
    for (index_t i = 0; i < Tile.vector; ++i) e.thread_buffer[first + i] *= factor;
  }
}

/// Scales of floats for each 128 elements: their largest magnitude becomes `most`.
struct float_scales {
  scale_position to;
  float most;

  TILEWRIGHT_HD float operator()(float largest, index_t row, index_t group, bool is_writer) const {
    const float factor = factor_of_scale(largest, most);
    if (is_writer)
      exec::buffer_store(exec::make_global_buffer(to.scale, long_index_t{1} << 62),
                         4 * (row * to.row_stride + long_index_t(group) * to.group_stride), largest * (1 / most));
    return factor;
  }
};

/// Writes f(part, first_col) of each part to y, with scales per 128 elements or none; `part` holds the last part, and
/// load(first_col) reads one.
template <scale_kind Scales, row_tile Tile, class Result, class Block, class Segment, class Load, class F>
TILEWRIGHT_HD void store_segments(const Block& rows, Segment& segment, Load load, F f, Result* y, long_index_t y_stride,
                                  const scale_position& to) {
  rows.backward(segment, load, [&](const auto& x, index_t first) TILEWRIGHT_INLINE_LAMBDA {
    auto e = f(x, first);
    if constexpr (Scales == scale_kind::per_128)
      scale_groups<128, Tile>(rows, e, first, float_scales{to, largest_of<Result>});
    rows.store(y, y_stride, first, e);
  });
}

/// The same with a scale for each row. `part` holds the first part, or, if FromLast, the last one. f(x, first_col)
/// are the values to scale, zeros after the end of the rows; again(first_col) computes them again. combine(largest)
/// makes the largest magnitude of a thread that of its row, and returns the factor of the values.
template <bool FromLast, class Result, class Block, class Segment, class Load, class F, class Combine, class Again>
TILEWRIGHT_HD void store_scaled_rows(const Block& rows, Segment& segment, Load load, F f, Combine combine, Again again,
                                     Result* y, long_index_t y_stride, const scale_position& to) {
  constexpr float most = largest_of<Result>;
  float largest = 0;
  typename Block::template segment<float> e;
  const auto find_largest = [&](const auto& x, index_t first) TILEWRIGHT_INLINE_LAMBDA {
    e = f(x, first);
    largest = exec::max(largest, Block::reduce_own(tile_elementwise_in(exec::abs, e), max));
  };
  if constexpr (FromLast) {
    rows.backward(segment, load, find_largest);
  } else {
    rows.forward(segment, load, find_largest);
  }
  const float unit = combine(largest), factor = factor_of_scale(largest, most);
  rows.store_row(to.scale, largest * unit * (1 / most), to.row_stride);
  const auto store = [&](auto& x, index_t first) TILEWRIGHT_INLINE_LAMBDA {
    scale(x, factor);
    rows.store(y, y_stride, first, x);
  };
  if constexpr (FromLast) {
    rows.forward(e, again, store);
  } else {
    rows.backward(e, again, store);
  }
}

}  // namespace detail

}  // namespace tilewright
