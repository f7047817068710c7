// SPDX-License-Identifier: MIT
// The lists of kernels on rows. An entry has what chooses a kernel; other numbers are arguments of a launch.
#include <tilewright/jit/given_later.hpp>
#include <tilewright/jit/rows.hpp>

#include "functions.hpp"
#include "lists.hpp"

namespace pack {
namespace {

using tilewright::index_t;
using tilewright::long_index_t;
using tilewright::norm_kind;

/// Two rows, whose stride decides whether rows are aligned.
template <class Args, class... Strides>
void read_rows(reader& r, Args& args, Strides&... strides) {
  args.cols = r.require<index_t>("cols");
  args.rows = 2;
  const auto stride = r.get<long_index_t>("stride", args.cols);
  ((strides = stride), ...);
}

/// The strides of scales are arguments of a launch.
template <class Problem>
void read_scales(reader& r, Problem& p, const char* otherwise) {
  p.scales = tilewright::scale_kind(r.choose("scales", {"none", "per_row", "per_128"}, otherwise));
  p.args.scale_row_stride = tilewright::ceil_div(p.args.cols, 128);
  p.args.scale_group_stride = 1;
}

jit::kernel_request read_softmax(reader& r) {
  jit::softmax_problem p;
  p.type = r.element("type", "f16");
  if (r.get("log", false)) p.kind = tilewright::softmax_kind::log_softmax;
  read_rows(r, p.args, p.args.x_stride, p.args.y_stride);
  return jit::softmax(p);
}

template <norm_kind Kind>
jit::kernel_request read_norm(reader& r) {
  jit::norm_problem p;
  p.kind = Kind;
  p.type = r.element("type", "f16");
  p.result = r.element("result", r.get<std::string>("type", "f16"));
  read_rows(r, p.args, p.args.x_stride, p.args.y_stride);
  read_scales(r, p, p.result == p.type ? "none" : "per_row");
  return jit::row_norm(p);
}

template <norm_kind Kind>
jit::kernel_request read_norm_gradient(reader& r) {
  jit::norm_gradient_problem p;
  p.kind = Kind;
  p.type = r.element("type", "f16");
  read_rows(r, p.args, p.args.dy_stride, p.args.s_stride, p.args.dx_stride);
  return jit::norm_gradient(p);
}

jit::kernel_request read_quantise(reader& r) {
  jit::quantise_problem p;
  p.type = r.element("type", "f16");
  p.result = r.element("result", "fp8");
  const int inputs = read_function(r, p.function);
  if (inputs == 2) p.args.x2 = jit::given_later();
  read_rows(r, p.args, p.args.x_stride, p.args.x2_stride, p.args.y_stride);
  read_scales(r, p, "per_row");
  return jit::quantise_rows(p);
}

jit::kernel_request read_rotary(reader& r) {
  jit::rotary_problem p;
  p.type = r.element("type", "f16");
  if (r.get("interleaved", false)) p.kind = tilewright::rotary_kind::interleaved;
  p.args.pairs = r.require<index_t>("pairs");
  p.args.tokens = p.args.heads = 2;
  p.args.max_position = 1;
  p.args.x_head_stride = p.args.y_head_stride = r.get("head_stride", long_index_t{2} * p.args.pairs);
  p.args.x_token_stride = p.args.y_token_stride = r.get("token_stride", 2 * p.args.x_head_stride);
  return jit::rotary(p);
}

jit::kernel_request read_cross_entropy(reader& r) {
  jit::cross_entropy_problem p;
  p.type = r.element("type", "f16");
  p.kind = tilewright::cross_entropy_kind(r.choose("kind", {"loss", "loss_and_gradient", "gradient"}, "loss"));
  p.has_long_targets = r.get("long_targets", false);
  read_rows(r, p.args, p.args.x_stride, p.args.gradient_stride);
  return jit::cross_entropy(p);
}

}  // namespace

int read_function(reader& r, jit::element_function& to) {
  const int inputs = r.get("inputs", 1);
  if (inputs != 1 && inputs != 2) r.fail("needs 1 or 2 as 'inputs'");
  const std::string expression = r.get<std::string>("expression", "");
  to.type = r.get("function", to.type);
  to.code = r.get("code", to.code);
  if (!expression.empty()) to = jit::expression(expression, inputs);
  return inputs;
}

std::span<const operation_list> row_lists() {
  static constexpr operation_list lists[] = {{"softmax", read_softmax},
                                             {"rms_norm", read_norm<norm_kind::rms_norm>},
                                             {"layer_norm", read_norm<norm_kind::layer_norm>},
                                             {"rms_norm_gradient", read_norm_gradient<norm_kind::rms_norm>},
                                             {"layer_norm_gradient", read_norm_gradient<norm_kind::layer_norm>},
                                             {"quantise", read_quantise},
                                             {"rotary", read_rotary},
                                             {"cross_entropy", read_cross_entropy}};
  return lists;
}

}  // namespace pack
