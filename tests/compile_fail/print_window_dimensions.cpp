// SPDX-License-Identifier: MIT
// A window of three dimensions; one whose rows a table names.
// EXPECT: print_tile_window_range: the window must have two dimensions
// EXPECT: print_tile_window_range: the window's indices come from a table, each thread's from its own
#include <tilewright/tile/window/tile_scatter_gather.hpp>
#include <tilewright/viz/window_text.hpp>

namespace tw = tilewright;
using tw::number, tw::make_tuple;

void f(float* p) {
  constexpr auto lengths = make_tuple(number<2>{}, number<2>{}, number<2>{});
  const auto view =
      tw::make_tensor_view<tw::address_space_enum::global>(p, tw::make_naive_tensor_descriptor_packed(lengths));
  tw::print_tile_window_range(tw::make_tile_window(view, lengths, {0, 0, 0}), 0, 1, 0, 1);
}

using lanes =
    tw::tile_distribution<tw::tile_distribution_encoding<tw::sequence<>, tw::tuple<tw::sequence<8>, tw::sequence<8>>,
                                                         tw::tuple<tw::sequence<1, 2>>, tw::tuple<tw::sequence<0, 0>>,
                                                         tw::sequence<>, tw::sequence<>>::value>;
void g(float* p) {
  constexpr auto lengths = make_tuple(number<8>{}, number<8>{});
  const auto view =
      tw::make_tensor_view<tw::address_space_enum::global>(p, tw::make_naive_tensor_descriptor_packed(lengths));
  const tw::array<tw::index_t, 1> row{{3}};
  tw::print_tile_window_range(tw::make_tile_scatter_gather(view, lengths, {0, 0}, lanes{}, row, number<0>{}), 0, 1, 0,
                              1);
}
