// SPDX-License-Identifier: MIT
// A copy from rows without aligned vectors into rows with them.
// EXPECT: async_load_tile: one window allows wider vectors than the other; give both layouts the same contiguous runs
#include <tilewright/tile/async_load.hpp>

namespace tw = tilewright;
using tw::index_t, tw::make_tuple, tw::number, tw::sequence, tw::tuple;

using distribution = tw::tile_distribution<
    tw::tile_distribution_encoding<sequence<>, tuple<sequence<8>, sequence<8, 4>>, tuple<sequence<1, 2>>,
                                   tuple<sequence<0, 0>>, sequence<2>, sequence<1>>::value>;
constexpr auto lengths = make_tuple(number<8>{}, number<32>{});
auto lds_view(tw::exec::lds_pointer p) {
  return tw::make_tensor_view<tw::address_space_enum::lds, float>(p, tw::make_naive_tensor_descriptor_packed(lengths));
}

void f(tw::exec::lds_pointer p, const float* q) {
  const auto single =
      tw::make_naive_tensor_view<tw::address_space_enum::global>(q, make_tuple(8, 32), make_tuple(33, number<1>{}));
  tw::async_load_tile(tw::make_tile_window(lds_view(p), lengths, {0, 0}, distribution{}),
                      tw::make_tile_window(single, lengths, {0, 0}, distribution{}));
}
