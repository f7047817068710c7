// SPDX-License-Identifier: MIT
// A tile stored to a window of another distribution.
// EXPECT: store_tile: the tile's distribution is not the window's; use shuffle_tile
// EXPECT(clang): requirement 'has_same_distribution': store_tile
#include <tilewright/tile/load_store.hpp>

namespace tw = tilewright;
using tw::index_t, tw::make_tuple, tw::number, tw::sequence, tw::tuple;

using distribution = tw::tile_distribution<
    tw::tile_distribution_encoding<sequence<>, tuple<sequence<8>, sequence<8, 4>>, tuple<sequence<1, 2>>,
                                   tuple<sequence<0, 0>>, sequence<2>, sequence<1>>::value>;
using by_columns = tw::tile_distribution<
    tw::tile_distribution_encoding<sequence<>, tuple<sequence<2, 4>, sequence<32>>, tuple<sequence<1, 2>>,
                                   tuple<sequence<0, 0>>, sequence<1>, sequence<1>>::value>;
template <class T>
auto view(T* p) {
  return tw::make_naive_tensor_view<tw::address_space_enum::global>(p, make_tuple(8, 32), make_tuple(32, number<1>{}),
                                                                    number<4>{});
}
constexpr auto lengths = make_tuple(number<8>{}, number<32>{});

void f(float* p, const tw::static_distributed_tensor<float, by_columns>& tile) {
  tw::store_tile(tw::make_tile_window(view(p), lengths, {0, 0}, distribution{}), tile);
}
