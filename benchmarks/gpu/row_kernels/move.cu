// SPDX-License-Identifier: MIT
// Copies, casts, transposes and element-wise functions for rows.py: x, x2 (of functions of two elements), y.
#include "library.hpp"

#include <tilewright/rows/map_rows.hpp>
#include <tilewright/rows/transpose.hpp>

namespace row_kernels {
namespace {

template <class T>
const char* start_transpose(const call& c) {
  const tensor &x = c[0], &y = c[1];
  const tw::transpose_args<T> args{c.data<const T>(0), c.data<T>(1),  x.rows(), x.cols(), 1,
                                   x.row_stride(),     y.row_stride()};
  if (!start<tw::transpose<arch, T>>(args, c)) return nullptr;
  return start<tw::transpose<arch, T, 1>>(args, c);
}

template <class T, class Result, class Function = tw::copy_function>
const char* start_map(const call& c) {
  constexpr index_t vector = 16 / tw::max(sizeof(T), sizeof(Result));
  constexpr bool has_two = tw::map_rows<arch, T, Result, tw::row_tile{}, Function>::has_two;
  const int y = has_two ? 2 : 1;
  const tw::map_args<T, Result> args{c.data<const T>(0), has_two ? c.data<const T>(1) : nullptr,
                                     c.data<Result>(y),  c[0].rows(),
                                     c[0].cols(),        c[0].row_stride(),
                                     c[1].row_stride(),  c[y].row_stride()};
  if (!start<tw::map_rows<arch, T, Result, tw::row_tile{256, 256, 4, vector}, Function>>(args, c)) return nullptr;
  return start<tw::map_rows<arch, T, Result, tw::row_tile{256, 256, 4, 1}, Function>>(args, c);
}

const registered moves[] = {
    {"transpose_16", start_transpose<unsigned short>},
    {"transpose_32", start_transpose<unsigned>},
    {"copy_bf16", start_map<tw::bfloat16_t, tw::bfloat16_t>},
    {"cast_f32_bf16", start_map<float, tw::bfloat16_t>},
    {"cast_bf16_e4m3", start_map<tw::bfloat16_t, tw::fp8_ocp_t>},
    {"gelu_bf16", start_map<tw::bfloat16_t, tw::bfloat16_t, tw::gelu_function>},
    {"swiglu_bf16", start_map<tw::bfloat16_t, tw::bfloat16_t, tw::swiglu_function>},
};

}  // namespace
}  // namespace row_kernels
