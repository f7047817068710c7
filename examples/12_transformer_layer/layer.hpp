// SPDX-License-Identifier: MIT
// A transformer layer from the calls of tilewright::ops: no tile, no policy and no device is named.
#pragma once

#include <tilewright/ops.hpp>

namespace layer_example {

namespace tw = tilewright::ops;

// Weights are (inputs, outputs). qkv: the heads of Q, then of K, then of V. gate_up: (2, model, hidden).
struct layer_weights {
  tw::tensor norm_1, qkv, out, norm_2, gate_up, down;
};
// What a layer keeps while it runs: normed (tokens, model), fused (tokens, heads + 2 kv_heads, dim), mixed (tokens,
// heads, dim), hidden (tokens, hidden).
struct layer_memory {
  tw::tensor normed, fused, mixed, hidden;
};
struct layer_shape {
  int tokens, heads, kv_heads, dim;
};

// A view of some heads of (tokens, heads, dim); one of all heads as the columns of a matrix.
inline tw::tensor heads_of(tw::tensor t, int first, int count, int dim) {
  t.data = static_cast<char*>(t.data) + first * dim * 2;  // elements of 16 bits
  t.lengths[1] = count;
  return t;
}
inline tw::tensor as_matrix(const tw::tensor& t) {
  return tw::packed(t.data, t.type, {t.lengths[0], t.lengths[1] * t.lengths[2]});
}
inline tw::tensor part(const tw::tensor& t, int i) {
  return tw::packed(static_cast<char*>(t.data) + i * t.strides[0] * 2, t.type, {t.lengths[1], t.lengths[2]});
}

// x (tokens, model) becomes the layer's result.
inline void run_layer(const tw::tensor& x, const layer_weights& w, const layer_memory& m, const layer_shape& s,
                      const tw::tensor& cos, const tw::tensor& sin, void* stream) {
  const tw::tensor q = heads_of(m.fused, 0, s.heads, s.dim), k = heads_of(m.fused, s.heads, s.kv_heads, s.dim),
                   v = heads_of(m.fused, s.heads + s.kv_heads, s.kv_heads, s.dim),
                   q_and_k = heads_of(m.fused, 0, s.heads + s.kv_heads, s.dim);
  tw::rms_norm(m.normed, x, w.norm_1, {.stream = stream});
  tw::gemm(as_matrix(m.fused), m.normed, w.qkv, {.stream = stream});
  tw::rotary(q_and_k, q_and_k, cos, sin, {.stream = stream});
  tw::attention(m.mixed, q, k, v, {.causal = true, .stream = stream});
  tw::gemm(x, as_matrix(m.mixed), w.out, {.residual = x, .stream = stream});
  tw::rms_norm(m.normed, x, w.norm_2, {.stream = stream});
  tw::gemm(m.hidden, m.normed, part(w.gate_up, 1), {.gate = part(w.gate_up, 0), .stream = stream});
  tw::gemm(x, m.hidden, w.down, {.residual = x, .stream = stream});
}

}  // namespace layer_example
