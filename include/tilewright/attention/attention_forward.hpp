// SPDX-License-Identifier: MIT
// Attention forward for matrix instructions with operands in registers: MFMA, WMMA, mma.sync.
#pragma once

#include <tilewright/attention/attention_check.hpp>
#include <tilewright/attention/attention_ping_pong.hpp>
#include <tilewright/attention/attention_softmax.hpp>
#include <tilewright/attention/key_value_stage.hpp>
#include <tilewright/gemm/gemm_args.hpp>

namespace tilewright {

namespace detail {

/// Bytes of LDS that Q needs.
template <class Policy>
inline constexpr index_t queries_lds_bytes =
    Policy::tile.queries_in_lds
        ? Policy::tile.queries * Policy::head_dim * index_t(sizeof(typename Policy::element_type))
        : 0;

/// One power-of-two part of the head dimension of a block's rows of Q.
template <class Policy, index_t Part>
struct query_part {
  using T = typename Policy::element_type;
  using product = attention_product<Policy, operand_major::k, Part>;
  static constexpr block_tile tile = product::tile;

  TILEWRIGHT_HD static constexpr auto lengths() { return make_tuple(number<tile.m>{}, number<tile.k>{}); }

  template <class Distribution>
  TILEWRIGHT_HD static auto load(const T* head, const attention_problem& p, index_t row_stride, Distribution) {
    const auto view = make_naive_tensor_view<address_space_enum::global>(
        head + product::first, make_tuple(p.queries, number<tile.k>{}), make_tuple(row_stride, number<1>{}),
        number<Policy::vector>{});
    return load_tile(make_tile_window(view, lengths(), {p.first_query, 0}, Distribution{}), known_inside<1>{});
  }
  template <class Distribution>
  TILEWRIGHT_HD static auto lds_window(exec::lds_pointer lds, Distribution) {
    constexpr tensor_descriptor<product::a_lds> layout{{}, tile.m * tile.k};
    constexpr index_t begin = product::first * tile.m * index_t(sizeof(T));
    return make_tile_window(make_tensor_view<address_space_enum::lds, T>(lds + begin, layout), lengths(), {},
                            Distribution{});
  }
  /// Operand A: a tile in registers, or a window in LDS, valid after the block's next barrier.
  TILEWRIGHT_HD static auto load_operand(const T* head, const attention_problem& p, index_t row_stride,
                                         [[maybe_unused]] exec::lds_pointer lds) {
    if constexpr (Policy::tile.queries_in_lds) {
      using copy = typename product::a_copy;
      store_tile(lds_window(lds, copy{}), load(head, p, row_stride, copy{}));
      return lds_window(lds, typename product::a_read{});
    } else {
      return load(head, p, row_stride, typename product::a{});
    }
  }
};

template <class Policy, index_t... Parts>
TILEWRIGHT_HD auto load_queries(const typename Policy::args_type& args, const attention_problem& p,
                                exec::lds_pointer lds, sequence<Parts...>) {
  const auto* const head =
      static_cast<const typename Policy::element_type*>(args.q) + offset_of_head(args.q_strides, p.query_start, p.head);
  return make_tuple(query_part<Policy, Parts>::load_operand(head, p, args.q_strides.row, lds)...);
}

/// Writes a block's rows of O, and their log-sum-exp where it is wanted.
template <class Policy, index_t... Parts>
TILEWRIGHT_HD void store_outputs(const attention_sums<Policy>& sums, const typename Policy::args_type& args,
                                 const attention_problem& p, sequence<Parts...>) {
  using T = typename Policy::result_type;
  constexpr auto global = address_space_enum::global;
  T* const head = static_cast<T*>(args.o) + offset_of_head(args.o_strides, p.query_start, p.head);
  const auto store = [&](auto part) TILEWRIGHT_INLINE_LAMBDA {
    using product = attention_product<Policy, operand_major::mn, part.value>;
    constexpr block_tile tile = product::tile;
    const auto view = make_naive_tensor_view<global>(head + product::first, make_tuple(p.queries, number<tile.n>{}),
                                                     make_tuple(args.o_strides.row, number<1>{}), number<8>{});
    store_tile(make_tile_window(view, make_tuple(number<tile.m>{}, number<tile.n>{}), {p.first_query, 0},
                                typename product::c{}),
               cast_tile<T>(sums.o.template get<part.value>()), known_inside<1>{});
  };
  (store(number<Parts>{}), ...);
  if (args.lse != nullptr) sums.store_log_sum_exp(args, p);
}

/// The probabilities of a step as operand A of the second product: in their lanes where the instruction allows it, else
/// through LDS.
template <class Policy>
struct probability_exchange {
  using T = typename Policy::element_type;
  using from = typename attention_product<Policy, operand_major::k, 0>::c;
  using to = typename attention_product<Policy, operand_major::mn, 0>::a;
  static constexpr attention_tile tile = Policy::tile;
  static constexpr bool stays_in_lanes = probabilities_stay_in_lanes<Policy>;
  static constexpr index_t lds_bytes = stays_in_lanes ? 0 : tile.queries * tile.keys * index_t(sizeof(T));

  exec::lds_pointer lds;

  TILEWRIGHT_HD auto operator()(const typename attention_registers<Policy>::scores& s) const {
    if constexpr (stays_in_lanes && sizeof(T) == 1) {
      static_distributed_tensor<T, from> p;
      TILEWRIGHT_UNROLL_ALL
      for (index_t d = 0; d < from::num_elements; d += 4) {
        const float* const x = s.thread_buffer.data() + d;
        const unsigned word = fp8_word_from_small_floats<T::format>(x[0], x[1], x[2], x[3]);
        __builtin_memcpy(p.thread_buffer.data() + d, &word, sizeof(word));
      }
      return relayout<T>(p, to{});
    } else if constexpr (stays_in_lanes) {
      return relayout<T>(s, to{});
    } else {
      constexpr lds_layout_choice choice = choose_lds_layout<typename Policy::arch>(
          lds_tile{tile.queries, tile.keys, sizeof(T)}, lds_use{from::encoding, lds_access_kind::write},
          lds_use{to::encoding, lds_access_kind::read});
      static_distributed_tensor<T, to> result;
      shuffle_tile(result, cast_tile<T>(s), lds, make_lds_descriptor<choice.layout>());
      return result;
    }
  }
};

}  // namespace detail

/// Each block computes Policy::tile.queries rows of O of one head. Q stays in registers; K and V pass through LDS, some
/// rows at a time, the next ones in flight while these are multiplied. Two barriers for each step.
template <class Policy>
struct attention_forward {
  using arch = typename Policy::arch;
  using args_type = typename Policy::args_type;
  using keys_stage = detail::key_value_stage<Policy, operand_major::k>;
  using values_stage = detail::key_value_stage<Policy, operand_major::mn>;
  using exchange_type = detail::probability_exchange<Policy>;
  static constexpr attention_tile tile = Policy::tile;
  static constexpr index_t block_size = detail::attention_product<Policy, operand_major::k, 0>::tile.block_size();
  static constexpr index_t values_begin = tile.stages() * keys_stage::bytes,
                           exchange_begin = values_begin + tile.stages() * values_stage::bytes;
  static constexpr index_t lds_bytes = exchange_begin + exchange_type::lds_bytes + detail::queries_lds_bytes<Policy>;
  static_assert(lds_bytes <= arch::value.lds_bytes,
                "attention: K and V of a step need more LDS than this target has; use fewer keys for each step");

  /// What this kernel cannot do with these arguments, as a sentence; nullptr when it can.
  static constexpr const char* check(const args_type& args) {
    return detail::check_attention(args, Policy::head_dim, Policy::value_dim, Policy::vector);
  }

  /// Blocks: x for rows of Q, y for heads, z for sequences.
  static constexpr grid_size grid(const args_type& args) {
    return {ceil_div(args.queries, tile.queries), args.heads, args.batch};
  }

  TILEWRIGHT_HD void operator()(const args_type& args) const {
    const exec::block_index block = exec::block_id();
    constexpr index_t rows = tile.queries;
    // Under a causal mask the last rows see most keys, so they start first.
    const index_t x = args.window.right < 0 ? block.x : ceil_div(args.queries, rows) - 1 - block.x;
    const detail::attention_problem p = detail::locate_attention(args, x * rows, block.y, block.z);
    if (p.first_query < p.queries) run(args, p);
  }

 private:
  TILEWRIGHT_HD void run(const args_type& args, const detail::attention_problem& p) const {
    constexpr index_t rows = tile.queries, step = tile.keys;
    const exec::lds_pointer lds = exec::lds_allocate<lds_bytes>();
    using T = typename Policy::element_type;
    keys_stage k(static_cast<const T*>(args.k) + detail::offset_of_head(args.k_strides, p.key_start, p.kv_head), p.keys,
                 args.k_strides.row, lds);
    values_stage v(static_cast<const T*>(args.v) + detail::offset_of_head(args.v_strides, p.key_start, p.kv_head),
                   p.keys, args.v_strides.row, lds + values_begin);
    const exchange_type exchange{lds + exchange_begin};
    const auto q = detail::load_queries<Policy>(args, p, lds + (lds_bytes - detail::queries_lds_bytes<Policy>),
                                                detail::attention_parts<Policy, operand_major::k>{});
    detail::attention_sums<Policy> sums;

    const detail::index_range all = p.seen_by_any(args.window, rows), unmasked = p.seen_by_all(args.window, rows);
    const index_t first = all.first & -step;
    k.start_at(first);
    v.start_at(first);
    const auto softmax = [&](auto& s, index_t key) TILEWRIGHT_INLINE_LAMBDA {
      sums.add_step(s, args, p, key, key < unmasked.first || key + step > unmasked.last,
                    [&](const auto& factors) TILEWRIGHT_INLINE_LAMBDA { sums.scale_outputs(factors); });
      return exchange(s);
    };
    if constexpr (tile.form == attention_form::ping_pong) {
      detail::attention_ping_pong<Policy>(k, v, ceil_div(all.last - first, step))
          .run(q, sums.o, [&](auto& s, index_t i) TILEWRIGHT_INLINE_LAMBDA { return softmax(s, first + i * step); });
    } else {
      if (first < all.last) k.begin();
      TILEWRIGHT_UNROLL(1)
      for (index_t key = first; key < all.last; key += step) {
        k.finish();
        exec::block_sync();
        v.begin();
        typename detail::attention_registers<Policy>::scores s{};
        k.multiply_keys(s, q);
        const auto probabilities = softmax(s, key);
        v.finish();
        exec::block_sync();
        if (key + step < all.last) [[likely]]
          k.begin();
        v.multiply_values(sums.o, probabilities);
      }
    }
    sums.finish(p.value_scale);
    detail::store_outputs<Policy>(sums, args, p, detail::attention_parts<Policy, operand_major::mn>{});
  }
};

}  // namespace tilewright
