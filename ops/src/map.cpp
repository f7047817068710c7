// SPDX-License-Identifier: MIT
#include <tilewright/ops/map.hpp>

#include <algorithm>

#include <tilewright/jit/tensor.hpp>

#include "single_kernel.hpp"

namespace tilewright::ops {
namespace {

candidate describe_permute(const jit::permute_problem& p, const device_facts&) {
  return {.kernel = "permute_" + std::to_string(p.element_bytes),
          .reason = "by the order of both tensors in memory",
          .source = jit::permute(p)};
}
candidate describe_elementwise(const jit::elementwise_problem& p, const device_facts&) {
  return kernel_for("elementwise", p.type, jit::elementwise(p));
}
candidate describe_reduce(const jit::reduce_problem& p, const device_facts& on) {
  candidate c = kernel_for("reduce", p.type, jit::reduce(p));
  c.workspace_bytes = jit::workspace_bytes(p, on.target);
  return c;
}

template <class T>
strided_tensor<T> as_strided(const tensor& t) {
  strided_tensor<T> s;
  s.data = t.data;
  s.dims = t.rank;
  std::copy(t.lengths, t.lengths + t.rank, s.lengths);
  std::copy(t.strides, t.strides + t.rank, s.strides);
  return s;
}

void require_same_lengths(const char* operation, const char* name, const tensor& t, const tensor& x) {
  require_tensor(operation, name, t);
  if (t.rank != x.rank || !std::equal(t.lengths, t.lengths + t.rank, x.lengths))
    refuse(operation,
           std::string(name) + " is " + describe(t) + " and x " + describe(x) + "; their lengths must be equal");
}

void add_tensor(call_key& key, const tensor& t) {
  key.add(t.type).add(t.rank).add(static_cast<const void*>(t.data));
  for (int i = 0; i < t.rank; ++i) key.add(t.lengths[i]).add(t.strides[i]);
}

}  // namespace

void permute(const tensor& y, const tensor& x, const map_options& options) {
  constexpr const char* name = "permute";
  require_tensor(name, "x", x);
  require_same_lengths(name, "y", y, x);
  if (y.type != x.type) refuse(name, "x and y have different types; elementwise with \"x\" casts");
  if (y.data == x.data) refuse(name, "x and y are the same memory; write to another tensor");
  jit::permute_problem p{.element_bytes = bytes_of(x.type)};
  p.args.x = as_strided<const void>(x);
  p.args.y = as_strided<void>(y);
  call_key key(name);
  add_tensor(key, x);
  add_tensor(key, y);
  run_single<describe_permute>(name, key, p, options.stream);
}

void elementwise(const tensor& y, const tensor& x, const std::string& expression, const tensor& x2,
                 const map_options& options) {
  constexpr const char* name = "elementwise";
  require_tensor(name, "x", x);
  require_same_lengths(name, "y", y, x);
  if (x2.data) require_same_lengths(name, "x2", x2, x);
  if (x2.data && x2.type != x.type) refuse(name, "x2 has another type than x; cast it first");
  for (const tensor* t : {&x, &x2})
    if (y.data == t->data &&
        (bytes_of(y.type) != bytes_of(t->type) || !std::equal(y.strides, y.strides + y.rank, t->strides)))
      refuse(name, "y is the memory of an input, with other strides or elements; write to another tensor");
  if (expression.empty()) refuse(name, "the expression is empty; \"x\" copies and casts");
  jit::elementwise_problem p{
      .type = x.type, .result = y.type, .function = jit::expression(expression, x2.data ? 2 : 1)};
  p.args.x = as_strided<const void>(x);
  p.args.y = as_strided<void>(y);
  if (x2.data) p.args.x2 = as_strided<const void>(x2);
  call_key key(name);
  key.add(std::string_view(expression));
  for (const tensor* t : {&x, &y, &x2}) add_tensor(key, *t);
  run_single<describe_elementwise>(name, key, p, options.stream, {.expression = expression.c_str()});
}

void reduce(const tensor& y, const tensor& x, const reduce_options& options) {
  constexpr const char* name = "reduce";
  require_tensor(name, "x", x);
  require_tensor(name, "y", y);
  bool fits = y.rank == x.rank;
  for (int i = 0; fits && i < x.rank; ++i) fits = y.lengths[i] == x.lengths[i] || y.lengths[i] == 1;
  if (!fits)
    refuse(name, "y is " + describe(y) + " and x " + describe(x) + "; each length of y must be that of x, or 1");
  if (options.kind != reduce_kind::sum && options.kind != reduce_kind::mean && options.kind != reduce_kind::maximum)
    refuse(name, "kind must be sum, mean or maximum");
  jit::reduce_problem p{.type = x.type, .result = y.type, .kind = options.kind};
  p.args.x = as_strided<const void>(x);
  p.args.y = as_strided<void>(y);
  call_key key(name);
  key.add(options.kind);
  add_tensor(key, x);
  add_tensor(key, y);
  run_single<describe_reduce>(name, key, p, options.stream, {.workspace = &p.args.workspace});
}

}  // namespace tilewright::ops
