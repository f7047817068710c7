// SPDX-License-Identifier: MIT
// The running softmax of one wave of attention_decode: 16 rows, 16 keys at a time.
#pragma once

#include <tilewright/attention/attention_problem.hpp>
#include <tilewright/attention/decode_tiles.hpp>
#include <tilewright/tile/reduce_tile.hpp>

namespace tilewright::detail {

/// Where a block's rows are: the queries of the heads that share a key head, heads first.
struct decode_problem {
  attention_problem of_keys;  // its first_query: of the block's first row
  index_t group;              // heads that share the key head
  index_t first_row, rows;    // the block's first, and those of the whole problem

  TILEWRIGHT_HD index_t query_of(index_t row) const { return divide(first_row + row, group); }
  TILEWRIGHT_HD index_t head_of(index_t row) const {
    return of_keys.kv_head * group + (first_row + row) - query_of(row) * group;
  }
};

template <class Policy, class Parts>
struct decode_outputs;
template <class Policy, index_t... Parts>
struct decode_outputs<Policy, sequence<Parts...>> {
  using type =
      tuple<static_distributed_tensor<float, typename decode_product_of<Policy, Policy::value_dim, Parts>::o>...>;
};

/// Offset and sum of the exponentials of each row, and O before the division by the sum.
template <class Policy>
struct decode_sums {
  using distribution = typename decode_product<Policy::op, 32>::s;
  using scores = static_distributed_tensor<float, distribution>;
  using row_values = decltype(row_reduce(scores{}, max));
  using rows = typename row_values::distribution_type;

  row_values offset, sum{};
  typename decode_outputs<Policy, decode_parts<Policy::value_dim>>::type o{};

  TILEWRIGHT_HD decode_sums() {
    set_tile(offset, -1e30f);  // finite: exponents of keys that are not seen stay -infinity
  }

  template <class F>
  TILEWRIGHT_HD void for_each_output(F f) {
    [&]<index_t... Parts>(sequence<Parts...>)
        TILEWRIGHT_INLINE_LAMBDA { (f(o.template get<Parts>()), ...); }(decode_parts<Policy::value_dim>{});
  }

  /// Applies the user's function, and makes scores of keys that a row does not see -infinity; the first key is `key`.
  template <class Args>
  TILEWRIGHT_HD static void adjust(scores& s, const Args& args, const decode_problem& p, index_t key, bool is_masked) {
    if (!has_score_function<Policy> && !is_masked) return;
    auto own = distribution::calculate_index(get_partition_index<distribution>());
    // Few steps are masked: what a row needs for that is computed there, and occupies no registers elsewhere.
    if constexpr (!has_score_function<Policy>) own[0] = exec::forget_origin(own[0]);
    unroll<distribution::num_elements>([&](auto d) TILEWRIGHT_INLINE_LAMBDA {
      constexpr auto at = position_of_register<distribution, d.value>;
      const index_t row = own[0] + constant(at[0]), column = key + own[1] + constant(at[1]);
      const index_t query = p.query_of(row);
      float& x = s.thread_buffer[d];
      if constexpr (has_score_function<Policy>) {
        const typename Policy::score_function f{};
        x = f(x * args.scale, score_position{p.of_keys.batch, p.head_of(row), query, column}, args);
      }
      // One comparison: of two in a row clang 22 loses what follows the second one for gfx9.
      const index_t first = p.of_keys.first_key(args.window, query), last = p.of_keys.last_key(args.window, query);
      if (is_masked && unsigned(column - first) >= unsigned(max(0, last - first))) x = bit_cast<float>(0xff800000u);
    });
  }

  /// Turns scores into exponentials of their distance to the row's offset, and adds them up.
  template <class Args>
  TILEWRIGHT_HD void add_step(scores& s, const Args& args, const decode_problem& p, index_t key, bool is_masked) {
    adjust(s, args, p, key, is_masked);
    const float scale = has_score_function<Policy> ? log2_e : args.scale * log2_e;
    auto top = reduce_registers<float>(s, max, sequence<1>{});
    bool is_above = false;
    unroll<rows::num_elements>(
        [&](auto r) TILEWRIGHT_INLINE_LAMBDA { is_above |= top.thread_buffer[r] * scale > offset.thread_buffer[r]; });
    if (exec::any(is_above)) raise_offsets(top, scale);
    tile_elementwise_inout([&](float& x, float by) TILEWRIGHT_INLINE_LAMBDA { x = exec::exp2(x * scale - by); }, s,
                           along<0>(offset));
    const auto own_sum = reduce_registers<float>(s, plus, sequence<1>{});
    tile_elementwise_inout([](float& to, float x) { to += x; }, sum, own_sum);
  }

  /// The largest scores become the offsets; what was summed up before is brought to them.
  TILEWRIGHT_HD void raise_offsets(row_values& top, float scale) {
    reduce_lanes<distribution::encoding.r.size()>(top, max);
    const row_values before = offset;
    tile_elementwise_inout([&](float& to, float x) TILEWRIGHT_INLINE_LAMBDA { to = exec::max(to, x * scale); }, offset,
                           top);
    const auto factor = tile_elementwise_in([](float from, float to) { return exec::exp2(from - to); }, before, offset);
    tile_elementwise_inout([](float& x, float f) { x *= f; }, sum, factor);
    for_each_output([&](auto& part) TILEWRIGHT_INLINE_LAMBDA {
      tile_elementwise_inout([](float& x, float f) { x *= f; }, part, along<0>(factor));
    });
  }

  /// Adds up what the wave's lanes have of each row.
  TILEWRIGHT_HD void finish() { reduce_lanes<distribution::encoding.r.size()>(sum, plus); }
};

}  // namespace tilewright::detail
