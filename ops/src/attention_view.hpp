// SPDX-License-Identifier: MIT
// attention_view: what the calls of attention share: tensors by head, masks, sequences of different lengths.
#pragma once

#include <tilewright/kernels/attention/attention_args.hpp>
#include <tilewright/ops/attention.hpp>

#include "call_key.hpp"

namespace tilewright::ops {

struct attention_view {
  element type{};
  int head_dim = 0, value_dim = 0;
};

/// Strides of (batch, rows, heads, dim), or of (rows, heads, dim).
attention_strides strides_of(const char* operation, const char* name, const tensor& t);

/// Refuses tensors whose lengths do not fit each other; fills args but for the gradients. With `pages` k and v are
/// pages of a cache.
attention_view view_attention(const char* operation, const tensor& o, const tensor& q, const tensor& k, const tensor& v,
                              const attention_options& options, bool pages, attention_args& args);

/// Adds all that a kernel of these arguments may depend on.
void add_to_key(call_key& key, const attention_view& view, const attention_args& args);

}  // namespace tilewright::ops
