// SPDX-License-Identifier: MIT
// A tile of 8 x 32 elements and views of it, for sources that must not compile for another reason.
#pragma once

#include <tilewright/tile/window/tile_window.hpp>

namespace tw = tilewright;
using tw::index_t, tw::make_tuple, tw::number, tw::sequence, tw::tuple;

/// Each lane of a wave of 64 has four neighbours of a row.
using distribution = tw::tile_distribution<
    tw::tile_distribution_encoding<sequence<>, tuple<sequence<8>, sequence<8, 4>>, tuple<sequence<1, 2>>,
                                   tuple<sequence<0, 0>>, sequence<2>, sequence<1>>::value>;

/// Each lane has a column of four rows.
using by_columns = tw::tile_distribution<
    tw::tile_distribution_encoding<sequence<>, tuple<sequence<2, 4>, sequence<32>>, tuple<sequence<1, 2>>,
                                   tuple<sequence<0, 0>>, sequence<1>, sequence<1>>::value>;

constexpr auto lengths = make_tuple(number<8>{}, number<32>{});

template <class T>
auto view(T* p) {
  return tw::make_naive_tensor_view<tw::address_space_enum::global>(p, make_tuple(8, 32), make_tuple(32, number<1>{}),
                                                                    number<4>{});
}
inline auto lds_view(tw::exec::lds_pointer p) {
  return tw::make_tensor_view<tw::address_space_enum::lds, float>(p, tw::make_naive_tensor_descriptor_packed(lengths));
}
