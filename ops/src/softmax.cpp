// SPDX-License-Identifier: MIT
#include <tilewright/ops/softmax.hpp>

#include <tilewright/jit/rows.hpp>

#include "rows_view.hpp"
#include "single_kernel.hpp"

namespace tilewright::ops {
namespace {

candidate describe_softmax(const jit::softmax_problem& p, const device_facts&) {
  return kernel_for(p.kind == softmax_kind::softmax ? "softmax" : "log_softmax", p.type, jit::softmax(p));
}

}  // namespace

void softmax(const tensor& y, const tensor& x, const softmax_options& options) {
  const rows_view in = as_rows("softmax", "x", x);
  require_tensor("softmax", "y", y);
  const rows_view out = as_rows_like("softmax", "y", y, x, x.type);
  jit::softmax_problem p{.type = x.type, .kind = options.is_log ? softmax_kind::log_softmax : softmax_kind::softmax};
  p.args = {in.data, out.data, in.rows, in.cols, in.stride, out.stride};
  run_single<describe_softmax>(
      "softmax", key_of_all("softmax", p.type, p.kind, in.data, out.data, in.rows, in.cols, in.stride, out.stride), p,
      options.stream);
}

}  // namespace tilewright::ops
