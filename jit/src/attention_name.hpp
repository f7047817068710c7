// SPDX-License-Identifier: MIT
// What requests for attention share: the name of a kernel, what its type and head dimensions must be, and the host half
// of one that takes a block mask.
#pragma once

#include <string>
#include <utility>

#include <tilewright/jit/element.hpp>
#include <tilewright/jit/error.hpp>
#include <tilewright/jit/kernel_source.hpp>
#include <tilewright/kernels/attention/attention_policy.hpp>

#include "hopper_gemm.hpp"

namespace tilewright::jit {

/// For instance f16_d128, bf16_d192_128.
inline std::string attention_name(element type, int head_dim, int value_dim) {
  return short_name(type) + "_d" + std::to_string(head_dim) +
         (value_dim == head_dim ? "" : "_" + std::to_string(value_dim));
}

/// Throws error with the operation's name.
inline void require_attention(const std::string& operation, element type, int head_dim, int value_dim,
                              bool has_wide_heads = false) {
  if (type != element::f16 && type != element::bf16) throw error(operation + ": the elements are f16 or bf16");
  for (const int dim : {head_dim, value_dim})
    if (!detail::is_head_dim(dim, 32) || (dim > 256 && !has_wide_heads))
      throw error(operation + ": head dimensions are multiples of 32 from 32 to 256" +
                  (has_wide_heads ? ", or 384 or 512" : "") + ", not " + std::to_string(dim));
}

/// The host half of a kernel that takes a mask, from that of the same kernel without one.
template <class Args>
host_half with_block_mask(host_half half) {
  half.check = [check = std::move(half.check)](const void* given) {
    Args args = *static_cast<const Args*>(given);
    if (const char* why = detail::check_block_mask(args, true)) return why;
    args.block_mask.bits = nullptr;
    return check(&args);
  };
  return half;
}

}  // namespace tilewright::jit
