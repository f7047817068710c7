// SPDX-License-Identifier: MIT
// Heads that the kernel for wide heads does not have; keys that do not fit its consumers; and a block that does not fit
// in LDS.
// EXPECT: wide_backward_policy: head dimensions are multiples of 32: 160 or 192, or 224 or 256, and one of both may be 128; use wgmma_backward_policy or attention_backward_policy for others
// EXPECT: wide_backward_policy: a block has 96 keys up to head dimensions of 192, else 64 or 80
// EXPECT: wide_backward_policy: the block needs more LDS than the GPU has; use 64 keys
#include <tilewright/kernels/attention/backward/hopper_backward_policy.hpp>

namespace tw = tilewright;

using narrow = tw::wide_backward_policy<tw::half_t, 128>;
constexpr tw::index_t narrow_vector = narrow::vector;
using uneven = tw::wide_backward_policy<tw::half_t, 192, 192, 48>;
constexpr tw::index_t uneven_vector = uneven::vector;
using large = tw::wide_backward_policy<tw::half_t, 256, 128, 80>;
constexpr tw::index_t large_vector = large::vector;
