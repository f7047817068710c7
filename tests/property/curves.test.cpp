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
  curve<N> path;
  for (index_t d = 0; d < N; ++d) {
    path.lengths[d] = choices.between(1, 9);
    path.scalars_per_access[d] = choices.one_of<index_t>({1, 2, 3, 4});
    path.order[d] = d;
  }
  for (index_t d = N; d > 1; --d) std::swap(path.order[d - 1], path.order[choices.below(d)]);
  path.snake = choices.chance(2);
  return path;
}

/// Accesses in the order of the path, by nested counting: each pass of a snake's inner
/// dimension runs against the one before.
template <index_t N>
std::vector<multi_index<N>> by_counting(const curve<N>& path) {
  std::vector<multi_index<N>> accesses{multi_index<N>{}};
  for (index_t k = 0; k < N; ++k) {
    const index_t d = path.order[k];
    std::vector<multi_index<N>> longer;
    for (std::size_t i = 0; i < accesses.size(); ++i) {
      std::vector<index_t> positions;
      for (index_t x = 0; x < path.lengths[d]; x += path.scalars_per_access[d]) positions.push_back(x);
      if (path.snake && i % 2 == 1) std::reverse(positions.begin(), positions.end());
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
std::string fault_of(const curve<N>& path) {
  const auto expected = by_counting(path);
  if (path.get_num_of_access() != index_t(expected.size())) return to_string(path) + ": number of accesses";
  std::set<std::vector<index_t>> visited;
  for (index_t i = 0; i < path.get_num_of_access(); ++i) {
    const auto index = path.get_index(i);
    const auto where = [&] { return to_string(path) + ", access " + std::to_string(i); };
    if (index != expected[std::size_t(i)]) return where() + ": another order";
    visited.emplace(index.begin(), index.end());
    bool inside = true;
    for (index_t d = 0; d < N; ++d) inside = inside && index[d] + path.scalars_per_access[d] <= path.lengths[d];
    if (path.is_in_bounds(i) != inside) return where() + ": bounds";
    if (i == 0) continue;
    index_t distance = 0;
    const auto step = path.get_forward_step(i - 1), back = path.get_backward_step(i);
    for (index_t d = 0; d < N; ++d) {
      if (back[d] != -step[d] || expected[std::size_t(i - 1)][d] + step[d] != index[d]) return where() + ": step";
      distance += (step[d] < 0 ? -step[d] : step[d]) / path.scalars_per_access[d];
    }
    if (path.snake && distance != 1) return where() + ": a snake jumps";
  }
  const index_t last = path.get_num_of_access() - 1;
  for (const index_t i : {index_t(0), last / 3, last}) {
    const auto step = path.get_step_between(i, last - i);
    for (index_t d = 0; d < N; ++d) {
      if (expected[std::size_t(i)][d] + step[d] != expected[std::size_t(last - i)][d])
        return to_string(path) + ": step between";
    }
  }
  return visited.size() == expected.size() ? "" : to_string(path) + ": an access is visited twice";
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
template <class Curve, class Steps>
std::string grid_fault_of(const Curve& path, Steps&& steps) {
  std::vector<bool> visited(std::size_t(path.rows * path.cols));
  multi_index<2> last = path.get_index(0);
  for (index_t i = 0; i < path.get_num_of_access(); ++i) {
    const multi_index<2> tile = path.get_index(i);
    const auto where = [&] { return to_string(path) + ", tile " + std::to_string(i); };
    if (tile[0] < 0 || tile[0] >= path.rows || tile[1] < 0 || tile[1] >= path.cols) return where() + ": outside";
    if (visited[std::size_t(tile[0] * path.cols + tile[1])]) return where() + ": visited twice";
    visited[std::size_t(tile[0] * path.cols + tile[1])] = true;
    const std::string wrong = i == 0 ? "" : steps(tile[0] - last[0], tile[1] - last[1]);
    if (!wrong.empty()) return where() + wrong;
    last = tile;
  }
  return path.get_num_of_access() == path.rows * path.cols ? "" : to_string(path) + ": number of tiles";
}

TEST(RandomGrids, HilbertVisitsEachTileOnceByNeighbours) {
  check_property([](tape& choices) -> std::string {
    const hilbert_curve path{choices.between(1, 120), choices.between(1, 120)};
    const index_t longer = max(path.rows, path.cols), shorter = min(path.rows, path.cols);
    index_t diagonals_left = longer % 2 == 1 && shorter % 2 == 0 ? 1 : 0;
    return grid_fault_of(path, [&](index_t down, index_t right) -> std::string {
      const index_t distance = max(down, -down) + max(right, -right);
      if (max(down, -down) > 1 || max(right, -right) > 1 || distance == 0) return ": jumps";
      return distance == 2 && diagonals_left-- == 0 ? ": moves diagonally" : "";
    });
  });
}

TEST(RandomGrids, RowGroupsVisitEachTileOnce) {
  check_property([](tape& choices) -> std::string {
    const row_group_curve path{choices.between(1, 40), choices.between(1, 40), choices.between(1, 50),
                               choices.chance(2)};
    return grid_fault_of(path, [&](index_t down, index_t right) -> std::string {
      // To the next column of the group, or along the column; snakes never go further than the next column.
      return path.snake && (right > 1 || right < -1)         ? ": a snake jumps"
             : down >= path.rows || down <= -path.group_rows ? ": leaves its group"
                                                             : "";
    });
  });
}

}  // namespace
}  // namespace tilewright::property
