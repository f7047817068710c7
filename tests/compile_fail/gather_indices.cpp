// SPDX-License-Identifier: MIT
// Two indices for a thread that holds one row.
// EXPECT: make_tile_scatter_gather: the indices must be an array<index_t, num_page_indices<View, Distribution, Gathered>>
#include <tilewright/tile/tile_scatter_gather.hpp>

namespace tw = tilewright;
using tw::index_t, tw::make_tuple, tw::number, tw::sequence, tw::tuple;

using distribution = tw::tile_distribution<
    tw::tile_distribution_encoding<sequence<>, tuple<sequence<8>, sequence<8, 4>>, tuple<sequence<1, 2>>,
                                   tuple<sequence<0, 0>>, sequence<2>, sequence<1>>::value>;
template <class T>
auto view(T* p) {
  return tw::make_naive_tensor_view<tw::address_space_enum::global>(p, make_tuple(8, 32), make_tuple(32, number<1>{}),
                                                                    number<4>{});
}
constexpr auto lengths = make_tuple(number<8>{}, number<32>{});

void f(float* p) {
  (void)tw::make_tile_scatter_gather(view(p), lengths, {0, 0}, distribution{}, tw::array<index_t, 2>{}, number<0>{});
}
