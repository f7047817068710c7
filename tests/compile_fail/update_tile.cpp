// SPDX-License-Identifier: MIT
// Updates of tensors.
#include <tilewright/compat/ck_tile/update_tile.hpp>

#include "sample_tile.hpp"

// An update of a view of const elements.
// EXPECT: store_tile: the view is of const elements
void read_only(const float* p, const tw::static_distributed_tensor<float, distribution>& tile) {
  tw::update_tile<tw::memory_operation_enum::add>(tw::make_tile_window(view(p), lengths, {0, 0}, distribution{}), tile);
}

// An atomic update of halves whose window moves them one by one.
// EXPECT: update_tile: 16-bit elements are updated atomically in pairs; the window's vectors must hold at least two
void single_halves(tw::half_t* p, const tw::static_distributed_tensor<tw::half_t, distribution>& tile) {
  const auto single =
      tw::make_naive_tensor_view<tw::address_space_enum::global>(p, make_tuple(8, 32), make_tuple(33, number<1>{}));
  tw::update_tile<tw::memory_operation_enum::atomic_max>(tw::make_tile_window(single, lengths, {0, 0}, distribution{}),
                                                         tile);
}

// An atomic update of doubles.
// EXPECT: update_tile: atomic updates are of int, unsigned, float, half_t or bfloat16_t; cast_tile converts
void type(double* p, const tw::static_distributed_tensor<double, distribution>& tile) {
  tw::update_tile<tw::memory_operation_enum::atomic_add>(tw::make_tile_window(view(p), lengths, {0, 0}, distribution{}),
                                                         tile);
}
