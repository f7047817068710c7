// SPDX-License-Identifier: MIT
// Softmax for rows.py: x, y.
#include "start_rows.hpp"

#include <tilewright/kernels/rows/softmax.hpp>

namespace row_kernels {
namespace {

using enum tw::softmax_kind;

template <class T, tw::softmax_kind Kind>
struct softmax_of {
  template <tw::row_tile Tile>
  using kernel = tw::softmax<arch, T, Tile, Kind>;
};

template <class T, tw::softmax_kind Kind>
const char* start_softmax(const call& c) {
  const tw::softmax_args<T> args{c.data<const T>(0), c.data<T>(1),      c[0].rows(),
                                 c[0].cols(),        c[0].row_stride(), c[1].row_stride()};
  return start_rows<softmax_of<T, Kind>::template kernel>(args, c);
}

const registered softmax_kernels[] = {
    {"softmax_f32", start_softmax<float, softmax>},
    {"softmax_bf16", start_softmax<tw::bfloat16_t, softmax>},
    {"log_softmax_f32", start_softmax<float, log_softmax>},
};

}  // namespace
}  // namespace row_kernels
