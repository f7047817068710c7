// SPDX-License-Identifier: MIT
// A distribution by definition: digits of the partition indices and of y are handed to the factors,
// and a coordinate is put together from its factors.
#pragma once

#include <tilewright/core/distribution/distribution_encoding.hpp>

#include <map>
#include <string>
#include <vector>

namespace tilewright::naive {

using indices = std::vector<index_t>;

inline index_t factor_length(const distribution_encoding& e, rh_id id) {
  return id.major == 0 ? e.r[id.minor] : e.h[id.major - 1][id.minor];
}

/// Position in the tile of what a thread with partition index p holds at y.
inline indices position(const distribution_encoding& e, const indices& p, const indices& y) {
  index_t digit[1 + distribution_encoding::max_x][distribution_encoding::max_factors] = {};
  for (index_t i = 0; i < e.p.size(); ++i) {
    index_t rest = p[std::size_t(i)];
    for (index_t j = e.p[i].size(); j-- > 0;) {
      const rh_id id = e.p[i][j];
      digit[id.major][id.minor] = rest % factor_length(e, id);
      rest /= factor_length(e, id);
    }
  }
  for (index_t i = 0; i < e.y.size(); ++i) digit[e.y[i].major][e.y[i].minor] = y[std::size_t(i)];
  indices x;
  for (index_t d = 0; d < e.h.size(); ++d) {
    index_t coordinate = 0;
    for (index_t minor = 0; minor < e.h[d].size(); ++minor)
      coordinate = coordinate * e.h[d][minor] + digit[d + 1][minor];
    x.push_back(coordinate);
  }
  return x;
}

inline index_t product(const inplace_vector<index_t, distribution_encoding::max_factors>& factors) {
  index_t n = 1;
  for (const index_t f : factors) n *= f;
  return n;
}

/// Values of the partition indices, and of y.
inline indices partition_lengths(const distribution_encoding& e) {
  indices lengths;
  for (const auto& ids : e.p) {
    index_t n = 1;
    for (const rh_id id : ids) n *= factor_length(e, id);
    lengths.push_back(n);
  }
  return lengths;
}
inline indices y_lengths(const distribution_encoding& e) {
  indices lengths;
  for (const rh_id id : e.y) lengths.push_back(factor_length(e, id));
  return lengths;
}

/// f(index) for every index below the lengths, the last dimension fastest.
template <class F>
void each_index(const indices& lengths, F&& f) {
  indices index(lengths.size());
  for (;;) {
    f(index);
    std::size_t d = lengths.size();
    while (d > 0 && ++index[d - 1] == lengths[d - 1]) index[--d] = 0;
    if (d == 0) return;
  }
}

/// How many threads and registers hold each position.
inline std::map<indices, index_t> owners(const distribution_encoding& e) {
  std::map<indices, index_t> result;
  each_index(partition_lengths(e), [&](const indices& p) {
    each_index(y_lengths(e), [&](const indices& y) { ++result[position(e, p, y)]; });
  });
  return result;
}

/// What is wrong: nothing if every element of the tile is held as often as R says.
inline std::string ownership_fault(const distribution_encoding& e) {
  const auto held = owners(e);
  index_t elements = 1;
  for (const auto& factors : e.h) elements *= product(factors);
  if (index_t(held.size()) != elements)
    return std::to_string(held.size()) + " of " + std::to_string(elements) + " elements are held";
  for (const auto& [x, times] : held) {
    if (times != product(e.r))
      return "an element is held " + std::to_string(times) + " times instead of " + std::to_string(product(e.r));
    for (std::size_t d = 0; d < x.size(); ++d) {
      if (x[d] < 0 || x[d] >= product(e.h[index_t(d)])) return "a position lies outside of the tile";
    }
  }
  return "";
}

}  // namespace tilewright::naive
