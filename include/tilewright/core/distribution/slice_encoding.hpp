// SPDX-License-Identifier: MIT
// The distribution of a slice of a tile: each thread keeps some of its registers.
#pragma once

#include <tilewright/core/distribution/tile_distribution.hpp>

namespace tilewright {

/// Why a part cannot be cut out; slice_distribution_from_x has the error messages.
enum class slice_fault { none, empty, out_of_range, no_box, cuts_threads };

/// The part's distribution, and where its elements are in the registers of the whole: y from y_begins,
/// y_lengths of them.
struct encoding_slice {
  slice_fault fault = slice_fault::none;  ///< none: it can be cut
  index_t dimension = -1;                 ///< the one that cannot be cut so
  distribution_encoding encoding;         ///< of the slice
  /// By dimension of y of the whole.
  array<index_t, distribution_encoding::max_y> y_begins{}, y_lengths{};
};

/// Elements begins[x] <= x < ends[x] of a tile. Every thread must keep as much as every other: only factors that a
/// thread holds (Y) may be cut, and in each dimension the part must be a box of factors: whole up to some factor, a
/// range of that one, a single value of those more significant. Otherwise `fault` says what is wrong.
template <index_t N>
TILEWRIGHT_HD constexpr encoding_slice slice(const distribution_encoding& e, const array<index_t, N>& begins,
                                             const array<index_t, N>& ends) {
  encoding_slice result;
  result.encoding = e;
  for (index_t i = 0; i < e.ndim_y(); ++i) result.y_lengths[i] = e.y_length(i);
  const auto refused = [&](slice_fault fault, index_t x) {
    result.fault = fault;
    result.dimension = x;
    return result;
  };
  for (index_t x = 0; x < N; ++x) {
    const index_t begin = begins[x], length = ends[x] - begins[x];
    if (length <= 0) return refused(slice_fault::empty, x);
    if (begin < 0 || ends[x] > e.x_length(x)) return refused(slice_fault::out_of_range, x);
    index_t stride = e.x_length(x);  // of the factor at hand
    bool is_cut = false;             // the range ends in one of the factors so far
    for (signed char minor = 0; minor < e.h[x].size(); ++minor) {
      const rh_id id{static_cast<signed char>(x + 1), minor};
      const index_t factor = e.length(id), group = stride;
      stride /= factor;
      if (is_cut || (length % group == 0 && begin % group == 0)) continue;  // whole
      const index_t first = begin % group / stride, last = (begin + length - 1) % group / stride;
      const bool ends_here = begin % stride == 0 && length % stride == 0;
      if (begin / group != (begin + length - 1) / group || (!ends_here && first != last))
        return refused(slice_fault::no_box, x);
      is_cut = ends_here;
      if (first == 0 && last == factor - 1) continue;
      index_t y = 0;
      while (y < e.ndim_y() && e.y[y] != id) ++y;
      if (y == e.ndim_y()) return refused(slice_fault::cuts_threads, x);
      result.encoding.h[x][minor] = last - first + 1;
      result.y_begins[y] = first;
      result.y_lengths[y] = last - first + 1;
    }
  }
  return result;
}

/// CK Tile's spelling: {distribution of the part, first y, lengths of y}.
template <distribution_encoding Encoding, index_t... Begins, index_t... Ends>
TILEWRIGHT_HD constexpr auto slice_distribution_from_x(tile_distribution<Encoding>, sequence<Begins...>,
                                                       sequence<Ends...>) {
  static_assert(sizeof...(Begins) == sizeof...(Ends) && sizeof...(Begins) == Encoding.ndim_x(),
                "slice_distribution_from_x: begins and ends need one entry for each dimension of the tile");
  if constexpr (sizeof...(Begins) == sizeof...(Ends) && sizeof...(Begins) == Encoding.ndim_x()) {
    constexpr encoding_slice part =
        slice(Encoding, multi_index<Encoding.ndim_x()>{Begins...}, multi_index<Encoding.ndim_x()>{Ends...});
    static_assert(part.fault != slice_fault::empty,
                  "slice_distribution_from_x: the part has no elements; ends must exceed begins");
    static_assert(part.fault != slice_fault::out_of_range, "slice_distribution_from_x: the part reaches past the tile");
    static_assert(part.fault != slice_fault::no_box,
                  "slice_distribution_from_x: the part is no range of one factor; begin and end where a factor does");
    static_assert(
        part.fault != slice_fault::cuts_threads,
        "slice_distribution_from_x: some threads would hold nothing; cut only factors that a thread holds (Y)");
    if constexpr (part.fault == slice_fault::none) {
      multi_index<Encoding.ndim_y()> begins{}, lengths{};
      for (index_t i = 0; i < Encoding.ndim_y(); ++i) {
        begins[i] = part.y_begins[i];
        lengths[i] = part.y_lengths[i];
      }
      return make_tuple(tile_distribution<part.encoding>{}, begins, lengths);
    }
  }
}

}  // namespace tilewright
