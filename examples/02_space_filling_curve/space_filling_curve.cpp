// SPDX-License-Identifier: MIT
// The order in which a tile is traversed: rows, a snake, vectors, and vectors that overhang the tile. The order in
// which blocks take the tiles of a matrix: groups of rows, and Hilbert's curve.
#include <tilewright/core.hpp>
#include <tilewright/viz/curve_picture.hpp>

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

/// Prints the number of the access that covers each element.
template <class Curve>
void draw(const char* name) {
  std::printf("%s\n%s", name, tw::viz::curve_text(tw::viz::path_of(Curve::traversal)).c_str());
}

/// Prints the number of the block that computes each tile of a matrix of 6 x 8 tiles.
template <class Curve>
void draw_tiles(const char* name, const Curve& curve) {
  index_t block_of[6][8];
  for (index_t i = 0; i < curve.get_num_of_access(); ++i) {
    const tw::multi_index<2> tile = curve.get_index(i);
    block_of[tile[0]][tile[1]] = i;
  }
  std::printf("%s\n", name);
  for (const auto& row : block_of) {
    for (const index_t block : row) std::printf("%3d", block);
    std::printf("\n");
  }
}

int main() {
  draw<rows>("rows");
  draw<columns>("columns");
  draw<snake>("snake");
  draw<vectors>("vectors of 4, snaking");
  draw<overhanging>("2 x 3 in a tile of 5 x 7");
  draw_tiles("blocks in groups of 4 rows", tw::row_group_curve{.rows = 6, .cols = 8, .group_rows = 4});
  draw_tiles("blocks on Hilbert's curve", tw::hilbert_curve{.rows = 6, .cols = 8});
}
