// SPDX-License-Identifier: MIT
// Pages in LDS.
// EXPECT: make_paged_tile_window: the pool must be in global memory
#include <tilewright/tile/tile_window_paged.hpp>

namespace tw = tilewright;
using tw::index_t, tw::number, tw::make_tuple, tw::sequence, tw::tuple;

using distribution = tw::tile_distribution<
    tw::tile_distribution_encoding<sequence<>, tuple<sequence<8>, sequence<8, 4>>, tuple<sequence<1, 2>>,
                                   tuple<sequence<0, 0>>, sequence<2>, sequence<1>>::value>;
constexpr auto lengths = make_tuple(number<8>{}, number<32>{});

void f(tw::exec::lds_pointer p, const index_t* pages) {
  const auto view =
      tw::make_tensor_view<tw::address_space_enum::lds, float>(p, tw::make_naive_tensor_descriptor_packed(lengths));
  (void)tw::make_paged_tile_window(view, lengths, {0, 0}, distribution{}, tw::page_table{pages, 8, number<4>{}},
                                   number<0>{});
}
