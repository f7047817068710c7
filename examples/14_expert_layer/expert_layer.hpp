// SPDX-License-Identifier: MIT
// A mixture-of-experts layer of a transformer: y = x + experts(norm(x)). Tensors are bf16 or f16, logits f32.
#pragma once

#include <tilewright/ops.hpp>

namespace expert_layer_example {

namespace tw = tilewright::ops;

struct layer_weights {
  tw::tensor norm;     // (d)
  tw::tensor router;   // (d, experts)
  tw::tensor gate_up;  // (experts, 2 n, d)
  tw::tensor down;     // (experts, d, n)
};
struct layer_memory {
  tw::tensor h;       // (tokens, d)
  tw::tensor logits;  // (tokens, experts)
};

/// y and x: (tokens, d).
inline void run_layer(const tw::tensor& y, const tw::tensor& x, const layer_weights& w, const layer_memory& m,
                      int choices, void* stream) {
  tw::rms_norm(m.h, x, w.norm, {.stream = stream});
  tw::gemm(m.logits, m.h, w.router, {.stream = stream});
  tw::moe(y, m.h, m.logits, w.gate_up, w.down, {.choices = choices, .stream = stream});
  tw::elementwise(y, y, "x + x2", x, {.stream = stream});
}

}  // namespace expert_layer_example
