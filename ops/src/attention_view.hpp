// SPDX-License-Identifier: MIT
// attention_view: what the calls of attention share: tensors by head, masks, sequences of different lengths.
#pragma once

#include <tilewright/kernels/attention/attention_args.hpp>
#include <tilewright/ops/attention.hpp>

#include "call_key.hpp"

namespace tilewright::ops {

struct attention_view {
  element type{}, cache_type{};  // of q and o, of k and v
  int head_dim = 0, value_dim = 0;
};

/// Strides of (batch, rows, heads, dim), or of (rows, heads, dim).
attention_strides strides_of(const char* operation, const char* name, const tensor& t);

/// What k and v are: of the sequences of q, or a cache, of sequences or of pages.
enum class key_tensors { of_sequences, cache, cache_in_pages };

/// Refuses tensors whose lengths do not fit each other; fills args but for the gradients.
attention_view view_attention(const char* operation, const tensor& o, const tensor& q, const tensor& k, const tensor& v,
                              const attention_options& options, key_tensors keys, attention_args& args);

/// Adds all that a kernel of these arguments may depend on.
void add_to_key(call_key& key, const attention_view& view, const attention_args& args);

}  // namespace tilewright::ops
