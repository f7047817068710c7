// SPDX-License-Identifier: MIT
// Any curve visits every access once; snakes move one step at a time.
#include "check_property.hpp"

#include <tilewright/core/distribution/matrix_curves.hpp>
#include <tilewright/core/distribution/space_filling_curve.hpp>
#include <tilewright/viz/text.hpp>

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

/// Accesses in the order of the walk, by nested counting: each pass of a snake's inner
/// dimension runs against the one before.
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
  if (walk.get_num_of_access() != index_t(expected.size())) return to_string(walk) + ": number of accesses";
  std::set<std::vector<index_t>> visited;
  for (index_t i = 0; i < walk.get_num_of_access(); ++i) {
    const auto index = walk.get_index(i);
    const auto where = [&] { return to_string(walk) + ", access " + std::to_string(i); };
    if (index != expected[std::size_t(i)]) return where() + ": another order";
    visited.emplace(index.begin(), index.end());
    bool inside = true;
    for (index_t d = 0; d < N; ++d) inside = inside && index[d] + walk.scalars_per_access[d] <= walk.lengths[d];
    if (walk.is_in_bounds(i) != inside) return where() + ": bounds";
    if (i == 0) continue;
    index_t distance = 0;
    const auto step = walk.get_forward_step(i - 1), back = walk.get_backward_step(i);
    for (index_t d = 0; d < N; ++d) {
      if (back[d] != -step[d] || expected[std::size_t(i - 1)][d] + step[d] != index[d]) return where() + ": step";
      distance += (step[d] < 0 ? -step[d] : step[d]) / walk.scalars_per_access[d];
    }
    if (walk.snake && distance != 1) return where() + ": a snake jumps";
  }
  const index_t last = walk.get_num_of_access() - 1;
  for (const index_t i : {index_t(0), last / 3, last}) {
    const auto step = walk.get_step_between(i, last - i);
    for (index_t d = 0; d < N; ++d) {
      if (expected[std::size_t(i)][d] + step[d] != expected[std::size_t(last - i)][d])
        return to_string(walk) + ": step between";
    }
  }
  return visited.size() == expected.size() ? "" : to_string(walk) + ": an access is visited twice";
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

/// Whether each tile of a grid is visited once; steps(dr, dc) says what is wrong with a step.
template <class Walk, class Steps>
std::string grid_fault_of(const Walk& walk, Steps&& steps) {
  std::vector<bool> visited(std::size_t(walk.rows * walk.cols));
  multi_index<2> last = walk.get_index(0);
  for (index_t i = 0; i < walk.get_num_of_access(); ++i) {
    const multi_index<2> tile = walk.get_index(i);
    const auto where = [&] { return to_string(walk) + ", tile " + std::to_string(i); };
    if (tile[0] < 0 || tile[0] >= walk.rows || tile[1] < 0 || tile[1] >= walk.cols) return where() + ": outside";
    if (visited[std::size_t(tile[0] * walk.cols + tile[1])]) return where() + ": visited twice";
    visited[std::size_t(tile[0] * walk.cols + tile[1])] = true;
    const std::string wrong = i == 0 ? "" : steps(tile[0] - last[0], tile[1] - last[1]);
    if (!wrong.empty()) return where() + wrong;
    last = tile;
  }
  return walk.get_num_of_access() == walk.rows * walk.cols ? "" : to_string(walk) + ": number of tiles";
}

TEST(RandomGrids, HilbertVisitsEachTileOnceByNeighbours) {
  check_property([](tape& choices) -> std::string {
    const hilbert_curve walk{choices.between(1, 120), choices.between(1, 120)};
    const index_t longer = max(walk.rows, walk.cols), shorter = min(walk.rows, walk.cols);
    index_t diagonals_left = longer % 2 == 1 && shorter % 2 == 0 ? 1 : 0;
    return grid_fault_of(walk, [&](index_t down, index_t right) -> std::string {
      const index_t distance = max(down, -down) + max(right, -right);
      if (max(down, -down) > 1 || max(right, -right) > 1 || distance == 0) return ": jumps";
      return distance == 2 && diagonals_left-- == 0 ? ": moves diagonally" : "";
    });
  });
}

TEST(RandomGrids, RowGroupsVisitEachTileOnce) {
  check_property([](tape& choices) -> std::string {
    const row_group_curve walk{choices.between(1, 40), choices.between(1, 40), choices.between(1, 50),
                               choices.chance(2)};
    return grid_fault_of(walk, [&](index_t down, index_t right) -> std::string {
      // To the next column of the group, or along the column; snakes never go further than the next column.
      return walk.snake && (right > 1 || right < -1)         ? ": a snake jumps"
             : down >= walk.rows || down <= -walk.group_rows ? ": leaves its group"
                                                             : "";
    });
  });
}

}  // namespace
}  // namespace tilewright::property
