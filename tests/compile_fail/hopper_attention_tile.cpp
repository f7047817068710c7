// SPDX-License-Identifier: MIT
// A step of keys that is no multiple of 16; and stages that do not fit in LDS.
// EXPECT: hopper_attention_policy: a tile has 64, 128 or 192 queries, 32 to 256 keys, a multiple of 16, of 32 with 8-bit elements, and 2 to 4 stages
// EXPECT: hopper_attention_policy: Q and the stages need more LDS than the GPU has; use fewer keys or stages
#include <tilewright/kernels/attention/forward/hopper_attention_policy.hpp>

namespace tw = tilewright;

using uneven = tw::hopper_attention_policy<tw::half_t, 64, 64, tw::hopper_attention_tile{128, 72}>;
constexpr tw::index_t vector = uneven::vector;
using large = tw::hopper_attention_policy<tw::half_t, 128, 128, tw::hopper_attention_tile{192, 128, 3}>;
constexpr tw::index_t large_vector = large::vector;
