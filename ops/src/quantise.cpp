// SPDX-License-Identifier: MIT
#include <tilewright/ops/quantise.hpp>

#include <tilewright/jit/rows.hpp>

#include "rows_view.hpp"
#include "scales_view.hpp"
#include "single_kernel.hpp"

namespace tilewright::ops {
namespace {

candidate describe_quantise(const jit::quantise_problem& p, const device_facts&) {
  candidate c = kernel_for("quantise", p.type, jit::quantise_rows(p));
  c.kernel += std::string("_to_") + name_of(p.result) + (p.scales == scale_kind::per_row ? "_per_row" : "_per_128");
  return c;
}

}  // namespace

void quantise(const tensor& y, const tensor& scales, const tensor& x, const quantise_options& options) {
  constexpr const char* op = "quantise";
  const rows_view in = as_rows(op, "x", x);
  require_tensor(op, "y", y);
  require_tensor(op, "scales", scales);
  if (bytes_of(y.type) != 1) refuse(op, std::string("y has ") + name_of(y.type) + "; it must be of fp8, bf8 or i8");
  const rows_view out = as_rows_like(op, "y", y, x, y.type);
  const scales_view s = as_scales(op, scales, in.rows, in.cols);
  jit::quantise_problem p{.type = x.type, .result = y.type, .scales = s.kind};
  p.args = {.x = in.data,
            .y = out.data,
            .scale = s.data,
            .rows = in.rows,
            .cols = in.cols,
            .x_stride = in.stride,
            .y_stride = out.stride,
            .scale_row_stride = s.row_stride,
            .scale_group_stride = s.group_stride};
  run_single<describe_quantise>(op,
                                key_of_all(op, p.type, p.result, p.scales, in.data, out.data, in.rows, in.cols,
                                           in.stride, out.stride, s.row_stride, s.group_stride),
                                p, options.stream);
}

}  // namespace tilewright::ops
