// SPDX-License-Identifier: MIT
// Nests distributions: each element of the outer one becomes a tile of the inner one, a block of waves for instance.
#pragma once

#include <tilewright/core/base/math.hpp>
#include <tilewright/core/base/trap.hpp>
#include <tilewright/core/distribution/distribution_encoding.hpp>

namespace tilewright {

namespace detail {

/// Why one encoding cannot be put into another; make_embed_tile_distribution_encoding has the error messages.
enum class embed_fault { none, dimensions_differ, too_many_factors, too_many_ids };

// Reaching this in a constant expression is the error: see check_embed.
TILEWRIGHT_HD void encodings_cannot_be_embedded() { trap(); }

}  // namespace detail

/// Whether embed(outer, inner) has room: both have as many dimensions,
/// and no list of the result is longer than an encoding holds.
TILEWRIGHT_HD constexpr detail::embed_fault check_embed(const distribution_encoding& outer,
                                                        const distribution_encoding& inner) {
  using encoding = distribution_encoding;
  if (outer.ndim_x() != inner.ndim_x()) return detail::embed_fault::dimensions_differ;
  if (outer.r.size() + inner.r.size() > encoding::max_factors) return detail::embed_fault::too_many_factors;
  for (index_t x = 0; x < outer.ndim_x(); ++x) {
    if (outer.h[x].size() + inner.h[x].size() > encoding::max_factors) return detail::embed_fault::too_many_factors;
  }
  for (index_t i = 1; i <= min(outer.ndim_p(), inner.ndim_p()); ++i) {
    if (outer.p[outer.ndim_p() - i].size() + inner.p[inner.ndim_p() - i].size() > encoding::max_factors)
      return detail::embed_fault::too_many_ids;
  }
  return outer.ndim_y() + inner.ndim_y() > encoding::max_y ? detail::embed_fault::too_many_ids
                                                           : detail::embed_fault::none;
}

/// Each element of the outer distribution is a whole tile of the inner one: the inner factors follow the outer ones in
/// every dimension, in every partition index and in the list of y. Composes a block of waves from the tile of one wave.
/// For encodings with check_embed(outer, inner) == embed_fault::none.
TILEWRIGHT_HD constexpr distribution_encoding embed(const distribution_encoding& outer,
                                                    const distribution_encoding& inner) {
  if (check_embed(outer, inner) != detail::embed_fault::none) detail::encodings_cannot_be_embedded();
  distribution_encoding e = outer;
  const auto shifted = [&](rh_id id) {
    const index_t before = id.major == 0 ? outer.r.size() : outer.h[id.major - 1].size();
    return rh_id{id.major, static_cast<signed char>(id.minor + before)};
  };
  for (index_t f : inner.r) e.r.push_back(f);
  for (index_t x = 0; x < inner.ndim_x(); ++x) {
    for (index_t f : inner.h[x]) e.h[x].push_back(f);
  }
  // Partition indices are aligned at their ends: the inner tile's lane is the block's lane.
  const index_t first = outer.ndim_p() - inner.ndim_p();
  if (first < 0) {
    e.p = {};
    for (index_t i = 0; i < inner.ndim_p(); ++i) e.p.push_back({});
    for (index_t i = 0; i < outer.ndim_p(); ++i) e.p[i - first] = outer.p[i];
  }
  for (index_t i = 0; i < inner.ndim_p(); ++i) {
    for (rh_id id : inner.p[i]) e.p[max(index_t(first), 0) + i].push_back(shifted(id));
  }
  for (rh_id id : inner.y) e.y.push_back(shifted(id));
  return e;
}

/// CK Tile's spelling, for encoding types or values wrapped in number<>;
/// make_static_tile_distribution takes the result.
template <class Outer, class Inner>
TILEWRIGHT_HD constexpr auto make_embed_tile_distribution_encoding(Outer, Inner) {
  static_assert(detail::TileDistributionEncoding<Outer> && detail::TileDistributionEncoding<Inner>,
                "make_embed_tile_distribution_encoding: encodings are needed: tile_distribution_encoding<...>{}, or "
                "values as number<encoding>{}");
  constexpr detail::embed_fault fault = check_embed(Outer::value, Inner::value);
  static_assert(
      fault != detail::embed_fault::dimensions_differ,
      "make_embed_tile_distribution_encoding: the outer and the inner tile need the same number of dimensions");
  static_assert(fault != detail::embed_fault::too_many_factors,
                "make_embed_tile_distribution_encoding: together the two have more factors in R or in a dimension than "
                "an encoding holds (6)");
  static_assert(fault != detail::embed_fault::too_many_ids,
                "make_embed_tile_distribution_encoding: together the two have more ids than an encoding holds (6 in a "
                "P, 8 in Y)");
  if constexpr (fault == detail::embed_fault::none) return number<embed(Outer::value, Inner::value)>{};
}

}  // namespace tilewright
