// SPDX-License-Identifier: MIT
// The rows of attention_decode, and what a wave holds of them.
#pragma once

#include <tilewright/attention/attention_softmax.hpp>
#include <tilewright/attention/decode_tiles.hpp>

namespace tilewright::detail {

/// Where a block's rows are: the queries of the heads that share a key head, heads first.
struct decode_problem : attention_problem {  // its first_query: of the block's first row
  index_t group;                             // heads that share the key head
  index_t first_row, rows;                   // the block's first, and those of the whole problem

  TILEWRIGHT_HD index_t query_of(index_t row) const { return divide(first_row + row, group); }
  TILEWRIGHT_HD index_t head_of(index_t row) const {
    return kv_head * group + (first_row + row) - query_of(row) * group;
  }
};

template <class Policy, class Parts>
struct decode_outputs;
template <class Policy, index_t... Parts>
struct decode_outputs<Policy, sequence<Parts...>> {
  using type =
      tuple<static_distributed_tensor<float, typename decode_product_of<Policy, Policy::value_dim, Parts>::o>...>;
};

/// What a wave of attention_decode holds in registers: scores of 16 rows and 16 keys, and O.
template <class Policy>
  requires(requires { Policy::waves; })
struct attention_registers<Policy> {
  using scores = static_distributed_tensor<float, typename decode_product<Policy::op, 32>::s>;
  using outputs = typename decode_outputs<Policy, decode_parts<Policy::value_dim>>::type;
};

}  // namespace tilewright::detail
