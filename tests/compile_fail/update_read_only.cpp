// SPDX-License-Identifier: MIT
// An update of a view of const elements.
// EXPECT: store_tile: the view is of const elements
#include <tilewright/tile/update.hpp>

#include "sample_tile.hpp"

void f(const float* p, const tw::static_distributed_tensor<float, distribution>& tile) {
  tw::update_tile<tw::memory_operation_enum::add>(tw::make_tile_window(view(p), lengths, {0, 0}, distribution{}), tile);
}
