// SPDX-License-Identifier: MIT
// Quantisation of rows to narrow formats with a scale for each group: MXFP4, MXFP8, NVFP4, int4, int8.
#pragma once

#include <tilewright/block/operands/narrow_formats.hpp>
#include <tilewright/kernels/rows/row_scales.hpp>
#include <tilewright/tile/registers/element_functions.hpp>

namespace tilewright {

namespace detail {

/// How elements become codes of an operand format: `code` of x / scale, and the largest number that a code means.
template <class Format>
struct group_code;
template <index_t Group, class Scale>
struct group_code<e2m1_groups<Group, Scale>> {
  static constexpr float most = 6;
  TILEWRIGHT_HD static unsigned code(float x) { return fp4_e2m1_t(x).bits; }
};
template <index_t Group, class Scale>
struct group_code<e4m3_groups<Group, Scale>> {
  static constexpr float most = 448;
  TILEWRIGHT_HD static unsigned code(float x) { return fp8_ocp_t(x).bits; }
};
template <index_t Group, class Scale>
struct group_code<int4_groups<Group, Scale>> {
  static constexpr float most = 7;
  TILEWRIGHT_HD static unsigned code(float x) { return int4_t(x).bits ^ 8u; }
};
template <index_t Group, class Scale>
struct group_code<int8_groups<Group, Scale>> {
  static constexpr float most = 127;
  TILEWRIGHT_HD static unsigned code(float x) { return static_cast<unsigned char>(type_convert<int8_t>(x)); }
};

}  // namespace detail

/// decode(y) scales = x, or f(x), or f(x, x2), as operand_format lays them out. Strides in elements.
template <class T>
struct quantise_groups_args {
  const T* x = nullptr;                                    ///< (rows, cols)
  const T* x2 = nullptr;                                   ///< for functions of two elements
  void* y = nullptr;                                       ///< codes (rows, cols), packed from the lowest bits on
  void* scales = nullptr;                                  ///< (rows, ceil(cols / group)) of the format's scale_type
  index_t rows = 0, cols = 0;                              ///< of x and y; cols a multiple of Tile.vector
  long_index_t x_stride = 0, x2_stride = 0, y_stride = 0;  ///< from row to row; of y at multiples of Tile.vector
  long_index_t scale_stride = 0;                           ///< scales from row to row, contiguous along the groups
  float tensor_scale = 1;                                  ///< NVFP4: x is divided by it, too; > 0
};

/// A scale is the largest magnitude of a group over the format's largest number, rounded to scale_type; an e8m0 scale
/// is the largest power of two of the group over the format's largest power of two (OCP MX 1.0, 6.3), so that elements
/// may saturate. Elements are multiplied by the rounded reciprocal of the scale and rounded to nearest even. NaN
/// elements do not count for the scale and become what NaN becomes in the format. Function: as quantise_rows.
template <class Arch, class T, class Format, row_tile Tile, class Function = copy_function>
struct quantise_groups {
  using arch = Arch;
  using args_type = quantise_groups_args<T>;
  using Scale = typename Format::scale_type;
  using coder = detail::group_code<Format>;
  using block = detail::row_block<Arch, Tile, Tile.vector>;
  static_assert(!Tile.unaligned && Tile.blocks == 1, "quantise_groups: rows are aligned to vectors, a block's own");
  static_assert(Format::group > 0 && Format::group % Tile.vector == 0, "quantise_groups: a group has whole vectors");
  /// Function takes an element of x and one of x2
  static constexpr bool has_two = requires(Function f) { f(0.0f, 0.0f); };
  static constexpr index_t block_size = Tile.threads;                           ///< threads
  static constexpr index_t lds_bytes = 0;                                       ///< none
  static constexpr index_t blocks_at_once = block::blocks_at_once;              ///< on a compute unit or SM
  static constexpr index_t vector_bytes = Tile.vector * Format::bits / 8;       ///< of the codes of a vector
  static constexpr bool overlaps_previous = detail::overlaps_previous_v<Arch>;  ///< it may start early
  static_assert(vector_bytes == 2 || vector_bytes == 4 || vector_bytes == 8,
                "quantise_groups: longer or shorter vectors");

  static constexpr const char* check(const args_type& g) {
    if (!g.y || !g.scales) return "y and scales must not be null";
    if (g.cols % Tile.vector != 0 || g.y_stride % Tile.vector != 0)
      return "cols and y_stride must be multiples of the tile's vector";
    if (g.y_stride < g.cols) return "y_stride is smaller than a row";
    const long_index_t groups = ceil_div(g.cols, Format::group);
    if (g.scale_stride < groups) return "scale_stride is smaller than the scales of a row";
    if (!(g.tensor_scale > 0)) return "tensor_scale must be positive";
    const auto x = detail::rows_of(g, g.x, g.x_stride), x2 = detail::rows_of(g, g.x2, g.x2_stride);
    const auto codes = detail::row_array(static_cast<unsigned char*>(g.y),
                                         ((g.rows - 1) * g.y_stride + g.cols) * Format::bits / 8),
               scales = detail::row_array(static_cast<Scale*>(g.scales), (g.rows - 1) * g.scale_stride + groups);
    if (!detail::is_aligned(g.y, vector_bytes)) return "y is not aligned to the codes of a vector";
    if (!detail::is_aligned(scales, 1)) return "scales is not aligned to its elements";
    for (const detail::row_matrix& m : {x, has_two ? x2 : x}) {
      if (const char* why = block::check(Tile, m)) return why;
      if (detail::overlap(m, codes) || detail::overlap(m, scales) || detail::overlap(codes, scales))
        return "y, scales and the input share memory";
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
      detail::scale_groups<Format::group, Tile>(
          rows, e, first, [&](float largest, index_t row, index_t group, bool is_writer) TILEWRIGHT_INLINE_LAMBDA {
            const Scale scale = scale_of(largest, g.tensor_scale);
            if (is_writer) store(g.scales, row * g.scale_stride + group, scale);
            return reciprocal(scale, g.tensor_scale);
          });
      TILEWRIGHT_UNROLL_ALL
      for (index_t v = 0; v < block::in_vectors; v += Tile.vector)
        if (rows.row < rows.rows && rows.exists(first, v))
          store_codes(g, rows.first_row + rows.row, rows.position(first, v), &e.thread_buffer[v]);
    });
  }

 private:
  TILEWRIGHT_HD static Scale scale_of(float largest, float tensor_scale) {
    if constexpr (__is_same(Scale, e8m0_t)) {
      constexpr int exponent = int(e8m0_t::floor(coder::most).bits) - 127;
      return e8m0_t::from_bits(static_cast<unsigned char>(max(int(e8m0_t::floor(largest).bits) - exponent, 0)));
    } else {
      return type_convert<Scale>(largest / (coder::most * tensor_scale));
    }
  }
  TILEWRIGHT_HD static float reciprocal(Scale scale, float tensor_scale) {
    if constexpr (__is_same(Scale, e8m0_t)) {
      return float(e8m0_t::from_bits(static_cast<unsigned char>(254 - scale.bits)));
    } else {
      const float all = Format::scale(scale) * tensor_scale;
      return all > 0 ? 1.0f / all : 0.0f;
    }
  }
  template <class V>
  TILEWRIGHT_HD static void store(void* to, long_index_t at, const V& value) {
    exec::buffer_store(exec::make_global_buffer(to, long_index_t{1} << 62), at * long_index_t(sizeof(V)), value);
  }
  TILEWRIGHT_HD static void store_codes(const args_type& g, long_index_t row, index_t col, const float* x) {
    array<unsigned, max(vector_bytes / 4, 1)> words{};
    TILEWRIGHT_UNROLL_ALL
    for (index_t i = 0; i < Tile.vector; ++i)
      words[i * Format::bits / 32] |= coder::code(x[i]) << i * Format::bits % 32;
    const long_index_t at = (row * g.y_stride + col) / Tile.vector;
    if constexpr (vector_bytes == 2)
      store(g.y, at, static_cast<unsigned short>(words[0]));
    else
      store(g.y, at, words);
  }
};

}  // namespace tilewright
