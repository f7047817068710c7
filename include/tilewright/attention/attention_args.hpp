// SPDX-License-Identifier: MIT
// Arguments of the attention kernels: tensors, lengths, masks.
#pragma once

#include <tilewright/numeric/types.hpp>
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
  /// and V, in memory that the GPU can read; null: 1. O has the policy's result_type, bfloat16_t if it names no other.
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

inline constexpr float log2_e = 1.442695041f, ln_2 = 0.6931471806f;

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

}  // namespace detail

}  // namespace tilewright
