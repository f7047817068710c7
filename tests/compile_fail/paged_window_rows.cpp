// SPDX-License-Identifier: MIT
// Pages without rows.
// EXPECT: make_paged_tile_window: a page must have at least one row
#include <tilewright/tile/tile_window_paged.hpp>

namespace tw = tilewright;
using tw::index_t, tw::number, tw::make_tuple, tw::sequence, tw::tuple;

using distribution = tw::tile_distribution<
    tw::tile_distribution_encoding<sequence<>, tuple<sequence<8>, sequence<8, 4>>, tuple<sequence<1, 2>>,
                                   tuple<sequence<0, 0>>, sequence<2>, sequence<1>>::value>;
constexpr auto lengths = make_tuple(number<8>{}, number<32>{});

void f(float* p, const index_t* pages, index_t rows) {
  const auto view = tw::make_naive_tensor_view<tw::address_space_enum::global>(p, make_tuple(rows, number<32>{}),
                                                                               make_tuple(number<32>{}, number<1>{}));
  (void)tw::make_paged_tile_window(view, lengths, {0, 0}, distribution{}, tw::page_table{pages, rows, number<0>{}},
                                   number<0>{});
}
