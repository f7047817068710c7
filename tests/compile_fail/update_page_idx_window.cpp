// SPDX-License-Identifier: MIT
// Other indices for a window that takes none.
// EXPECT: update_page_idx: the window takes no indices from a table
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
  auto window = tw::make_tile_window_linear(view(p), lengths, {0, 0}, distribution{}, sequence<1>{});
  tw::update_page_idx(window, {});
}
