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

/// Slices with a layout, one after the other: a graph from (row, word), with slices that follow each other in `word`.
TILEWRIGHT_HD constexpr tensor_graph sliced_lds_graph(swizzled_layout layout, index_t slices) {
  using enum transform_kind;
  using two = array<index_t, 2>;
  const index_t rows = layout.tile.rows;
  layout.tile.rows *= slices;
  tensor_graph graph = make_lds_graph(layout);
  const index_t parts = add_transform(graph, unmerge, array<index_t, 1>{{graph.top[0]}}, 2, two{{slices, rows}});
  graph.top[0] = static_cast<signed char>(parts + 1);
  graph.top[1] = static_cast<signed char>(
      add_transform(graph, merge, two{{parts, graph.top[1]}}, 1, two{{slices, layout.tile.cols}}));
  return graph;
}

}  // namespace detail

/// A block tile's operand A (m rows) or B (n), in words of 4 bytes along k. A matrix instruction
/// multiplies blocks of 32 along k, one for each group of `rows` lanes; CDNA4 ISA manual, "Matrix Core: block scaling":
///
///   scales     lane group g gives that of the instruction's block g
///   4, 6 bits  lane group g holds block g
///   8 bits     of the first and of the second half of the blocks lane group g holds 16 elements
///
/// The instruction's block g of step s is the tile's block g * steps + s, in A and B alike, so that the scales of a
/// lane's steps are neighbours: one load, whose bytes the instructions select. With 6 bits a lane reads the blocks of
/// two steps at once, which are 48 bytes. The first 16 of each 48 are a slice of the tile in LDS, whose words are
/// before those of the next slice.
template <class Format, block_tile Tile, bool IsB>
struct scaled_operand {
  static constexpr arch::scaled_element element = scaled_element_of<Format>;  ///< of the matrix instruction
  static_assert(element != arch::scaled_element::none,
                "scaled_operand: formats are those of MX: mxfp8_format, mxfp8_e5m2_format, mxfp6_e2m3_format, "
                "mxfp6_e3m2_format and mxfp4_format; dequantising_policy takes others");
  static constexpr index_t rows = IsB ? Tile.n : Tile.m;                                       ///< of the tile
  static constexpr index_t lane_rows = arch::describe(Tile.op).m;                              ///< of an instruction
  static constexpr index_t groups = 64 / lane_rows, steps = Tile.num_k_steps();                ///< of lanes; along k
  static constexpr index_t registers = bits_of(element);                                       ///< of an instruction
  static constexpr index_t words = Tile.k * bits_of(element) / 32;                             ///< of a row
  static constexpr index_t bytes = rows * words * 4;                                           ///< of the tile
  static constexpr index_t repeat = rows / (lane_rows * (IsB ? Tile.waves_n : Tile.waves_m));  ///< of a wave
  static constexpr index_t slices = registers == 6 ? 3 : 1;                                    ///< of LDS
  static constexpr index_t read_steps = registers == 6 ? 2 : 1;  ///< that a lane reads at once
  static_assert((steps == 1 || steps == 2 || steps == 4) && steps % read_steps == 0,
                "scaled_operand: the block tile's k is 1, 2 or 4 steps, with 6 bits 2 or 4");

  /// Who copies which words of a slice to LDS.
  static constexpr distribution_encoding copy_of_slice =
      operand_copy_encoding(operand_major::k, rows, words / slices, Tile.num_waves(), 64, 4, 4);
  /// Who copies which words to LDS.
  static constexpr distribution_encoding copy = [] {
    distribution_encoding e = copy_of_slice;
    if (slices == 1) return e;
    e.h[1] = {};
    for (const index_t f : {slices, words / (4 * slices), index_t(4)}) e.h[1].push_back(f);
    e.p[1].back() = {2, 1};
    e.y = {};
    for (const rh_id id : {rh_id{2, 0}, rh_id{1, 0}, rh_id{2, 2}}) e.y.push_back(id);
    return e;
  }();

  /// Who reads which words from LDS: registers are (repeat, step, word).
  static constexpr distribution_encoding read = [] {
    constexpr index_t high = groups / 2;
    distribution_encoding e = detail::rows_of_waves(Tile, IsB);
    if (registers == 8) {
      for (const index_t f : {index_t(2), high, steps, index_t(2), index_t(4)}) e.h[1].push_back(f);
      for (const rh_id id : {rh_id{2, 1}, rh_id{2, 3}, rh_id{1, 2}}) e.p[1].push_back(id);
      for (const rh_id id : {rh_id{1, 0}, rh_id{2, 2}, rh_id{2, 0}, rh_id{2, 4}}) e.y.push_back(id);
    } else {
      for (const index_t f : {slices, groups, steps / read_steps, index_t(4)}) e.h[1].push_back(f);
      for (const rh_id id : {rh_id{2, 1}, rh_id{1, 2}}) e.p[1].push_back(id);
      for (const rh_id id : {rh_id{1, 0}, rh_id{2, 2}, rh_id{2, 0}, rh_id{2, 3}}) e.y.push_back(id);
    }
    return e;
  }();

  /// Of 6 bits: who reads which words of a slice.
  TILEWRIGHT_HD static constexpr distribution_encoding read_of_slice() {
    distribution_encoding e = read;
    e.h[1] = {};
    for (const index_t f : {groups, steps / 2, index_t(4)}) e.h[1].push_back(f);
    e.p[1][0] = {2, 0};
    e.y = {};
    for (const rh_id id : {rh_id{1, 0}, rh_id{2, 1}, rh_id{2, 2}}) e.y.push_back(id);
    return e;
  }

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

  /// How the tile, or a slice of it, lies in LDS.
  static constexpr lds_layout_choice layout = number<choose_lds_layout<arch::gfx950>(
      lds_tile{rows, words / slices, 4}, lds_use{copy_of_slice, lds_access_kind::write},
      lds_use{slices == 1 ? read : read_of_slice(), lds_access_kind::read})>::value;
  static_assert(layout.worst_degree == 1, "scaled_operand: no layout in LDS is free of bank conflicts");
  static constexpr tensor_graph lds =
      number < slices == 1 ? detail::make_lds_graph(layout.layout)
                           : detail::sliced_lds_graph(layout.layout, slices) > ::value;  ///< from (row, word)
};

}  // namespace tilewright
