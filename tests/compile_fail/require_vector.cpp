// SPDX-License-Identifier: MIT
// Vectors of 8 from a view that promises 4.
// EXPECT: require_vector: the window moves fewer elements at once; promise them to the descriptor
// EXPECT(gcc): the comparison reduces to '(4 >= 8)'
// EXPECT(clang): static assertion failed due to requirement '4 >= 8'
#include "sample_tile.hpp"

void f(float* p) { tw::require_vector<8>(tw::make_tile_window(view(p), lengths, {0, 0}, distribution{})); }
