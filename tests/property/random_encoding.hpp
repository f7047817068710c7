// SPDX-License-Identifier: MIT
// Random sound encodings.
#pragma once

#include "check_property.hpp"

#include <tilewright/core/distribution/distribution_encoding.hpp>

#include <numeric>

namespace tilewright::property {

/// Factors shared out at random between the partition indices and y.
inline distribution_encoding make_random_encoding(tape& choices, index_t ndim_x, index_t ndim_p) {
  distribution_encoding e;
  std::vector<rh_id> ids;
  for (index_t n = choices.below(3); n > 0; --n) {
    ids.push_back({0, static_cast<signed char>(e.r.size())});
    e.r.push_back(choices.between(1, 3));
  }
  const std::size_t replicating = ids.size();
  for (index_t x = 0; x < ndim_x; ++x) {
    e.h.push_back({});
    for (index_t n = choices.between(1, 3); n > 0; --n) {
      ids.push_back({static_cast<signed char>(1 + x), static_cast<signed char>(e.h[x].size())});
      e.h[x].push_back(choices.one_of<index_t>({2, 1, 3, 4}));
    }
  }
  for (index_t i = 0; i < ndim_p; ++i) e.p.push_back({});
  std::vector<bool> replicates(ids.size());
  for (std::size_t i = 0; i < replicating; ++i) replicates[i] = true;
  std::vector<std::size_t> order(ids.size());
  std::iota(order.begin(), order.end(), 0u);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[std::size_t(choices.below(index_t(i)))]);
  for (const std::size_t i : order) {
    index_t owner = choices.below(replicates[i] ? ndim_p : ndim_p + 1);
    const index_t reserved = replicates[i] ? 0 : index_t(replicating);  // a thread's registers cannot replicate
    const auto has_room = [&](index_t p) { return e.p[p].size() + reserved < e.p[p].capacity(); };
    if (owner < ndim_p && !has_room(owner)) owner = ndim_p;
    if (owner == ndim_p && e.y.size() == e.y.capacity()) {
      for (owner = 0; !has_room(owner);) ++owner;
    }
    if (owner < ndim_p) {
      e.p[owner].push_back(ids[i]);
    } else {
      e.y.push_back(ids[i]);
    }
  }
  return e;
}

}  // namespace tilewright::property
