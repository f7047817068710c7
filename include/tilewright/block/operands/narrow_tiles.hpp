// SPDX-License-Identifier: MIT
// Tiles of an operand in a narrow format: a block loads words and scales, and decodes them to elements in registers.
#pragma once

#include <tilewright/block/mma/block_tile.hpp>
#include <tilewright/block/operands/k_tiles.hpp>
#include <tilewright/block/operands/operand_copy.hpp>
#include <tilewright/block/operands/operand_format.hpp>
#include <tilewright/tile/registers/static_distributed_tensor.hpp>

namespace tilewright {

/// Elements of T as they are multiplied, without scales: the format of an operand that is not narrow.
template <class T>
struct plain_format : operand_format<unsigned, 2, float, 0> {
  static constexpr bool is_plain = true;  ///< there are no scales
  /// The two elements of a word; To is T.
  template <class To>
  TILEWRIGHT_HD static array<To, 2> decode(unsigned word) {
    static_assert(__is_same(To, T), "plain_format: elements are multiplied in their own type");
    return bit_cast<array<To, 2>>(word);
  }
};

/// Memory of an operand (rows, k) in a narrow format; strides in elements, scales and zero points (rows, groups).
struct narrow_matrix {
  const void* words = nullptr;   ///< rows start at multiples of 16 bytes; `ld` elements of each exist
  const void* scales = nullptr;  ///< contiguous along the groups
  const void* zeros = nullptr;   ///< as scales; null where the format has none
  index_t rows = 0, k = 0;       ///< lengths
  index_t ld = 0;                ///< from one row to the next
  index_t ld_scales = 0;         ///< scales (and zero points) from one row to the next
};

namespace detail {

template <class F>
inline constexpr bool is_plain = requires { F::is_plain; };
/// Whether scales multiply elements. Those of whole lines multiply the sums.
template <class F>
inline constexpr bool scales_elements = !is_plain<F> && F::group != 0;

/// Who loads which words and scales of a tile of Rows rows: a thread has up to 16 bytes of a row at once.
template <class Arch, class Format, block_tile Tile, index_t Rows>
struct narrow_copy {
  static constexpr index_t waves = Tile.num_waves(), wave_size = Arch::value.wave_size;
  static constexpr index_t whole = Format::bits == 6 ? 16 : 128 / Format::bits;    ///< up to 16 bytes
  static constexpr index_t vector = min(whole, Rows* Tile.k / Tile.block_size());  ///< elements
  static constexpr index_t words = vector / Format::elements;                      ///< of a vector
  static constexpr index_t k_lanes = Tile.k / vector;                              ///< lanes along k
  static_assert(words >= 1 && vector % Format::elements == 0,
                "narrow formats: a thread loads less than a word of this tile; use fewer waves or a larger block tile");
  static_assert(Format::group % Tile.k == 0 || Tile.k % max(Format::group, 1) == 0,
                "narrow formats: groups divide the block tile's k, or are multiples of it");
  static constexpr index_t tile_groups = Format::group == 0 ? 1 : max(Tile.k / max(Format::group, 1), 1);
  static constexpr index_t vector_groups = max(tile_groups / k_lanes, 1);  ///< of a vector
  /// Tiles along k that share a scale.
  static constexpr index_t group_tiles = Format::group == 0 ? 1 << 30 : max(Format::group / Tile.k, 1);

  using word_type = typename Format::word_type;
  using unit = conditional_t<sizeof(word_type) % 4 == 0, unsigned, word_type>;         ///< in which words are loaded
  static constexpr index_t units = words * index_t(sizeof(word_type) / sizeof(unit));  ///< of a vector

  static constexpr distribution_encoding stored =
      operand_copy_encoding(operand_major::k, Rows, k_lanes* units, waves, wave_size, units, units);
  static constexpr distribution_encoding elements =
      operand_copy_encoding(operand_major::k, Rows, Tile.k, waves, wave_size, vector, vector);
  /// Groups of a thread's vectors: lanes of one group load the same.
  static constexpr distribution_encoding groups = [] {
    distribution_encoding e = stored;
    e.h[1] = {};
    e.h[1].push_back(tile_groups / vector_groups);
    e.h[1].push_back(vector_groups);
    e.r.push_back(k_lanes / (tile_groups / vector_groups));
    e.p[1].push_back({0, 0});
    return e;
  }();
};

/// Reads the window that is `steps` windows further along k; is_last: parts of it may be outside of the tensor.
template <class Window>
TILEWRIGHT_HD void load_window_along_k(tile_of<Window>& tile, const Window& window, index_t steps, bool is_last) {
  if (is_last) {
    Window last = window;
    move_tile_window(last, {0, steps * Window::distribution_type::x_lengths[1]});
    load_tile(tile, last);
  } else {
    load_tile_along_k(tile, window, steps * k_step(window), in_bounds<1>{});
  }
}

/// Scales or zero points of the tile in flight; Value: as they are stored.
template <class Copy, class Value>
class group_values {
  using distribution = tile_distribution<Copy::groups>;
  TILEWRIGHT_HD static auto window_of(const void* data, index_t rows, index_t groups, index_t ld, index_t row) {
    constexpr multi_index<2> lengths = distribution::x_lengths;
    const auto view = make_naive_tensor_view<address_space_enum::global>(
        static_cast<const Value*>(data), make_tuple(rows, groups), make_tuple(ld, number<1>{}));
    return make_tile_window(view, make_tuple(number<lengths[0]>{}, number<lengths[1]>{}), {row, 0}, distribution{});
  }
  using window_type = decltype(window_of(nullptr, 0, 0, 0, 0));
  window_type window_;
  tile_of<window_type> values_;

 public:
  TILEWRIGHT_HD group_values(const void* data, index_t rows, index_t groups, index_t ld, index_t row)
      : window_(window_of(data, rows, groups, ld, row)) {}
  TILEWRIGHT_HD void load(index_t tile, bool is_last) {
    load_window_along_k(values_, window_, divide(tile, Copy::group_tiles), is_last);
  }
  TILEWRIGHT_HD Value of(index_t vector, index_t group) const {
    return values_.thread_buffer[vector * Copy::vector_groups + group];
  }
};
template <class Copy>
class group_values<Copy, no_zero_points> {
 public:
  TILEWRIGHT_HD group_values(const void*, index_t, index_t, index_t, index_t) {}
  TILEWRIGHT_HD void load(index_t, bool) {}
  TILEWRIGHT_HD no_zero_points of(index_t, index_t) const { return {}; }
};

/// A word without its elements from number `left` on: they become codes of 0.
template <class Format>
TILEWRIGHT_HD typename Format::word_type keep_elements(typename Format::word_type word, index_t left) {
  using unit = conditional_t<sizeof(word) % 4 == 0, unsigned, unsigned char>;
  constexpr index_t units = sizeof(word) / sizeof(unit), unit_bits = 8 * sizeof(unit);
  auto all = bit_cast<array<unit, units>>(word);
  TILEWRIGHT_UNROLL_ALL
  for (index_t i = 0; i < units; ++i) {
    const index_t bits = max(left * Format::bits - i * unit_bits, 0);
    if (bits < unit_bits) all[i] = unit(all[i] & ((unit(1) << bits) - 1));
  }
  return bit_cast<typename Format::word_type>(all);
}

/// A word's elements times their scale in T.
template <class Format, class T, class Zero>
TILEWRIGHT_HD array<T, Format::elements> decode_scaled_word(typename Format::word_type word, Zero zero, float scale) {
  if constexpr (!scales_elements<Format>) {
    return decode_word<Format, T>(word, zero);
  } else if constexpr (requires { Format::template decode_scaled<T>(word, zero, scale); }) {
    return Format::template decode_scaled<T>(word, zero, scale);
  } else {
    // Floats of up to 8 bits times a power of two, and e2m1 times e4m3, are numbers of bfloat16_t.
    constexpr bool is_exact = requires { requires Format::has_exact_scales; };
    return scale_elements<is_exact>(decode_word<Format, T>(word, zero), scale);
  }
}

}  // namespace detail

/// An operand's tiles along k, one after the other, of Rows rows: one is in flight to registers. Scales of groups are
/// rounded to T and multiply the elements; those of whole rows are left to the caller. What is outside of the matrix is
/// a code of 0.
template <class Arch, class T, class Format, block_tile Tile, index_t Rows>
class narrow_tiles {
  using copy = detail::narrow_copy<Arch, Format, Tile, Rows>;
  using stored = tile_distribution<copy::stored>;
  using word_type = typename Format::word_type;
  using unit = typename copy::unit;
  using scale_type =
      detail::conditional_t<detail::scales_elements<Format>, typename Format::scale_type, no_zero_points>;

  TILEWRIGHT_HD static auto window_of(const narrow_matrix& from, index_t row) {
    constexpr index_t units = copy::units, at_once = units % 2 == 0 ? units : 1;
    const auto view = make_naive_tensor_view<address_space_enum::global>(
        static_cast<const unit*>(from.words), make_tuple(from.rows, ceil_div(from.k, copy::vector) * units),
        make_tuple(divide(from.ld, copy::vector) * units, number<1>{}), number<at_once>{});
    return make_tile_window(view, make_tuple(number<Rows>{}, number<copy::k_lanes * units>{}), {row, 0}, stored{});
  }
  TILEWRIGHT_HD static index_t num_groups(index_t k) {
    return Format::group == 0 ? 1 : ceil_div(k, max(Format::group, 1));
  }

  using window_type = decltype(window_of(narrow_matrix{}, 0));
  window_type window_;
  detail::tile_of<window_type> words_;
  detail::group_values<copy, scale_type> scales_;
  detail::group_values<copy, typename Format::zero_type> zeros_;
  index_t k_;  // elements of the matrix

 public:
  /// What a thread holds of a decoded tile.
  using distribution = tile_distribution<copy::elements>;

  /// Rows from `row` on of a matrix.
  TILEWRIGHT_HD narrow_tiles(const narrow_matrix& from, index_t row)
      : window_(window_of(from, row)),
        scales_(from.scales, from.rows, num_groups(from.k), from.ld_scales, row),
        zeros_(from.zeros, from.rows, num_groups(from.k), from.ld_scales, row),
        k_(from.k) {}

  /// Issues the loads of tile number `tile` along k; is_last: no tile follows in the matrix.
  TILEWRIGHT_HD void load(index_t tile, bool is_last) {
    detail::load_window_along_k(words_, window_, tile, is_last);
    scales_.load(tile, is_last);
    zeros_.load(tile, is_last);
  }

  /// The elements of that tile; waits for the loads.
  TILEWRIGHT_HD static_distributed_tensor<T, distribution> decode(index_t tile, bool is_last) const {
    constexpr index_t elements = Format::elements, vectors = stored::num_elements / copy::units;
    constexpr index_t group_words = copy::words / copy::vector_groups;
    auto words = bit_cast<array<word_type, vectors * copy::words>>(words_.thread_buffer);
    if (is_last) {  // memory after the end of k may hold anything
      const index_t left = k_ - tile * Tile.k - modulo(exec::lane_id(), copy::k_lanes) * copy::vector;
      TILEWRIGHT_UNROLL_ALL
      for (index_t w = 0; w < vectors * copy::words; ++w)
        words[w] = detail::keep_elements<Format>(words[w], left - w % copy::words * elements);
    }
    static_distributed_tensor<T, distribution> result;
    TILEWRIGHT_UNROLL_ALL
    for (index_t w = 0; w < vectors * copy::words; ++w) {
      const index_t v = w / copy::words, g = w % copy::words / group_words;
      const auto decoded = detail::decode_scaled_word<Format, T>(words[w], zeros_.of(v, g), scale_of(v, g));
      for (index_t e = 0; e < elements; ++e) result.thread_buffer[w * elements + e] = decoded[e];
    }
    return result;
  }

 private:
  TILEWRIGHT_HD float scale_of(index_t vector, index_t group) const {
    if constexpr (detail::scales_elements<Format>) return Format::scale(scales_.of(vector, group));
    return 1;
  }
};

}  // namespace tilewright
