// SPDX-License-Identifier: MIT
#include <tilewright/ops/cross_entropy.hpp>

#include <tilewright/jit/rows.hpp>

#include "rows_view.hpp"
#include "single_kernel.hpp"

namespace tilewright::ops {
namespace {

candidate describe_cross_entropy(const jit::cross_entropy_problem& p, const device_facts&) {
  return kernel_for(p.kind == cross_entropy_kind::loss ? "cross_entropy" : "cross_entropy_and_gradient", p.type,
                    jit::cross_entropy(p));
}

}  // namespace

void cross_entropy(const tensor& loss, const tensor& logits, const tensor& target,
                   const cross_entropy_options& options) {
  constexpr const char* op = "cross_entropy";
  const rows_view x = as_rows(op, "logits", logits);
  require_tensor(op, "loss", loss);
  require_vector(op, "target", target, element::i32, x.rows);
  const rows_view gradient = as_rows_like(op, "gradient", options.gradient, logits, logits.type);
  if (!gradient.data && (options.factor.data || options.scale != 1))
    refuse(op, "factor and scale belong to the gradient; give a gradient, or neither");
  jit::cross_entropy_problem p{
      .type = logits.type, .kind = gradient.data ? cross_entropy_kind::loss_and_gradient : cross_entropy_kind::loss};
  p.args = {.x = x.data,
            .target = target.data,
            .loss = as_row_floats(op, "loss", loss, x.rows),
            .log_sum = as_row_floats(op, "log_sum", options.log_sum, x.rows),
            .gradient = gradient.data,
            .factor = as_row_floats(op, "factor", options.factor, x.rows),
            .scale = options.scale,
            .rows = x.rows,
            .cols = x.cols,
            .x_stride = x.stride,
            .gradient_stride = gradient.stride};
  run_single<describe_cross_entropy>(
      op, key_of_all(op, p.type, p.kind, x.data, gradient.data, x.rows, x.cols, x.stride, gradient.stride), p,
      options.stream);
}

}  // namespace tilewright::ops
