// SPDX-License-Identifier: MIT
// A layout in LDS whose stride is known at run time.
// EXPECT: make_async_tile_window: the layout in LDS must be known at compile time
#include <tilewright/tile/async_window.hpp>

#include "sample_tile.hpp"

void f(const float* q, index_t pitch) {
  (void)tw::make_async_tile_window(view(q), lengths, {0, 0}, distribution{},
                                   tw::make_naive_tensor_descriptor(lengths, make_tuple(pitch, number<1>{})));
}
