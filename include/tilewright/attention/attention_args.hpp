// SPDX-License-Identifier: MIT
// Arguments of the attention kernels: tensors, lengths, masks; and their checks.
#pragma once

#include <tilewright/numeric/types.hpp>
#include <tilewright/util/math.hpp>
#include <tilewright/util/type_traits.hpp>

namespace tilewright {

/// Strides in elements. The head dimension is contiguous, so both (batch, row, head, dim) and (batch, head, row, dim)
/// can be described.
struct attention_strides {
  long_index_t batch = 0, head = 0;
  index_t row = 0;
};

/// Which keys a query sees. Query i of L and key j of S are aligned at their ends: i sees j if
/// -left <= j - (i + S - L) <= right. A negative number: no limit on that side.
struct attention_window {
  index_t left = -1, right = -1;
};
/// Each query sees the keys up to its own place, counted from the ends.
inline constexpr attention_window causal{-1, 0};

/// O = softmax(scale Q K^T + mask) V for each head of each sequence. Queries of a sequence that see no key get zeros,
/// and -infinity as their log-sum-exp.
struct attention_args {
  const void* q = nullptr;
  const void* k = nullptr;
  const void* v = nullptr;
  void* o = nullptr;
  float* lse = nullptr;  // optional: natural logarithm of the sum of exponentials; lse_strides says where

  index_t batch = 1, heads = 1, kv_heads = 1;  // heads / kv_heads neighbouring query heads share a key head
  index_t queries = 0, keys = 0;               // rows of each sequence; with starts: of the longest
  attention_strides q_strides, k_strides, v_strides, o_strides;
  attention_strides lse_strides;

  /// Sequences of different lengths: rows starts[b] to starts[b + 1] - 1 of one tensor belong to sequence b; batch + 1
  /// numbers in memory that the GPU can read. Batch strides do not count then. Null: all have the lengths above.
  const index_t* query_starts = nullptr;
  const index_t* key_starts = nullptr;

  float scale = 1;
  attention_window window;

  /// 8-bit elements: what those of a head are multiplied by, [batch * heads] floats of Q and [batch * kv_heads] of K
  /// (positive) and V, in memory that the GPU can read; null: 1. O has the policy's result_type, bfloat16_t if it names
  /// no other.
  const float* q_scales = nullptr;
  const float* k_scales = nullptr;
  const float* v_scales = nullptr;
};

/// Where a score is. A policy's score_function is applied to the scaled scores before the mask: called for each, it
/// returns the new one, and may read the kernel's arguments: (float, const score_position&, const args&).
struct score_position {
  index_t batch, head, query, key;
};

namespace detail {

/// Leaves the scores alone and costs nothing.
struct no_score_function {};
template <class Policy>
inline constexpr bool has_score_function = !__is_same(typename Policy::score_function, no_score_function);

/// What all policies of attention name.
template <class Arch, class T, index_t HeadDim, index_t ValueDim, class Args>
struct attention_choices {
  using arch = Arch;
  using element_type = T;
  using result_type = conditional_t<sizeof(T) == 1, bfloat16_t, T>;
  using score_function = no_score_function;
  using args_type = Args;
  static constexpr index_t head_dim = HeadDim, value_dim = ValueDim, vector = 16 / index_t(sizeof(T));
};

/// Whether rows, heads or sequences of a result may overwrite each other: each stride must be larger than what smaller
/// ones reach. With starts there is one sequence, and `rows` is at most its number.
constexpr bool is_written_twice(const attention_strides& s, bool has_starts, index_t rows, index_t heads, index_t batch,
                                index_t dim) {
  const long_index_t lengths[]{has_starts ? min(rows, 2) : rows, heads, has_starts ? 1 : batch},
      strides[]{s.row, max(s.head, -s.head), max(s.batch, -s.batch)};
  for (index_t i = 0; i < 3; ++i) {
    long_index_t reached = dim - 1;
    for (index_t j = 0; j < 3; ++j)
      if (strides[j] < strides[i] || (strides[j] == strides[i] && j > i)) reached += (lengths[j] - 1) * strides[j];
    if (lengths[i] > 1 && strides[i] <= reached) return true;
  }
  return false;
}
inline constexpr char written_twice[] =
    "a result's heads or sequences lie in the same memory: give its head and batch strides";

constexpr bool is_aligned(const void* data) {
  return __builtin_is_constant_evaluated() || reinterpret_cast<unsigned long long>(data) % 16 == 0;
}

/// What a kernel that moves vectors of `vector` elements, 8 of 16 bits or 16 of 8 bits, cannot do with these arguments,
/// as a sentence; nullptr when it can. O has 16-bit elements.
constexpr const char* check_attention_tensors(const attention_args& args, index_t head_dim, index_t value_dim,
                                              index_t vector) {
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
    if (!is_aligned(data) || s.batch % elements != 0 || s.head % elements != 0 || s.row % elements != 0) return 1;
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
  return args.lse && args.lse_strides.row < 1 ? "lse_strides.row must be positive" : nullptr;
}

/// The same for a kernel that writes O and LSE.
constexpr const char* check_attention(const attention_args& args, index_t head_dim, index_t value_dim, index_t vector) {
  if (const char* why = check_attention_tensors(args, head_dim, value_dim, vector)) return why;
  if (!__builtin_is_constant_evaluated() && args.keys > 0 && (args.o == args.k || args.o == args.v))
    return "O is K or V, which other blocks still read";
  const auto overlaps = [&](const attention_strides& s, index_t dim) {
    return is_written_twice(s, args.query_starts, args.queries, args.heads, args.batch, dim);
  };
  return overlaps(args.o_strides, value_dim) || (args.lse && overlaps(args.lse_strides, 1)) ? written_twice : nullptr;
}

}  // namespace detail

}  // namespace tilewright
