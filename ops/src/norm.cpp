// SPDX-License-Identifier: MIT
#include <tilewright/ops/norm.hpp>

#include <algorithm>

#include <tilewright/jit/rows.hpp>

#include "rows_view.hpp"
#include "scales_view.hpp"
#include "single_kernel.hpp"

namespace tilewright::ops {
namespace {

candidate describe_norm(const jit::norm_problem& p, const device_facts&) {
  candidate c = kernel_for(p.kind == norm_kind::rms_norm ? "rms_norm" : "layer_norm", p.type, jit::row_norm(p));
  if (p.scales != scale_kind::none)
    c.kernel += std::string("_to_") + name_of(p.result) + (p.scales == scale_kind::per_row ? "_per_row" : "_per_128");
  return c;
}

/// A block for each compute unit twice: more sums of columns to add up cost more than they save.
candidate describe_gradient(const jit::norm_gradient_problem& p, const device_facts& on) {
  candidate c = kernel_for(p.kind == norm_kind::rms_norm ? "rms_norm_gradient" : "layer_norm_gradient", p.type,
                           jit::norm_gradient(p));
  c.splits = std::min(p.args.rows, 2 * compute_units(on));
  c.workspace_bytes = c.splits * p.args.partials_stride() * (p.args.dbias ? 2 : 1) * long_index_t(sizeof(float));
  return c;
}

void norm(const char* op, norm_kind kind, const tensor& y, const tensor& x, const tensor& weight,
          const norm_options& o) {
  const rows_view in = as_rows(op, "x", x);
  require_tensor(op, "y", y);
  const scales_view scales = as_scales(op, o.scales, in.rows, in.cols);
  if (scales.kind == scale_kind::none && y.type != x.type)
    refuse(op, std::string("y has ") + name_of(y.type) + " and x " + name_of(x.type) +
                   "; they must be equal, or y have 8 bits and scales be given");
  if (scales.kind != scale_kind::none && bytes_of(y.type) != 1)
    refuse(op, "scales belong to a y of fp8, bf8 or i8; give none");
  const rows_view out = as_rows_like(op, "y", y, x, y.type),
                  residual = as_rows_like(op, "residual", o.residual, x, x.type),
                  sum = as_rows_like(op, "sum", o.sum, x, x.type);
  require_vector(op, "weight", weight, x.type, in.cols);
  if (kind == norm_kind::rms_norm && (o.bias.data || o.mean.data))
    refuse(op, "it has no bias and no mean; call layer_norm for these");
  if (o.bias.data) require_vector(op, "bias", o.bias, x.type, in.cols);
  if (!(o.epsilon > 0)) refuse(op, "epsilon must be positive");
  jit::norm_problem p{.type = x.type, .result = y.type, .scales = scales.kind, .kind = kind};
  p.args = {.x = in.data,
            .residual = residual.data,
            .sum = sum.data,
            .weight = weight.data,
            .bias = o.bias.data,
            .y = out.data,
            .scale = scales.data,
            .scale_row_stride = scales.row_stride,
            .scale_group_stride = scales.group_stride,
            .mean = as_row_floats(op, "mean", o.mean, in.rows),
            .rstd = as_row_floats(op, "rstd", o.rstd, in.rows),
            .rows = in.rows,
            .cols = in.cols,
            .x_stride = in.stride,
            .residual_stride = residual.stride,
            .sum_stride = sum.stride,
            .y_stride = out.stride,
            .epsilon = o.epsilon};
  const auto& a = p.args;
  run_single<describe_norm>(op,
                            key_of_all(op, p.type, p.result, p.scales, a.x, a.residual, a.sum, a.weight, a.bias, a.y,
                                       a.scale_row_stride, a.scale_group_stride, a.mean != nullptr, a.rstd != nullptr,
                                       a.rows, a.cols, a.x_stride, a.residual_stride, a.sum_stride, a.y_stride),
                            p, o.stream);
}

/// `mean` without data: RMSNorm.
void norm_gradient(const char* op, const tensor& dx, const tensor& d_weight, const tensor& dy, const tensor& x,
                   const tensor& weight, const tensor& mean, const tensor& rstd, const norm_gradient_options& o) {
  const rows_view in = as_rows(op, "x", x);
  for (const auto& [name, t] : {std::pair{"dx", &dx}, {"dy", &dy}, {"rstd", &rstd}}) require_tensor(op, name, *t);
  const rows_view d_out = as_rows_like(op, "dy", dy, x, x.type), d_in = as_rows_like(op, "dx", dx, x, x.type),
                  d_sum = as_rows_like(op, "d_sum", o.d_sum, x, x.type);
  require_vector(op, "weight", weight, x.type, in.cols);
  require_vector(op, "d_weight", d_weight, x.type, in.cols);
  const bool is_layer_norm = mean.data != nullptr;
  if (o.d_bias.data && !is_layer_norm) refuse(op, "it has no bias; call layer_norm_gradient for d_bias");
  if (o.d_bias.data) require_vector(op, "d_bias", o.d_bias, x.type, in.cols);
  jit::norm_gradient_problem p{.type = x.type, .kind = is_layer_norm ? norm_kind::layer_norm : norm_kind::rms_norm};
  p.args = {.dy = d_out.data,
            .s = in.data,
            .weight = weight.data,
            .mean = as_row_floats(op, "mean", mean, in.rows),
            .rstd = as_row_floats(op, "rstd", rstd, in.rows),
            .ds = d_sum.data,
            .dx = d_in.data,
            .dweight = d_weight.data,
            .dbias = o.d_bias.data,
            .rows = in.rows,
            .cols = in.cols,
            .dy_stride = d_out.stride,
            .s_stride = in.stride,
            .ds_stride = d_sum.stride,
            .dx_stride = d_in.stride};
  auto& a = p.args;
  run_single<describe_gradient>(op,
                                key_of_all(op, p.type, p.kind, a.dy, a.s, a.weight, a.ds, a.dx, a.dweight, a.dbias,
                                           a.rows, a.cols, a.dy_stride, a.s_stride, a.ds_stride, a.dx_stride),
                                p, o.stream,
                                {.workspace = reinterpret_cast<void**>(&a.partials), .splits = &a.num_partials});
}

}  // namespace

void rms_norm(const tensor& y, const tensor& x, const tensor& weight, const norm_options& options) {
  norm("rms_norm", norm_kind::rms_norm, y, x, weight, options);
}
void layer_norm(const tensor& y, const tensor& x, const tensor& weight, const norm_options& options) {
  norm("layer_norm", norm_kind::layer_norm, y, x, weight, options);
}
void rms_norm_gradient(const tensor& dx, const tensor& d_weight, const tensor& dy, const tensor& x,
                       const tensor& weight, const tensor& rstd, const norm_gradient_options& options) {
  norm_gradient("rms_norm_gradient", dx, d_weight, dy, x, weight, {}, rstd, options);
}
void layer_norm_gradient(const tensor& dx, const tensor& d_weight, const tensor& dy, const tensor& x,
                         const tensor& weight, const tensor& mean, const tensor& rstd,
                         const norm_gradient_options& options) {
  require_tensor("layer_norm_gradient", "mean", mean);
  norm_gradient("layer_norm_gradient", dx, d_weight, dy, x, weight, mean, rstd, options);
}

}  // namespace tilewright::ops
