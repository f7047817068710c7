// SPDX-License-Identifier: MIT
// Quantisation of rows to narrow formats with a scale for each group: MXFP4, MXFP8, NVFP4, int4, int8.
#pragma once

#include <tilewright/kernels/rows/group_codes.hpp>
#include <tilewright/tile/registers/element_functions.hpp>

namespace tilewright {

/// decode(codes) scales = x, or f(x), or f(x, x2), as operand_format lays them out. Strides in elements.
template <class T>
struct quantise_groups_args {
  const T* x = nullptr;                      ///< (rows, cols)
  const T* x2 = nullptr;                     ///< for functions of two elements
  group_codes result = {};                   ///< codes (rows, cols) and scales (rows, ceil(cols / group))
  index_t rows = 0, cols = 0;                ///< cols a multiple of Tile.vector
  long_index_t x_stride = 0, x2_stride = 0;  ///< from row to row
};

/// A scale is the largest magnitude of a group over the format's largest number, rounded to scale_type; an e8m0 scale
/// is the largest power of two of the group over the format's largest power of two (OCP MX 1.0, 6.3), so that elements
/// may saturate. Elements are multiplied by the rounded reciprocal of the scale and rounded to nearest even. Scales
/// saturate at the largest finite one; those that are no powers of two, times tensor_scale, are 0 or at least 2^-126.
/// NaN elements do not count for the scale and become what NaN becomes in the format; infinite ones count as the
/// largest float and become the largest number. Function: as quantise_rows.
template <class Arch, class T, class Format, row_tile Tile, class Function = copy_function>
struct quantise_groups {
  using arch = Arch;
  using args_type = quantise_groups_args<T>;
  using writer = detail::group_writer<Format, Tile>;
  using block = detail::row_block<Arch, Tile, Tile.vector>;
  /// Function takes an element of x and one of x2
  static constexpr bool has_two = requires(Function f) { f(0.0f, 0.0f); };
  static constexpr index_t block_size = Tile.threads;                           ///< threads
  static constexpr index_t lds_bytes = 0;                                       ///< none
  static constexpr index_t blocks_at_once = block::blocks_at_once;              ///< on a compute unit or SM
  static constexpr bool overlaps_previous = detail::overlaps_previous_v<Arch>;  ///< it may start early

  static constexpr const char* check(const args_type& g) {
    if (const char* why = writer::check(g.result, g.rows, g.cols)) return why;
    const auto x = detail::rows_of(g, g.x, g.x_stride), x2 = detail::rows_of(g, g.x2, g.x2_stride);
    for (const detail::row_matrix& m : {x, has_two ? x2 : x}) {
      if (const char* why = block::check(Tile, m)) return why;
      if (writer::overlaps(g.result, m, g.rows, g.cols)) return "codes, scales and the input share memory";
    }
    return nullptr;
  }
  static constexpr exec::block_index grid(const args_type& g) { return block::grid(Tile, g.rows); }

  TILEWRIGHT_HD void operator()(const args_type& g) const {
    const auto rows = block::of_grid(g.rows, g.cols, g.x, g.x_stride);
    const auto load = [&](index_t first) TILEWRIGHT_INLINE_LAMBDA { return rows.load(g.x, g.x_stride, first); };
    auto segment = load(rows.last_segment());
    rows.backward(segment, load, [&](const auto& x, index_t first) TILEWRIGHT_INLINE_LAMBDA {
      auto e = [&] {
        if constexpr (has_two)
          return tile_elementwise_in(Function{}, block::to_float(x),
                                     block::to_float(rows.load(g.x2, g.x2_stride, first)));
        else
          return tile_elementwise_in(Function{}, block::to_float(x));
      }();
      writer::store(g.result, rows, e, first);
    });
  }
};

}  // namespace tilewright
