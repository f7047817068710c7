// SPDX-License-Identifier: MIT
// The order in which a tile is walked: rows, a snake, vectors, and vectors that overhang the tile.
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
  std::printf("%s\n%s", name, tw::viz::curve_text(Curve::walk).c_str());
}

int main() {
  draw<rows>("rows");
  draw<columns>("columns");
  draw<snake>("snake");
  draw<vectors>("vectors of 4, snaking");
  draw<overhanging>("2 x 3 in a tile of 5 x 7");
}
