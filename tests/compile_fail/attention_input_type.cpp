// SPDX-License-Identifier: MIT
// Gradients of half_t from inputs of bfloat16_t.
// EXPECT: attention_backward: the policy's input_type is its element_type or an 8-bit float
#include <tilewright/kernels/attention/backward/attention_backward.hpp>

namespace tw = tilewright;

struct policy : tw::attention_backward_policy<tw::arch::gfx942, tw::half_t, 64> {
  using input_type = tw::bfloat16_t;
};
constexpr tw::long_index_t bytes = tw::attention_backward<policy>::workspace_bytes({});
