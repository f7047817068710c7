// SPDX-License-Identifier: MIT
// A sum of doubles.
// EXPECT: reduce: lanes exchange values of 4 bytes; cast_tile the tile to float or int first
#include <tilewright/tile/reduce_tile.hpp>

#include "sample_tile.hpp"

auto f(const tw::static_distributed_tensor<double, distribution>& tile) { return tw::row_reduce(tile, tw::plus); }
