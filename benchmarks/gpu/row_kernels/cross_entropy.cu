// SPDX-License-Identifier: MIT
// Cross-entropy for rows.py: x, target, loss, gradient.
#include "start_rows.hpp"

#include <tilewright/kernels/rows/cross_entropy.hpp>

namespace row_kernels {
namespace {

using enum tw::cross_entropy_kind;

template <class T, tw::cross_entropy_kind Kind>
struct cross_entropy_of {
  template <tw::row_tile Tile>
  using kernel = tw::cross_entropy<arch, T, Tile, Kind, long_index_t>;
};

template <class T, tw::cross_entropy_kind Kind>
const char* start_cross_entropy(const call& c) {
  const tw::cross_entropy_args<T, long_index_t> args{.x = c.data<const T>(0),
                                                     .target = c.data<const long_index_t>(1),
                                                     .loss = c.data<float>(2),
                                                     .gradient = c.data<T>(3),
                                                     .scale = float(c.numbers[0]),
                                                     .rows = c[0].rows(),
                                                     .cols = c[0].cols(),
                                                     .x_stride = c[0].row_stride(),
                                                     .gradient_stride = c[3].row_stride()};
  return start_rows<cross_entropy_of<T, Kind>::template kernel>(args, c);
}

const registered cross_entropy_kernels[] = {
    {"cross_entropy_bf16", start_cross_entropy<tw::bfloat16_t, loss>},
    {"cross_entropy_gradient_bf16", start_cross_entropy<tw::bfloat16_t, loss_and_gradient>},
};

}  // namespace
}  // namespace row_kernels
