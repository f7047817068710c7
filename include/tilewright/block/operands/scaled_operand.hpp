// SPDX-License-Identifier: MIT
// An operand of gfx950's scaled matrix instructions: which lane holds which elements and scales of a block's tile, and
// a layout in LDS without bank conflicts.
#pragma once

#include <tilewright/block/operands/narrow_formats.hpp>
#include <tilewright/block/operands/narrow_tiles.hpp>
#include <tilewright/block/operands/operand_policy.hpp>
#include <tilewright/core/arch/gfx950.hpp>

namespace tilewright {

/// The scaled matrix instruction's element of a format with e8m0 scales of blocks of 32; none: there is no such one.
template <class Format>
inline constexpr arch::scaled_element scaled_element_of = arch::scaled_element::none;
template <>
inline constexpr auto scaled_element_of<mxfp8_format> = arch::scaled_element::e4m3;
template <>
inline constexpr auto scaled_element_of<mxfp8_e5m2_format> = arch::scaled_element::e5m2;
template <>
inline constexpr auto scaled_element_of<mxfp6_e2m3_format> = arch::scaled_element::e2m3;
template <>
inline constexpr auto scaled_element_of<mxfp6_e3m2_format> = arch::scaled_element::e3m2;
template <>
inline constexpr auto scaled_element_of<mxfp4_format> = arch::scaled_element::e2m1;

namespace detail {

/// Rows of A or B by (repeat, wave, lane); waves of the other dimension hold copies. k is left to the caller.
TILEWRIGHT_HD constexpr distribution_encoding rows_of_waves(const block_tile& tile, bool is_b) {
  const index_t lane_rows = arch::describe(tile.op).m, waves = is_b ? tile.waves_n : tile.waves_m;
  distribution_encoding e;
  e.r.push_back(is_b ? tile.waves_m : tile.waves_n);
  for (index_t x = 0; x < 2; ++x) e.h.push_back({}), e.p.push_back({});
  for (const index_t f : {(is_b ? tile.n : tile.m) / (lane_rows * waves), waves, lane_rows}) e.h[0].push_back(f);
  e.p[0].push_back(is_b ? rh_id{0, 0} : rh_id{1, 1});
  e.p[0].push_back(is_b ? rh_id{1, 1} : rh_id{0, 0});
  return e;
}

}  // namespace detail

/// A block tile's operand A (m rows) or B (n), in words of 4 bytes along k. A matrix instruction
/// multiplies blocks of 32 along k, one for each group of `rows` lanes; CDNA4 ISA manual, "Matrix Core: block scaling":
///
///   scales     lane group g gives that of the instruction's block g
///   4 bits     lane group g holds block g
///   8 bits     of the first and of the second half of the blocks lane group g holds 16 elements
///
/// The instruction's block g of step s is the tile's block g * steps + s, in A and B alike, so that the scales of a
/// lane's steps are neighbours: one load, whose bytes the instructions select.
template <class Format, block_tile Tile, bool IsB>
struct scaled_operand {
  static constexpr arch::scaled_element element = scaled_element_of<Format>;  ///< of the matrix instruction
  static_assert(
      element != arch::scaled_element::none && bits_of(element) != 6,
      "scaled_operand: formats are mxfp8_format, mxfp8_e5m2_format and mxfp4_format; dequantising_policy takes "
      "others");
  static constexpr index_t rows = IsB ? Tile.n : Tile.m;                                       ///< of the tile
  static constexpr index_t lane_rows = arch::describe(Tile.op).m;                              ///< of an instruction
  static constexpr index_t groups = 64 / lane_rows, steps = Tile.num_k_steps();                ///< of lanes; along k
  static constexpr index_t registers = bits_of(element);                                       ///< of an instruction
  static constexpr index_t words = Tile.k * bits_of(element) / 32;                             ///< of a row
  static constexpr index_t bytes = rows * words * 4;                                           ///< of the tile
  static constexpr index_t repeat = rows / (lane_rows * (IsB ? Tile.waves_n : Tile.waves_m));  ///< of a wave
  static_assert(steps == 1 || steps == 2 || steps == 4, "scaled_operand: the block tile's k is 1, 2 or 4 steps");

  /// Who copies which words to LDS.
  static constexpr distribution_encoding copy =
      operand_copy_encoding(operand_major::k, rows, words, Tile.num_waves(), 64, 4, 4);

  /// Who reads which words from LDS: registers are (repeat, step, word).
  static constexpr distribution_encoding read = [] {
    constexpr index_t high = groups / 2;
    distribution_encoding e = detail::rows_of_waves(Tile, IsB);
    if (registers == 8) {
      for (const index_t f : {index_t(2), high, steps, index_t(2), index_t(4)}) e.h[1].push_back(f);
      for (const rh_id id : {rh_id{2, 1}, rh_id{2, 3}, rh_id{1, 2}}) e.p[1].push_back(id);
      for (const rh_id id : {rh_id{1, 0}, rh_id{2, 2}, rh_id{2, 0}, rh_id{2, 4}}) e.y.push_back(id);
    } else {
      for (const index_t f : {groups, steps, index_t(4)}) e.h[1].push_back(f);
      for (const rh_id id : {rh_id{2, 0}, rh_id{1, 2}}) e.p[1].push_back(id);
      for (const rh_id id : {rh_id{1, 0}, rh_id{2, 1}, rh_id{2, 2}}) e.y.push_back(id);
    }
    return e;
  }();

  /// Who loads which scales: a word of one, two or four for all steps of a lane.
  static constexpr distribution_encoding scales = [] {
    distribution_encoding e = detail::rows_of_waves(Tile, IsB);
    e.h[1].push_back(groups);
    for (const rh_id id : {rh_id{2, 0}, rh_id{1, 2}}) e.p[1].push_back(id);
    e.y.push_back({1, 0});
    return e;
  }();
  using scale_word =
      detail::conditional_t<steps == 1, unsigned char, detail::conditional_t<steps == 2, unsigned short, unsigned>>;

  /// How the tile lies in LDS.
  static constexpr lds_layout_choice layout = number<choose_lds_layout<arch::gfx950>(
      lds_tile{rows, words, 4}, lds_use{copy, lds_access_kind::write}, lds_use{read, lds_access_kind::read})>::value;
  static_assert(layout.worst_degree == 1, "scaled_operand: no layout in LDS is free of bank conflicts");
  static constexpr tensor_graph lds = number<detail::make_lds_graph(layout.layout)>::value;  ///< from (row, word)
};

}  // namespace tilewright
