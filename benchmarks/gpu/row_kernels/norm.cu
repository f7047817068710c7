// SPDX-License-Identifier: MIT
// RMSNorm and LayerNorm for rows.py: x, residual, weight, bias, y, sum, scale.
#include "start_rows.hpp"

#include <tilewright/kernels/rows/norm.hpp>

namespace row_kernels {
namespace {

using enum tw::norm_kind;

template <class T, tw::norm_kind Kind, class Result>
struct norm_of {
  template <tw::row_tile Tile>
  using kernel = tw::row_norm<arch, T, Tile, Kind, Result>;
};

template <class T, tw::norm_kind Kind, class Result = T>
const char* start_norm(const call& c) {
  const tw::norm_args<T, Result> args{.x = c.data<const T>(0),
                                      .residual = c.data<const T>(1),
                                      .sum = c.data<T>(5),
                                      .weight = c.data<const T>(2),
                                      .bias = c.data<const T>(3),
                                      .y = c.data<Result>(4),
                                      .scale = c.data<float>(6),
                                      .rows = c[0].rows(),
                                      .cols = c[0].cols(),
                                      .x_stride = c[0].row_stride(),
                                      .residual_stride = c[1].row_stride(),
                                      .sum_stride = c[5].row_stride(),
                                      .y_stride = c[4].row_stride(),
                                      .epsilon = float(c.numbers[0])};
  return start_rows<norm_of<T, Kind, Result>::template kernel>(args, c);
}

const registered norm_kernels[] = {
    {"rms_norm_bf16", start_norm<tw::bfloat16_t, rms_norm>},
    {"layer_norm_bf16", start_norm<tw::bfloat16_t, layer_norm>},
    {"rms_norm_bf16_e4m3", start_norm<tw::bfloat16_t, rms_norm, tw::fp8_ocp_t>},
};

}  // namespace
}  // namespace row_kernels
