// SPDX-License-Identifier: MIT
// One tile length for two dimensions.
// EXPECT: pad_tensor_view: one tile length and one entry of pads is needed for each dimension of the view
#include <tilewright/compat/ck_tile/pad_tensor_view.hpp>

namespace tw = tilewright;
using tw::index_t, tw::make_tuple, tw::number, tw::sequence, tw::tuple;

template <class T>
auto view(T* p) {
  return tw::make_naive_tensor_view<tw::address_space_enum::global>(p, make_tuple(8, 32), make_tuple(32, number<1>{}),
                                                                    number<4>{});
}

void f(float* p) { (void)tw::pad_tensor_view(view(p), make_tuple(number<8>{}), sequence<1>{}); }
