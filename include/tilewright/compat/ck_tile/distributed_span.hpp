// SPDX-License-Identifier: MIT
// Distributed indices: what a thread holds, numbered along the dimensions of the tile instead of as one list of y.
#pragma once

#include <tilewright/core/base/math.hpp>
#include <tilewright/core/distribution/tile_distribution.hpp>

namespace tilewright {

namespace detail {

/// For one dimension of the tile: an entry for each of its factors that a thread holds,
/// the most significant factor first.
using distributed_index = inplace_vector<index_t, distribution_encoding::max_factors>;

/// Calls f(x, k, y): the k-th factor of dimension x that a thread holds is dimension y of its registers.
template <class F>
TILEWRIGHT_HD constexpr void for_each_held_factor(const distribution_encoding& e, F&& f) {
  for (index_t x = 0; x < e.ndim_x(); ++x) {
    index_t k = 0;
    for (signed char minor = 0; minor < e.h[x].size(); ++minor) {
      for (index_t y = 0; y < e.ndim_y(); ++y) {
        if (e.y[y] == rh_id{static_cast<signed char>(x + 1), minor}) f(x, k++, y);
      }
    }
  }
}

}  // namespace detail

/// Lengths of the distributed indices of each dimension: loops over them visit what a thread holds.
template <distribution_encoding Encoding>
TILEWRIGHT_HD constexpr array<detail::distributed_index, Encoding.ndim_x()> get_distributed_spans(
    tile_distribution<Encoding>) {
  array<detail::distributed_index, Encoding.ndim_x()> spans{};
  detail::for_each_held_factor(Encoding,
                               [&](index_t x, index_t, index_t y) { spans[x].push_back(Encoding.y_length(y)); });
  return spans;
}

/// The same element as an index in y; indices has one entry for each dimension, shaped like the spans.
template <distribution_encoding Encoding>
TILEWRIGHT_HD constexpr multi_index<Encoding.ndim_y()> get_y_indices_from_distributed_indices(
    tile_distribution<Encoding>, const array<detail::distributed_index, Encoding.ndim_x()>& indices) {
  multi_index<Encoding.ndim_y()> result{};
  detail::for_each_held_factor(Encoding, [&](index_t x, index_t k, index_t y) { result[y] = indices[x][k]; });
  return result;
}

/// Position in the tile of that element of the thread with partition index p.
template <distribution_encoding Encoding>
TILEWRIGHT_HD constexpr multi_index<Encoding.ndim_x()> get_x_indices_from_distributed_indices(
    tile_distribution<Encoding> distribution, const array<detail::distributed_index, Encoding.ndim_x()>& indices,
    const multi_index<Encoding.ndim_p()>& p) {
  multi_index<Encoding.ndim_x()> x = distribution.calculate_index(p);
  const auto of_y = distribution.y_to_x(get_y_indices_from_distributed_indices(distribution, indices));
  for (index_t d = 0; d < Encoding.ndim_x(); ++d) x[d] += of_y[d];
  return x;
}

/// Which of the replicas the thread with partition index p is: the digit of each factor of R.
/// Factors without an owner are 0.
template <distribution_encoding Encoding>
TILEWRIGHT_HD constexpr multi_index<Encoding.r.size()> calculate_rs_index_from_ps_index(
    tile_distribution<Encoding>, const multi_index<Encoding.ndim_p()>& p) {
  multi_index<Encoding.r.size()> result{};
  for (index_t i = 0; i < Encoding.ndim_p(); ++i) {
    index_t rest = p[i];
    for (index_t j = Encoding.p[i].size(); j-- > 0;) {
      const rh_id id = Encoding.p[i][j];
      if (id.major == 0) result[id.minor] = modulo(rest, Encoding.length(id));
      rest = divide(rest, Encoding.length(id));
    }
  }
  return result;
}

}  // namespace tilewright
