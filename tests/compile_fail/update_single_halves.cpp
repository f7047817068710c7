// SPDX-License-Identifier: MIT
// An atomic update of halves whose window moves them one by one.
// EXPECT: update_tile: 16-bit elements are updated atomically in pairs; the window's vectors must hold at least two
#include <tilewright/tile/update.hpp>

namespace tw = tilewright;
using tw::index_t, tw::make_tuple, tw::number, tw::sequence, tw::tuple;

using distribution = tw::tile_distribution<
    tw::tile_distribution_encoding<sequence<>, tuple<sequence<8>, sequence<8, 4>>, tuple<sequence<1, 2>>,
                                   tuple<sequence<0, 0>>, sequence<2>, sequence<1>>::value>;
constexpr auto lengths = make_tuple(number<8>{}, number<32>{});

void f(tw::half_t* p, const tw::static_distributed_tensor<tw::half_t, distribution>& tile) {
  const auto single =
      tw::make_naive_tensor_view<tw::address_space_enum::global>(p, make_tuple(8, 32), make_tuple(33, number<1>{}));
  tw::update_tile<tw::memory_operation_enum::atomic_max>(tw::make_tile_window(single, lengths, {0, 0}, distribution{}),
                                                         tile);
}
