// SPDX-License-Identifier: MIT
// Kinds of accesses to LDS, and why a target cannot make one.
#pragma once

#include <tilewright/core/arch/target.hpp>
#include <tilewright/core/arch/transposing_read.hpp>
#include <tilewright/core/base/math.hpp>
#include <tilewright/core/base/trap.hpp>
#include <tilewright/core/distribution/distribution_encoding.hpp>

namespace tilewright {

/// How a tile window touches LDS. transposing_read: AMD's, of 8 bytes for each lane; see
/// core/arch/transposing_read.hpp.
enum class lds_access_kind : signed char { read, write, ldmatrix, stmatrix, transposing_read };

namespace detail {

/// The instruction that moves `bytes` per lane, in elements of element_bytes.
TILEWRIGHT_HD constexpr arch::lds_op lds_op_of(lds_access_kind kind, index_t bytes, index_t element_bytes) {
  if (kind == lds_access_kind::ldmatrix) return arch::lds_op::ldmatrix;
  if (kind == lds_access_kind::stmatrix) return arch::lds_op::stmatrix;
  if (kind == lds_access_kind::transposing_read) return arch::transposing_read_op(element_bytes);
  return kind == lds_access_kind::write ? arch::lds_write_op(bytes) : arch::lds_read_op(bytes);
}

/// Whether indices of different factors own different bits of the position: all but the slowest factor of a dimension
/// are powers of two.
TILEWRIGHT_HD constexpr bool factors_own_bits(const distribution_encoding& e) {
  for (const auto& h : e.h) {
    for (index_t i = 1; i < h.size(); ++i)
      if (!is_power_of_two(h[i])) return false;
  }
  return true;
}

/// Whether all factors are powers of two, so that partition indices and y own bits of the position.
TILEWRIGHT_HD constexpr bool has_power_of_two_factors(const distribution_encoding& e) {
  unsigned bad = !has_power_of_two_lengths(e);
  for (const index_t factor : e.r) bad |= unsigned(factor) & unsigned(factor - 1);
  return bad == 0;
}

}  // namespace detail

/// Why a target cannot make an access to LDS.
enum class lds_fault : signed char {
  none,
  run_time_values,
  dimensions_differ,
  unsound_distribution,
  tile_too_large,
  too_many_lanes,
  no_such_instruction,
  narrow_ldmatrix,
  transposing_width,
  unaligned_begin,
  outside_of_lds,
  width_not_direct,
  leaves_footprint,
  nothing_to_serve,
  too_many_demands,
  not_powers_of_two,
  crosses_parts,
};

/// A fault, the number that is wrong and the one that it must fit.
struct lds_legality {
  lds_fault fault = lds_fault::none;  ///< none: the access is legal
  index_t value = 0, limit = 0;       ///< the number that is wrong, and what it must fit

  /// Whether hardware can make the access.
  TILEWRIGHT_HD constexpr bool is_legal() const { return fault == lds_fault::none; }
  /// What is wrong and what to do.
  TILEWRIGHT_HD constexpr const char* message() const;
  friend constexpr bool operator==(const lds_legality&, const lds_legality&) = default;
};

namespace detail {

/// The text, or an error: compilers print the arguments of a call that is no constant expression. At run time the
/// program ends with the text.
template <bool IsError>
TILEWRIGHT_HD constexpr const char* said(const char* text) {
  if constexpr (IsError) trap(text);
  return text;
}

template <bool IsError>
TILEWRIGHT_HD constexpr const char* message_of(lds_fault fault) {
  switch (fault) {
    case lds_fault::none: return said<IsError>("nothing is wrong");
    case lds_fault::run_time_values: return said<IsError>("the layout has run-time values; take graph_of(descriptor)");
    case lds_fault::dimensions_differ:
      return said<IsError>("the distribution has another number of dimensions than the layout");
    case lds_fault::unsound_distribution:
      return said<IsError>("a factor of the distribution has no owner, two owners or a bad length");
    case lds_fault::tile_too_large:
      return said<IsError>("the distribution's tile is longer than the layout; distribute a tile that fits");
    case lds_fault::too_many_lanes:
      return said<IsError>("the distribution has more lanes than a wave of the target; distribute over its wave size");
    case lds_fault::no_such_instruction:
      return said<IsError>("the target has no LDS instruction of this kind and width");
    case lds_fault::narrow_ldmatrix:
      return said<IsError>(
          "ldmatrix reads rows of 16 contiguous, aligned bytes; the layout or the distribution leaves fewer");
    case lds_fault::transposing_width:
      return said<IsError>(
          "a transposing read takes 8 contiguous, aligned bytes of each lane, in elements of 1 or 2 bytes; the "
          "layout or the distribution has others");
    case lds_fault::unaligned_begin:
      return said<IsError>("the tile does not begin at a multiple of its vectors; align it, or use narrower vectors");
    case lds_fault::outside_of_lds: return said<IsError>("the access leaves the LDS that the block has");
    case lds_fault::width_not_direct:
      return said<IsError>("the target copies no such number of bytes per lane from global memory to LDS directly");
    case lds_fault::leaves_footprint:
      return said<IsError>(
          "a direct copy writes lane after lane from one address; this layout would have a wave write elsewhere: "
          "permute within the wave's own bytes only");
    case lds_fault::nothing_to_serve:
      return said<IsError>("a layout is chosen for one use or more on one target or more");
    case lds_fault::too_many_demands:
      return said<IsError>(
          "these uses ask for more different arrangements of lanes than a search can follow; leave out uses that are "
          "alike, or targets");
    case lds_fault::not_powers_of_two:
      return said<IsError>(
          "layouts are chosen for rows of 4 bytes or more whose length is a power of two, and for distributions "
          "whose factors are, but for the slowest one of the rows if lanes do not own it; cut the tile, or pad it");
    case lds_fault::crosses_parts:
      return said<IsError>(
          "a window of this tile has more rows than the largest power of two that divides the tile's; take windows "
          "of that many rows, or a tile of more");
  }
  return "";
}

}  // namespace detail

TILEWRIGHT_HD constexpr const char* lds_legality::message() const { return detail::message_of<false>(fault); }

namespace detail {

/// The distribution alone, for a layout of as many dimensions as `lengths` has.
template <index_t N>
TILEWRIGHT_HD constexpr lds_legality check_distribution(const arch::target& target, const distribution_encoding& e,
                                                        const inplace_vector<index_t, N>& lengths) {
  if (e.ndim_x() != lengths.size()) return {lds_fault::dimensions_differ, e.ndim_x(), lengths.size()};
  if (!check_encoding(e).is_sound() || e.ndim_p() < 1) return {lds_fault::unsound_distribution, 0, 0};
  for (index_t d = 0; d < lengths.size(); ++d) {
    if (e.x_length(d) > lengths[d]) return {lds_fault::tile_too_large, e.x_length(d), lengths[d]};
  }
  const index_t lanes = e.p_length(e.ndim_p() - 1);
  if (lanes > target.wave_size) return {lds_fault::too_many_lanes, lanes, target.wave_size};
  return {};
}

/// Whether the target moves `bytes` per lane with one instruction of this kind.
TILEWRIGHT_HD constexpr lds_legality check_instruction(const arch::target& target, lds_access_kind kind, index_t bytes,
                                                       index_t element_bytes) {
  if ((kind == lds_access_kind::ldmatrix || kind == lds_access_kind::stmatrix) && bytes != 16)
    return {lds_fault::narrow_ldmatrix, bytes, 16};
  if (kind == lds_access_kind::transposing_read && (bytes != 8 || element_bytes > 2))
    return {lds_fault::transposing_width, bytes, 8};
  if (!arch::has_lds_op(bytes) || !target.supports(lds_op_of(kind, bytes, element_bytes)))
    return {lds_fault::no_such_instruction, bytes, 0};
  return {};
}

}  // namespace detail

}  // namespace tilewright
