// SPDX-License-Identifier: MIT
// The distribution of a reduction's result: that of the tile without the reduced dimensions.
#pragma once

#include <tilewright/core/base/trap.hpp>
#include <tilewright/core/distribution/distribution_encoding.hpp>

namespace tilewright {

namespace detail {

/// Why dimensions cannot be left out; make_reduce_tile_distribution_encoding has the error messages.
enum class reduce_fault { none, no_such_dimension, listed_twice, too_many_factors };

// Reaching this in a constant expression is the error: see check_reduce.
TILEWRIGHT_HD void encoding_cannot_be_reduced() { trap(); }

}  // namespace detail

/// Whether reduce(e, dims) is possible.
template <index_t N>
TILEWRIGHT_HD constexpr detail::reduce_fault check_reduce(const distribution_encoding& e,
                                                          const array<index_t, N>& dims) {
  for (index_t i = 0; i < N; ++i) {
    if (dims[i] < 0 || dims[i] >= e.ndim_x()) return detail::reduce_fault::no_such_dimension;
    for (index_t j = 0; j < i; ++j) {
      if (dims[i] == dims[j]) return detail::reduce_fault::listed_twice;
    }
  }
  index_t replicated = e.r.size();
  for (const auto& ids : e.p) {
    for (rh_id id : ids) replicated += id.major > 0 && detail::contains(dims, id.major - 1);
  }
  return replicated > distribution_encoding::max_factors ? detail::reduce_fault::too_many_factors
                                                         : detail::reduce_fault::none;
}

/// Without dimensions `dims`, whose elements each thread has combined: what a thread held along them is gone, and
/// threads that differed along them now hold the same elements, so that these factors become replication, after the
/// factors of R in the order in which the dimensions list them. The other dimensions keep their order.
/// For check_reduce(e, dims) == reduce_fault::none.
template <index_t N>
TILEWRIGHT_HD constexpr distribution_encoding reduce(const distribution_encoding& e, const array<index_t, N>& dims) {
  using encoding = distribution_encoding;
  if (check_reduce(e, dims) != detail::reduce_fault::none) detail::encoding_cannot_be_reduced();
  encoding result;
  result.r = e.r;
  rh_id renamed[1 + encoding::max_x][encoding::max_factors] = {};
  for (signed char i = 0; i < e.r.size(); ++i) renamed[0][i] = {0, i};
  const auto belongs_to_a_thread = [&](rh_id id) {
    for (const auto& ids : e.p) {
      if (detail::contains(ids, id)) return true;
    }
    return false;
  };
  for (signed char x = 0; x < e.ndim_x(); ++x) {
    const bool goes = detail::contains(dims, x);
    if (!goes) result.h.push_back({});
    for (signed char minor = 0; minor < e.h[x].size(); ++minor) {
      const rh_id id{static_cast<signed char>(x + 1), minor};
      if (!goes) {
        renamed[x + 1][minor] = {static_cast<signed char>(result.h.size()), minor};
        result.h.back().push_back(e.length(id));
      } else if (belongs_to_a_thread(id)) {
        renamed[x + 1][minor] = {0, static_cast<signed char>(result.r.size())};
        result.r.push_back(e.length(id));
      }
    }
  }
  for (const auto& ids : e.p) {
    result.p.push_back({});
    for (rh_id id : ids) result.p.back().push_back(renamed[id.major][id.minor]);
  }
  for (rh_id id : e.y) {
    if (!detail::contains(dims, id.major - 1)) result.y.push_back(renamed[id.major][id.minor]);
  }
  return result;
}

/// CK Tile's spelling, for an encoding type or a value wrapped in number<>;
/// make_static_tile_distribution takes the result.
template <class Encoding, index_t... Dims>
TILEWRIGHT_HD constexpr auto make_reduce_tile_distribution_encoding(Encoding, sequence<Dims...>) {
  static_assert(detail::TileDistributionEncoding<Encoding>,
                "make_reduce_tile_distribution_encoding: an encoding is needed: tile_distribution_encoding<...>{}, or "
                "a value as number<encoding>{}");
  constexpr array<index_t, sizeof...(Dims)> dims{Dims...};
  constexpr detail::reduce_fault fault = check_reduce(Encoding::value, dims);
  static_assert(fault != detail::reduce_fault::no_such_dimension,
                "make_reduce_tile_distribution_encoding: the tile has no such dimension");
  static_assert(fault != detail::reduce_fault::listed_twice,
                "make_reduce_tile_distribution_encoding: a dimension is listed twice");
  static_assert(
      fault != detail::reduce_fault::too_many_factors,
      "make_reduce_tile_distribution_encoding: the threads replicate in more factors than an encoding holds in R (6)");
  if constexpr (fault == detail::reduce_fault::none) return number<reduce(Encoding::value, dims)>{};
}

}  // namespace tilewright
