// SPDX-License-Identifier: MIT
// The lists of kernels on tensors, and of routing. An entry has what chooses a kernel; other numbers are arguments of a
// launch.
#include <cstddef>
#include <vector>

#include <tilewright/jit/routing.hpp>
#include <tilewright/jit/tensor.hpp>

#include "functions.hpp"
#include "lists.hpp"

namespace pack {
namespace {

using tilewright::index_t;
using tilewright::long_index_t;

/// A tensor of these lengths, with the strides of a member, or contiguous.
template <class Tensor>
void read_tensor(reader& r, const char* name, const std::vector<long_index_t>& lengths, Tensor& to) {
  std::vector<long_index_t> dense(lengths.size(), 1);
  for (std::size_t d = lengths.size() - 1; d-- > 0;) dense[d] = dense[d + 1] * lengths[d + 1];
  const auto strides = r.get_list<long_index_t>(name, to.max_dims, dense);
  if (strides.size() != lengths.size()) r.fail(std::string("needs as many numbers in '") + name + "' as in 'lengths'");
  to.dims = index_t(lengths.size());
  for (std::size_t d = 0; d < lengths.size(); ++d) to.lengths[d] = lengths[d], to.strides[d] = strides[d];
}

jit::kernel_request read_permute(reader& r) {
  jit::permute_problem p;
  p.element_bytes = r.get("element_bytes", 2);
  const auto lengths = r.get_list<long_index_t>("lengths", 6, {});
  if (lengths.empty()) r.fail("lacks 'lengths'");
  read_tensor(r, "x_strides", lengths, p.args.x);
  read_tensor(r, "y_strides", lengths, p.args.y);
  return jit::permute(p);
}

jit::kernel_request read_elementwise(reader& r) {
  jit::elementwise_problem p;
  p.type = r.element("type", "f16");
  p.result = r.element("result", r.get<std::string>("type", "f16"));
  p.args.x = {nullptr, {1}};
  p.args.y = {nullptr, {1}};
  if (read_function(r, p.function) == 2) p.args.x2 = {nullptr, {1}};
  return jit::elementwise(p);
}

jit::kernel_request read_reduce(reader& r) {
  jit::reduce_problem p;
  p.type = r.element("type", "f16");
  p.result = r.element("result", "f32");
  p.kind = tilewright::reduce_kind(r.choose("kind", {"sum", "mean", "maximum", "mean_variance"}, "sum"));
  p.args.x = {nullptr, {2}};
  p.args.y = {nullptr, {1}};
  return jit::reduce(p);
}

jit::kernel_request read_choose_experts(reader& r) {
  jit::choose_experts_problem p;
  p.type = r.element("type", "f32");
  p.args.tokens = 2;
  p.args.experts = r.require<index_t>("experts");
  p.args.choices = r.require<index_t>("choices");
  p.args.x_stride = r.get<long_index_t>("stride", p.args.experts);
  return jit::choose_experts(p);
}

jit::kernel_request read_order_by_expert(reader& r) {
  jit::order_by_expert_problem p;
  p.args.entries = 1;
  p.args.experts = r.require<index_t>("experts");
  return jit::order_by_expert(p);
}

jit::kernel_request read_expert_rows(reader& r) {
  jit::expert_rows_problem p;
  p.type = r.element("type", "f16");
  p.kind = tilewright::expert_rows_kind(r.choose("kind", {"scatter", "combine"}, "scatter"));
  p.args.cols = r.require<index_t>("cols");
  p.args.tokens = 2;
  p.args.choices = 1;
  p.args.x_stride = p.args.y_stride = r.get<long_index_t>("stride", p.args.cols);
  return jit::expert_rows(p);
}

}  // namespace

std::span<const operation_list> tensor_lists() {
  static constexpr operation_list lists[] = {{"permute", read_permute},
                                             {"elementwise", read_elementwise},
                                             {"reduce", read_reduce},
                                             {"choose_experts", read_choose_experts},
                                             {"order_by_expert", read_order_by_expert},
                                             {"expert_rows", read_expert_rows}};
  return lists;
}

}  // namespace pack
