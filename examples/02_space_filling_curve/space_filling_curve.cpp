// SPDX-License-Identifier: MIT
// The order in which a tile is walked: rows, a snake, vectors, and vectors that overhang the tile.
#include <tilewright/core.hpp>

#include <cstdio>

namespace tw = tilewright;
using tw::index_t, tw::sequence;

using rows = tw::space_filling_curve<2, sequence<4, 6>, sequence<0, 1>, sequence<1, 1>>;
using columns = tw::space_filling_curve<2, sequence<4, 6>, sequence<1, 0>, sequence<1, 1>>;
using snake = tw::space_filling_curve<2, sequence<4, 6>, sequence<0, 1>, sequence<1, 1>, true>;
using vectors = tw::space_filling_curve<2, sequence<4, 8>, sequence<0, 1>, sequence<1, 4>, true>;
using overhanging = tw::space_filling_curve<2, sequence<5, 7>, sequence<0, 1>, sequence<2, 3>>;

static_assert(rows::get_index(7) == tw::multi_index<2>{1, 1});
static_assert(columns::get_index(7) == tw::multi_index<2>{3, 1});
static_assert(snake::get_index(6) == tw::multi_index<2>{1, 5},
              "a snake enters the next row where it left the last one");
static_assert(snake::get_forward_step(5) == tw::multi_index<2>{1, 0});
static_assert(vectors::get_num_of_access() == 8);
static_assert(overhanging::get_num_of_access() == 9 && overhanging::is_in_bounds(0) && !overhanging::is_in_bounds(8));

/// Draws which access covers each element, and returns whether each is covered exactly once.
template <class Curve>
bool draw(const char* name) {
  constexpr auto lengths = Curve::tensor_lengths;
  constexpr auto scalars = Curve::scalars_per_access;
  index_t access_of[lengths[0]][lengths[1]] = {}, visits = 0;
  for (index_t i = 0; i < Curve::get_num_of_access(); ++i) {
    const auto first = Curve::get_index(i);
    for (index_t r = first[0]; r < first[0] + scalars[0] && r < lengths[0]; ++r) {
      for (index_t c = first[1]; c < first[1] + scalars[1] && c < lengths[1]; ++c, ++visits) access_of[r][c] = i;
    }
  }
  std::printf("%s\n", name);
  for (const auto& row : access_of) {
    for (const index_t i : row) std::printf(" %2d", i);
    std::printf("\n");
  }
  return visits == lengths[0] * lengths[1];
}

int main() {
  const bool sound = draw<rows>("rows") & draw<columns>("columns") & draw<snake>("snake") &
                     draw<vectors>("vectors of 4, snaking") & draw<overhanging>("2 x 3 in a tile of 5 x 7");
  return sound ? 0 : 1;
}
