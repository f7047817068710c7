// SPDX-License-Identifier: MIT
// Argument checks of attention kernels.
#pragma once

#include <tilewright/attention/attention_args.hpp>
#include <tilewright/util/math.hpp>

namespace tilewright::detail {

/// What a kernel that moves vectors of `vector` elements, 8 of 16 bits or 16 of 8 bits, cannot do with these arguments,
/// as a sentence; nullptr when it can. O has 16-bit elements.
constexpr const char* check_attention(const attention_args& args, index_t head_dim, index_t value_dim, index_t vector) {
  if (args.batch < 1 || args.heads < 1 || args.kv_heads < 1 || args.queries < 1 || args.keys < 0)
    return "batch, heads, kv_heads and queries must be positive, and keys must not be negative";
  if (args.heads % args.kv_heads != 0) return "heads must be a multiple of kv_heads: each key head serves equally many";
  if (args.heads > 65535 || args.batch > 65535) return "there are more than 65535 heads or sequences";
  if (args.queries > 0x7fffffff - 1024 || args.keys > 0x7fffffff - 1024) return "queries or keys is too close to 2^31";
  if (!(args.scale > 0)) return "the scale must be positive: the softmax is computed from the largest unscaled score";
  if (!args.q || !args.o || (args.keys > 0 && (!args.k || !args.v))) return "a pointer is null: q, k, v or o";
  if (vector == 8 && (args.q_scales || args.k_scales || args.v_scales))
    return "q_scales, k_scales and v_scales are for 8-bit elements; they must be null for 16-bit ones";
  const auto misfit = [&](const void* data, const attention_strides& s, index_t dim, index_t elements) {
    if (!__builtin_is_constant_evaluated() && reinterpret_cast<unsigned long long>(data) % 16 != 0) return 1;
    if (s.batch % elements != 0 || s.head % elements != 0 || s.row % elements != 0) return 1;
    return s.row < dim || s.row > 0x7fffffff / 2048 ? 2 : 0;
  };
  const int of_tensors[] = {
      misfit(args.q, args.q_strides, head_dim, vector), misfit(args.k, args.k_strides, head_dim, vector),
      misfit(args.v, args.v_strides, value_dim, vector), misfit(args.o, args.o_strides, value_dim, min(vector, 8))};
  for (const int misfit_of : of_tensors) {
    if (misfit_of == 1)
      return vector == 8
                 ? "vectors of 16 bytes are moved: pointers must be aligned to 16 bytes, strides be multiples of 8"
                 : "vectors of 16 bytes are moved: pointers must be aligned to 16 bytes, strides be multiples of 16, "
                   "those of O of 8";
    if (misfit_of == 2) return "a row stride is smaller than the head dimension, or so large that a step spans 2 GiB";
  }
  if (args.lse && args.lse_strides.row < 1) return "lse_strides.row must be positive";
  return nullptr;
}

}  // namespace tilewright::detail
