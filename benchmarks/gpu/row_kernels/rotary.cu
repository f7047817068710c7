// SPDX-License-Identifier: MIT
// Rotary embedding for rows.py: x (tokens, heads, elements of a head), cos, sin, y.
#include "library.hpp"

#include <tilewright/kernels/rows/rotary.hpp>

namespace row_kernels {
namespace {

template <class T, tw::rotary_kind Kind>
const char* start_rotary(const call& c) {
  const tensor &x = c[0], &y = c[3];
  const tw::rotary_args<T> args{.x = c.data<const T>(0),
                                .y = c.data<T>(3),
                                .cos = c.data<const float>(1),
                                .sin = c.data<const float>(2),
                                .tokens = index_t(x.lengths[0]),
                                .heads = index_t(x.lengths[1]),
                                .pairs = c[1].cols(),
                                .max_position = c[1].rows(),
                                .x_token_stride = x.strides[0],
                                .x_head_stride = x.strides[1],
                                .y_token_stride = y.strides[0],
                                .y_head_stride = y.strides[1]};
  if (!start<tw::rotary<arch, T, Kind>>(args, c)) return nullptr;
  return start<tw::rotary<arch, T, Kind, 1>>(args, c);
}

const registered rotary_kernels[] = {
    {"rotary_split_bf16", start_rotary<tw::bfloat16_t, tw::rotary_kind::half_split>},
    {"rotary_interleaved_bf16", start_rotary<tw::bfloat16_t, tw::rotary_kind::interleaved>},
};

}  // namespace
}  // namespace row_kernels
