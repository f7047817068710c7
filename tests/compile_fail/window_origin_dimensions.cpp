// SPDX-License-Identifier: MIT
// An origin of one dimension, and one of three, for windows into a matrix.
// EXPECT: make_tile_window: the origin needs one entry for each dimension
// EXPECT: make_tile_window: the origin needs one entry for each dimension
#include <tilewright/tile/load_store.hpp>

namespace tw = tilewright;

using distribution =
    tw::tile_distribution<tw::tile_distribution_encoding<tw::sequence<>, tw::tuple<tw::sequence<8>, tw::sequence<8, 4>>,
                                                         tw::tuple<tw::sequence<1, 2>>, tw::tuple<tw::sequence<0, 0>>,
                                                         tw::sequence<2>, tw::sequence<1>>::value>;
auto view(float* p) {
  return tw::make_naive_tensor_view<tw::address_space_enum::global>(p, tw::make_tuple(8, 32),
                                                                    tw::make_tuple(32, tw::number<1>{}));
}
constexpr auto lengths = tw::make_tuple(tw::number<8>{}, tw::number<32>{});
auto one = tw::make_tile_window(view(nullptr), lengths, tw::multi_index<1>{8}, distribution{});
auto three = tw::make_tile_window(view(nullptr), lengths, tw::multi_index<3>{0, 8, 0}, distribution{});
