// SPDX-License-Identifier: MIT
// Quantisation with scales for rows.py: x, x2 (of functions of two elements), y, scale.
#include "start_rows.hpp"

#include <tilewright/kernels/rows/norm.hpp>
#include <tilewright/kernels/rows/quantise_rows.hpp>

namespace row_kernels {
namespace {

using enum tw::scale_kind;
using tw::bfloat16_t;
using tw::fp8_ocp_t;

template <tw::scale_kind Scales, class Function>
struct quantise_of {
  template <tw::row_tile Tile>
  using kernel = tw::quantise_rows<arch, bfloat16_t, fp8_ocp_t, Tile, Scales, Function>;
};

template <tw::scale_kind Scales, class Function = tw::copy_function>
const char* start_quantise(const call& c) {
  const tensor& scale = c[3];
  const tw::quantise_args<bfloat16_t, fp8_ocp_t> args{.x = c.data<const bfloat16_t>(0),
                                                      .x2 = c.data<const bfloat16_t>(1),
                                                      .y = c.data<fp8_ocp_t>(2),
                                                      .scale = c.data<float>(3),
                                                      .rows = c[0].rows(),
                                                      .cols = c[0].cols(),
                                                      .x_stride = c[0].row_stride(),
                                                      .x2_stride = c[1].row_stride(),
                                                      .y_stride = c[2].row_stride(),
                                                      .scale_row_stride = scale.strides[0],
                                                      .scale_group_stride = scale.dims > 1 ? scale.strides[1] : 0};
  using kernel = quantise_of<Scales, Function>;
  if constexpr (Scales == per_128) {
    constexpr auto tile = [](index_t cols) { return tw::choose_group_scales_tile(cols, sizeof(bfloat16_t)); };
    if (args.cols <= 1024) return start<typename kernel::template kernel<tile(1024)>>(args, c);
    if (args.cols <= 2048) return start<typename kernel::template kernel<tile(2048)>>(args, c);
    return start<typename kernel::template kernel<tile(4096)>>(args, c);
  } else {
    return start_rows<kernel::template kernel>(args, c);
  }
}

const registered quantisations[] = {
    {"quantise_rows_e4m3", start_quantise<per_row>},
    {"quantise_128_e4m3", start_quantise<per_128>},
    {"swiglu_128_e4m3", start_quantise<per_128, tw::swiglu_function>},
};

}  // namespace
}  // namespace row_kernels
