// SPDX-License-Identifier: MIT
// Which tile of attention suits a problem on Hopper.
#pragma once

#include <tilewright/kernels/attention/attention_args.hpp>
#include <tilewright/kernels/attention/forward/hopper_attention_policy.hpp>

namespace tilewright {

/// The tile of hopper_attention_policy that is fastest on an H100 and an H200. Sequences of up to 1,024 keys have few
/// rows of Q for each SM, so blocks take 128 rows: for head dimensions of 64 under a causal mask, of 128, of 96 in 16
/// bits and of 256 in 8 bits. With a block mask blocks take tiles of 128 queries and keys, which masks usually have.
/// Other problems have the policy's default. With sequences of different lengths args.keys is the longest's.
TILEWRIGHT_HD constexpr hopper_attention_tile choose_hopper_attention_tile(const attention_args& args, index_t head_dim,
                                                                           index_t value_dim, index_t element_bytes) {
  const bool is_short = args.keys <= 1024 && head_dim == value_dim;
  if (args.block_mask.bits && element_bytes == 2 && max(head_dim, value_dim) <= 128)
    return {.queries = 128, .keys = 128, .ordered = false};
  if (is_short && (head_dim == 128 || (head_dim == 96 && element_bytes == 2)))
    return {.queries = 128, .keys = 128, .ordered = false};
  if (is_short && head_dim == 256 && element_bytes == 1) return {.queries = 128, .keys = 64, .ordered = false};
  if (is_short && head_dim == 64 && args.window.right == 0)
    return {.queries = 128, .keys = 64, .ordered = false, .blocks = 2};
  return detail::default_hopper_attention_tile(max(head_dim, value_dim), element_bytes);
}

}  // namespace tilewright
