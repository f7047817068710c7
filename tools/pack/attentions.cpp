// SPDX-License-Identifier: MIT
// The lists "attention", "attention_backward" and "attention_decode".
#include <vector>

#include <tilewright/jit/attention.hpp>
#include <tilewright/jit/given_later.hpp>

#include "lists.hpp"

namespace pack {
namespace {

using tilewright::attention_strides;
using tilewright::index_t;
using tilewright::long_index_t;

template <class T>
T* pointer(int number) {
  return static_cast<T*>(jit::given_later(number));
}

template <class Problem>
Problem read_dims(reader& r) {
  Problem p;
  p.type = r.element("type", "f16");
  p.head_dim = r.get("head_dim", 128);
  p.value_dim = r.get("value_dim", p.head_dim);
  return p;
}

void read_lengths(reader& r, tilewright::attention_args& a) {
  a.batch = r.get<index_t>("batch", 1);
  a.heads = r.require<index_t>("heads");
  a.kv_heads = r.get("kv_heads", a.heads);
  a.queries = r.require<index_t>("queries");
  a.keys = r.get("keys", a.queries);
  a.scale = r.require<float>("scale");
  a.window.left = r.get<index_t>("window_left", -1);
  a.window.right = r.get<index_t>("window_right", r.get("causal", false) ? 0 : -1);
  if (r.get("packed", false)) a.query_starts = a.key_starts = pointer<const index_t>(9);
}

/// The strides that a member names, or others.
attention_strides read_strides(reader& r, const char* name, const attention_strides& otherwise) {
  const auto s = r.get_list<long_index_t>(name, 3, {otherwise.batch, otherwise.head, otherwise.row});
  if (s.size() != 3) r.fail(std::string("needs the strides of batch, head and row in '") + name + "'");
  return {s[0], s[1], index_t(s[2])};
}

/// Strides of Q, K, V and O. In the layout "fused" Q, K and V are columns of one matrix, as one product makes them.
void read_layout(reader& r, tilewright::attention_args& a, int head_dim, int value_dim) {
  enum { by_rows, by_heads, fused };
  const int layout = r.choose("layout", {"rows", "heads", "fused"}, "rows");
  const long_index_t fused_row = long_index_t(a.heads + a.kv_heads) * head_dim + long_index_t(a.kv_heads) * value_dim;
  const auto strides = [&](const char* name, index_t rows, index_t heads, index_t dim, bool is_fused) {
    if (layout == by_heads)
      return read_strides(r, name, {long_index_t(rows) * heads * dim, long_index_t(rows) * dim, dim});
    const long_index_t row = is_fused && layout == fused ? fused_row : long_index_t(heads) * dim;
    return read_strides(r, name, {row * rows, dim, index_t(row)});
  };
  a.q_strides = strides("q_strides", a.queries, a.heads, head_dim, true);
  a.k_strides = strides("k_strides", a.keys, a.kv_heads, head_dim, true);
  a.v_strides = strides("v_strides", a.keys, a.kv_heads, value_dim, true);
  a.o_strides = strides("o_strides", a.queries, a.heads, value_dim, false);
}
attention_strides strides_of_lse(const tilewright::attention_args& a) {
  return {long_index_t(a.heads) * a.queries, a.queries, 1};
}

jit::kernel_request read_attention(reader& r) {
  auto p = read_dims<jit::attention_problem>(r);
  tilewright::attention_args& a = p.args;
  read_lengths(r, a);
  read_layout(r, a, p.head_dim, p.value_dim);
  if (r.get("lse", false)) {
    a.lse = pointer<float>(8);
    a.lse_strides = strides_of_lse(a);
  }
  tilewright::attention_args launched = a;
  launched.q = pointer<void>(0);
  launched.k = pointer<void>(1);
  launched.v = pointer<void>(2);
  launched.o = pointer<void>(3);
  return checked(jit::attention(p), launched);
}

jit::kernel_request read_backward(reader& r) {
  auto p = read_dims<jit::attention_backward_problem>(r);
  tilewright::attention_backward_args& a = p.args;
  read_lengths(r, a);
  read_layout(r, a, p.head_dim, p.value_dim);
  a.lse_strides = strides_of_lse(a);
  a.d_o_strides = a.o_strides;
  a.d_q_strides = a.q_strides;
  a.d_k_strides = a.k_strides;
  a.d_v_strides = a.v_strides;
  return jit::attention_backward(p);
}

jit::kernel_request read_decode(reader& r) {
  auto p = read_dims<jit::attention_decode_problem>(r);  // a kernel serves all lengths, strides and pages
  p.cache_type = r.element("cache", p.type == jit::element::f16 ? "f16" : "bf16");
  p.args.queries = p.args.keys = 1;
  p.args.q_strides = p.args.k_strides = {p.head_dim, p.head_dim, p.head_dim};
  p.args.v_strides = p.args.o_strides = {p.value_dim, p.value_dim, p.value_dim};
  return jit::attention_decode(p);
}

}  // namespace

std::span<const operation_list> attention_lists() {
  static constexpr operation_list lists[] = {
      {"attention", read_attention}, {"attention_backward", read_backward}, {"attention_decode", read_decode}};
  return lists;
}

}  // namespace pack
