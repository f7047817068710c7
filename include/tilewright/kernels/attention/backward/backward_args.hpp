// SPDX-License-Identifier: MIT
// Arguments and policy of attention's gradients.
#pragma once

#include <tilewright/kernels/attention/attention_args.hpp>
#include <tilewright/kernels/attention/attention_policy.hpp>

namespace tilewright {

/// attention_args, where o and lse are what attention_forward wrote, and the gradients: of O as input, of Q, K and V as
/// results. Their strides follow the rules of those of q, k, v and o.
struct attention_backward_args : attention_args {
  // Each pointer beside its strides: four pointers in a row are one load of 32 bytes, for which clang 22 reserves
  // scratch memory when it loads them again.
  const void* d_o = nullptr;      ///< gradient of O
  attention_strides d_o_strides;  ///< of d_o
  void* d_q = nullptr;            ///< result: gradient of Q; must not overlap an input
  attention_strides d_q_strides;  ///< of d_q
  void* d_k = nullptr;            ///< result: gradient of K
  attention_strides d_k_strides;  ///< of d_k
  void* d_v = nullptr;            ///< result: gradient of V
  attention_strides d_v_strides;  ///< of d_v
  float* d_sinks = nullptr;       ///< optional result: gradient of sinks, [heads], added up over sequences and queries
  void* workspace = nullptr;      ///< of attention_backward<Policy>::workspace_bytes(args), aligned to 16 bytes
};

/// Bytes that attention_backward_args::workspace must have for Q, K and V of 16 bits: two floats for each query of each
/// head; with wgmma_backward_policy, whose dQ is added up in float, `d_q_columns` more, the head dimension of Q.
TILEWRIGHT_HD constexpr long_index_t workspace_bytes(const attention_backward_args& args, index_t d_q_columns = 0) {
  const long_index_t heads = long_index_t(args.batch) * args.heads, rows = heads * args.queries;
  if (d_q_columns == 0) return rows * 8;
  return detail::round_up(rows * 8, long_index_t{16}) + heads * detail::round_up(args.queries, 16) * d_q_columns * 4 +
         heads * ceil_div(args.queries, 64) * 8;
}

namespace detail {

constexpr const char* check_backward(const attention_backward_args& args, index_t head_dim, index_t value_dim,
                                     index_t vector, bool takes_mask = false) {
  if (const char* why = check_attention_tensors(args, head_dim, value_dim, vector, vector, takes_mask)) return why;
  if (!args.lse) return "lse is null: the gradients need the log-sum-exp that attention_forward writes";
  if (!args.d_o || !args.d_q || (args.keys > 0 && (!args.d_k || !args.d_v)))
    return "a pointer is null: d_o, d_q, d_k or d_v";
  if (args.d_sinks && !args.sinks) return "d_sinks is the gradient of sinks, which are null";
  if (!args.workspace) return "the gradients need a workspace, of workspace_bytes(args)";
  if (!is_aligned(args.workspace)) return "the workspace is not aligned to 16 bytes";
  if (args.queries > 0x1fffffff || args.keys > 0x1fffffff) return "there are more than 2^29 queries or keys";
  if (long_index_t(args.heads) * ceil_div(args.queries, 16) + long_index_t(args.kv_heads) * ceil_div(args.keys, 16) >
      0x7fffffff)
    return "there are too many blocks: heads times queries or keys is too large";
  const void* const memory[]{args.d_q, args.d_k, args.d_v, args.q, args.k, args.v, args.d_o};
  for (index_t i = 0; i < 3; ++i)
    for (index_t j = i + 1; j < 7; ++j)
      if (!__builtin_is_constant_evaluated() && memory[i] && memory[i] == memory[j])
        return "dQ, dK or dV is another gradient, or an input of other blocks";
  attention_args gradients = args;
  gradients.q = args.d_q;
  gradients.k = args.d_k;
  gradients.v = args.d_v;
  gradients.o = const_cast<void*>(args.d_o);
  gradients.q_strides = args.d_q_strides;
  gradients.k_strides = args.d_k_strides;
  gradients.v_strides = args.d_v_strides;
  gradients.o_strides = args.d_o_strides;
  if (const char* why = check_attention_tensors(gradients, head_dim, value_dim, vector, vector, takes_mask)) return why;
  const auto overlaps = [&](const attention_strides& s, index_t dim) {
    return args.keys > 0 && is_written_twice(s, args.key_starts, args.keys, args.kv_heads, args.batch, dim);
  };
  return is_written_twice(args.d_q_strides, args.query_starts, args.queries, args.heads, args.batch, head_dim) ||
                 overlaps(args.d_k_strides, head_dim) || overlaps(args.d_v_strides, value_dim)
             ? written_twice
             : nullptr;
}

/// Waves with the rows of one instruction, m; steps that leave registers for the accumulators of two products.
TILEWRIGHT_HD constexpr attention_tile default_backward_tile(const arch::target& on,
                                                             const arch::matrix_instruction& instruction,
                                                             index_t head_dim, index_t value_dim) {
  const index_t dim = max(head_dim, value_dim), m = instruction.m;
  // 32 rows of a part of 32 elements are less than a vector for each of 256 threads; more than 32 of wide heads need
  // too much LDS.
  const bool has_narrow_part = head_dim % 64 != 0 || value_dim % 64 != 0;
  if (!arch::is_amd(on))
    return dim <= 64 ? attention_tile{128, 32, 4, true}
                     : attention_tile{64, (head_dim + value_dim) * 384 > on.lds_bytes ? 32 : 64, 4, true};
  const bool needs_space =
      on.wave_size == 64 ? has_narrow_part && dim > 128 : has_narrow_part || dim > 192 || head_dim + value_dim > 320;
  const index_t waves = needs_space ? 2 : 4;
  if (on.wave_size == 64) return {m * waves, dim <= 64 || (has_narrow_part && dim <= 128) ? 64 : 32, waves};
  return {m * waves, instruction.k, waves, true};
}
template <class Arch, class T, index_t HeadDim, index_t ValueDim>
TILEWRIGHT_HD constexpr attention_tile default_backward_tile() {
  return default_backward_tile(Arch::value, arch::describe(default_block_tile<Arch, T>().op), HeadDim, ValueDim);
}

/// Blocks of the kernel that computes gradients of `rows` rows in a block: x for rows and heads of K, then for those of
/// Q, then for heads' sinks; z for sequences.
constexpr grid_size grid_of_gradients(const attention_backward_args& args, index_t rows) {
  return {ceil_div(args.keys, rows) * args.kv_heads + ceil_div(args.queries, rows) * args.heads +
              (args.d_sinks ? args.heads : 0),
          1, args.batch};
}
/// Rows of a block of the kernel before it, and its blocks: x for rows, y for heads, z for sequences.
inline constexpr index_t rows_of_row_sums = 32;
constexpr grid_size grid_of_row_sums(const attention_backward_args& args, index_t rows) {
  return {ceil_div(rows, rows_of_row_sums), args.heads, args.batch};
}

/// Whether the accumulators of dK and dV are more than a thread's registers: gfx11 holds operands twice.
template <class Arch, class T, index_t HeadDim, index_t ValueDim>
TILEWRIGHT_HD constexpr bool default_gradients_apart() {
  if (!arch::is_amd(Arch::value)) return false;
  const bool is_gfx11 = arch::describe(default_block_tile<Arch, T>().op).repeats_operands();
  const bool has_narrow_part = HeadDim % 64 != 0 || ValueDim % 64 != 0;
  return HeadDim + ValueDim > (is_gfx11 ? 256 : Arch::value.wave_size == 32 && has_narrow_part ? 288 : 320);
}

}  // namespace detail

/// Everything that attention_backward must know at compile time. Name a struct that derives from it; it may replace
/// score_function, args_type and input_type. With an 8-bit float as input_type, Q, K and V are of this type, with the
/// scales of attention_args, and starts of sequences begin with 0; they are multiplied as T, times their scales and
/// rounded. dQ, dK and dV are the gradients of what they represent. A score function of its own needs, beside
/// operator(), the derivative of its result: float derivative(float, const score_position&, const args&). The tile's
/// `queries` are rows of a block: keys, and queries; its `keys` the queries, and keys, of a step.
template <class Arch, class T, index_t HeadDim, index_t ValueDim = HeadDim,
          attention_tile Tile = detail::default_backward_tile<Arch, T, HeadDim, ValueDim>()>
struct attention_backward_policy : attention_policy<Arch, T, HeadDim, ValueDim, Tile> {
  using args_type = attention_backward_args;
  /// dK and dV are added up by two passes of a block, which compute S twice.
  static constexpr bool gradients_apart = detail::default_gradients_apart<Arch, T, HeadDim, ValueDim>();
};

}  // namespace tilewright
