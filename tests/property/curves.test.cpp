// SPDX-License-Identifier: MIT
// Any curve visits every access once; snakes move one step at a time.
#include "check_property.hpp"

#include <tilewright/distribution/space_filling_curve.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace tilewright::property {
namespace {

template <index_t N>
curve<N> make_curve(tape& choices) {
  curve<N> walk;
  for (index_t d = 0; d < N; ++d) {
    walk.lengths[d] = choices.between(1, 9);
    walk.scalars_per_access[d] = choices.one_of<index_t>({1, 2, 3, 4});
    walk.order[d] = d;
  }
  for (index_t d = N; d > 1; --d) std::swap(walk.order[d - 1], walk.order[choices.below(d)]);
  walk.snake = choices.chance(2);
  return walk;
}

template <index_t N>
std::string text(const curve<N>& walk) {
  std::string s = walk.snake ? "snake" : "rows";
  for (const auto* list : {&walk.lengths, &walk.order, &walk.scalars_per_access}) {
    s += " (";
    for (const index_t i : *list) s += std::to_string(i) + ",";
    s += ")";
  }
  return s;
}

/// Accesses in the order of the walk, by nested counting: each pass of a snake's inner dimension runs against the one before.
template <index_t N>
std::vector<multi_index<N>> by_counting(const curve<N>& walk) {
  std::vector<multi_index<N>> accesses{multi_index<N>{}};
  for (index_t k = 0; k < N; ++k) {
    const index_t d = walk.order[k];
    std::vector<multi_index<N>> longer;
    for (std::size_t i = 0; i < accesses.size(); ++i) {
      std::vector<index_t> positions;
      for (index_t x = 0; x < walk.lengths[d]; x += walk.scalars_per_access[d]) positions.push_back(x);
      if (walk.snake && i % 2 == 1) std::reverse(positions.begin(), positions.end());
      for (const index_t x : positions) {
        longer.push_back(accesses[i]);
        longer.back()[d] = x;
      }
    }
    accesses = longer;
  }
  return accesses;
}

template <index_t N>
std::string fault_of(const curve<N>& walk) {
  const auto expected = by_counting(walk);
  if (walk.get_num_of_access() != index_t(expected.size())) return text(walk) + ": number of accesses";
  std::set<std::vector<index_t>> visited;
  for (index_t i = 0; i < walk.get_num_of_access(); ++i) {
    const auto index = walk.get_index(i);
    const std::string where = text(walk) + ", access " + std::to_string(i);
    if (index != expected[std::size_t(i)]) return where + ": another order";
    visited.emplace(index.begin(), index.end());
    bool inside = true;
    for (index_t d = 0; d < N; ++d) inside = inside && index[d] + walk.scalars_per_access[d] <= walk.lengths[d];
    if (walk.is_in_bounds(i) != inside) return where + ": bounds";
    if (i == 0) continue;
    index_t distance = 0;
    const auto step = walk.get_forward_step(i - 1), back = walk.get_backward_step(i);
    for (index_t d = 0; d < N; ++d) {
      if (back[d] != -step[d] || expected[std::size_t(i - 1)][d] + step[d] != index[d]) return where + ": step";
      distance += (step[d] < 0 ? -step[d] : step[d]) / walk.scalars_per_access[d];
    }
    if (walk.snake && distance != 1) return where + ": a snake jumps";
  }
  return visited.size() == expected.size() ? "" : text(walk) + ": an access is visited twice";
}

TEST(RandomCurves, VisitEveryAccessOnceInOrder) {
  check_property([](tape& choices) -> std::string {
    switch (choices.between(1, 4)) {
      case 1: return fault_of(make_curve<1>(choices));
      case 2: return fault_of(make_curve<2>(choices));
      case 3: return fault_of(make_curve<3>(choices));
      default: return fault_of(make_curve<4>(choices));
    }
  });
}

}  // namespace
}  // namespace tilewright::property
