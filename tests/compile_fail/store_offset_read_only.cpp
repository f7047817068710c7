// SPDX-License-Identifier: MIT
// A store into constant elements in LDS.
// EXPECT: store_tile: the view is of const elements
#include <tilewright/tile/load_store.hpp>

namespace tw = tilewright;

using distribution =
    tw::tile_distribution<tw::tile_distribution_encoding<tw::sequence<>, tw::tuple<tw::sequence<8>, tw::sequence<8, 4>>,
                                                         tw::tuple<tw::sequence<1, 2>>, tw::tuple<tw::sequence<0, 0>>,
                                                         tw::sequence<2>, tw::sequence<1>>::value>;
auto view() {
  return tw::make_tensor_view<tw::address_space_enum::lds, const float>(
      tw::exec::lds_pointer{},
      tw::make_naive_tensor_descriptor_packed(tw::make_tuple(tw::number<8>{}, tw::number<32>{})));
}
void f(const tw::static_distributed_tensor<float, distribution>& tile) {
  tw::store_tile_with_offset(
      tw::make_tile_window(view(), tw::make_tuple(tw::number<8>{}, tw::number<32>{}), {0, 0}, distribution{}), tile,
      64);
}
