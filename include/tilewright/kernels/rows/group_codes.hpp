// SPDX-License-Identifier: MIT
// Results in narrow formats: codes of rows, with a scale for each group of a row.
#pragma once

#include <tilewright/block/operands/narrow_formats.hpp>
#include <tilewright/kernels/rows/row_scales.hpp>

namespace tilewright {

/// Where codes and scales of rows go. Strides in elements.
struct group_codes {
  void* codes = nullptr;          ///< (rows, cols), packed from the lowest bits on
  void* scales = nullptr;         ///< (rows, ceil(cols / group)) of the format's scale_type
  long_index_t stride = 0;        ///< codes from row to row, at multiples of the tile's vector
  long_index_t scale_stride = 0;  ///< scales from row to row, contiguous along the groups
  float tensor_scale = 1;         ///< NVFP4: elements are divided by it, too; a normal number > 0, of e8m0 scales 1
};

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

/// Writes elements of rows as group_codes. A block's rows are aligned to vectors.
template <class Format, row_tile Tile>
struct group_writer {
  using Scale = typename Format::scale_type;
  using coder = group_code<Format>;
  static constexpr index_t vector_bytes = Tile.vector * Format::bits / 8;  // of the codes of a vector
  static_assert(!Tile.unaligned && Tile.blocks == 1, "quantise_groups: rows are aligned to vectors, a block's own");
  static_assert(Format::group > 0 && Format::group % Tile.vector == 0, "quantise_groups: a group has whole vectors");
  static_assert(vector_bytes == 2 || vector_bytes == 4 || vector_bytes == 8,
                "quantise_groups: longer or shorter vectors");

  /// The memory of codes and scales.
  static constexpr row_matrix codes_of(const group_codes& to, long_index_t rows, long_index_t cols) {
    return row_array(static_cast<unsigned char*>(to.codes), ((rows - 1) * to.stride + cols) * Format::bits / 8);
  }
  static constexpr row_matrix scales_of(const group_codes& to, long_index_t rows, long_index_t cols) {
    return row_array(static_cast<Scale*>(to.scales),
                     (rows - 1) * to.scale_stride + ceil_div(cols, long_index_t(Format::group)));
  }
  /// What is wrong with them, as an error message; nullptr: nothing.
  static constexpr const char* check(const group_codes& to, long_index_t rows, long_index_t cols) {
    if (!to.codes || !to.scales) return "codes and scales must not be null";
    if (cols % Tile.vector != 0 || to.stride % Tile.vector != 0)
      return "cols and the stride of codes must be multiples of the tile's vector";
    if (to.stride < cols) return "the stride of codes is smaller than a row";
    if (to.scale_stride < ceil_div(cols, long_index_t(Format::group)))
      return "scale_stride is smaller than the scales of a row";
    if (!(to.tensor_scale >= 0x1p-126f)) return "tensor_scale must be a positive normal number";
    if (__is_same(Scale, e8m0_t) && to.tensor_scale != 1)
      return "scales that are powers of two take no tensor_scale: it must be 1";
    if (!is_aligned(to.codes, vector_bytes)) return "codes are not aligned to those of a vector";
    if (!is_aligned(scales_of(to, rows, cols), 1)) return "scales is not aligned to its elements";
    return overlap(codes_of(to, rows, cols), scales_of(to, rows, cols)) ? "codes, scales and the input share memory"
                                                                        : nullptr;
  }
  /// Whether they share memory with m.
  static constexpr bool overlaps(const group_codes& to, const row_matrix& m, long_index_t rows, long_index_t cols) {
    return overlap(m, codes_of(to, rows, cols)) || overlap(m, scales_of(to, rows, cols));
  }

  /// Writes the segment of rows from column `first` on, and the scales of its groups.
  template <class Block>
  TILEWRIGHT_HD static void store(const group_codes& to, const Block& rows, typename Block::template segment<float>& e,
                                  index_t first) {
    scale_groups<Format::group, Tile>(
        rows, e, first, [&](float largest, index_t row, index_t group, bool is_writer) TILEWRIGHT_INLINE_LAMBDA {
          const Scale scale = scale_of(largest, to.tensor_scale);
          if (is_writer) store_value(to.scales, row * to.scale_stride + group, scale);
          return reciprocal(scale, to.tensor_scale);
        });
    TILEWRIGHT_UNROLL_ALL
    for (index_t v = 0; v < Block::in_vectors; v += Tile.vector)
      if (rows.row < rows.rows && rows.exists(first, v))
        store_codes(to, rows.first_row + rows.row, rows.position(first, v), &e.thread_buffer[v]);
  }

 private:
  TILEWRIGHT_HD static Scale scale_of(float largest, float tensor_scale) {
    if constexpr (__is_same(Scale, e8m0_t)) {
      constexpr int exponent = int(e8m0_t::floor(coder::most).bits) - 127;
      return e8m0_t::from_bits(static_cast<unsigned char>(max(int(e8m0_t::floor(largest).bits) - exponent, 0)));
    } else {
      // Reciprocals of scales are finite, and normal numbers.
      constexpr float least = coder::most * 0x1p-125f, limit = __is_same(Scale, half_t) ? 65504.0f : 0x1.fep127f;
      if (largest > 0) largest = exec::min(exec::max(largest, least), 0x1.fffffep127f);
      return type_convert<Scale>(exec::min(largest / (coder::most * tensor_scale), limit));
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
  TILEWRIGHT_HD static void store_value(void* to, long_index_t at, const V& value) {
    exec::buffer_store(exec::make_global_buffer(to, long_index_t{1} << 62), at * long_index_t(sizeof(V)), value);
  }
  TILEWRIGHT_HD static void store_codes(const group_codes& to, long_index_t row, index_t col, const float* x) {
    array<unsigned, max(vector_bytes / 4, 1)> words{};
    TILEWRIGHT_UNROLL_ALL
    for (index_t i = 0; i < Tile.vector; ++i)
      words[i * Format::bits / 32] |= coder::code(x[i]) << i * Format::bits % 32;
    const long_index_t at = (row * to.stride + col) / Tile.vector;
    if constexpr (vector_bytes == 2)
      store_value(to.codes, at, static_cast<unsigned short>(words[0]));
    else
      store_value(to.codes, at, words);
  }
};

}  // namespace detail

}  // namespace tilewright
