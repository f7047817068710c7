// SPDX-License-Identifier: MIT
// Operand A of attention's products, in registers or LDS: a block's own rows, and P; and rows of results.
#pragma once

#include <tilewright/core/base/block_index.hpp>
#include <tilewright/core/base/fp8.hpp>
#include <tilewright/kernels/attention/attention_args.hpp>
#include <tilewright/kernels/attention/attention_policy.hpp>
#include <tilewright/tile/copy/load_store.hpp>
#include <tilewright/tile/copy/shuffle_tile.hpp>

namespace tilewright::detail {

/// Bytes of LDS that a block's rows of Q need.
template <class Policy>
inline constexpr index_t queries_lds_bytes =
    Policy::tile.queries_in_lds
        ? Policy::tile.queries * Policy::head_dim * index_t(sizeof(typename Policy::element_type))
        : 0;

/// One power-of-two part of the head dimension of a block's rows, as operand A.
template <class Policy, index_t Chunk>
struct own_rows {
  using T = typename Policy::element_type;
  using product = attention_product<Policy, operand_major::k, Chunk>;
  static constexpr block_tile tile = product::tile;

  TILEWRIGHT_HD static constexpr auto lengths() { return make_tuple(number<tile.m>{}, number<tile.k>{}); }

  template <class Distribution>
  TILEWRIGHT_HD static auto load(const head_rows<const T>& rows, index_t first, Distribution) {
    const auto view = make_naive_tensor_view<address_space_enum::global>(
        rows.data + product::first, make_tuple(rows.count, number<tile.k>{}), make_tuple(rows.stride, number<1>{}),
        number<Policy::vector>{});
    return load_tile(make_tile_window(view, lengths(), {first, 0}, Distribution{}), in_bounds<1>{});
  }
  template <class Distribution>
  TILEWRIGHT_HD static auto lds_window(exec::lds_pointer lds, Distribution) {
    constexpr tensor_descriptor<product::a_lds> layout{{}, tile.m * tile.k};
    constexpr index_t begin = product::first * tile.m * index_t(sizeof(T));
    return make_tile_window(make_tensor_view<address_space_enum::lds, T>(lds + begin, layout), lengths(), {},
                            Distribution{});
  }
  /// A tile in registers, or a window in LDS, valid after the block's next barrier.
  TILEWRIGHT_HD static auto load_operand(const head_rows<const T>& rows, index_t first,
                                         [[maybe_unused]] exec::lds_pointer lds) {
    if constexpr (Policy::tile.queries_in_lds) {
      using copy = typename product::a_copy;
      store_tile(lds_window(lds, copy{}), load(rows, first, copy{}));
      return lds_window(lds, typename product::a_read{});
    } else {
      return load(rows, first, typename product::a{});
    }
  }
};

/// Operand A of all parts: the block's rows from `first` on; rows past the last are zeros.
template <class Policy, index_t... Chunks>
TILEWRIGHT_HD auto load_rows(const head_rows<const typename Policy::element_type>& rows, index_t first,
                             exec::lds_pointer lds, sequence<Chunks...>) {
  return make_tuple(own_rows<Policy, Chunks>::load_operand(rows, first, lds)...);
}

/// Writes all parts of a result, times `factor`, to the rows from `first` on.
template <class Policy, class T, class Tiles, index_t... Chunks>
TILEWRIGHT_HD void store_rows(const head_rows<T>& rows, index_t first, const Tiles& tiles, float factor,
                              sequence<Chunks...>) {
  const auto store = [&](auto chunk) TILEWRIGHT_INLINE_LAMBDA {
    using product = attention_product<Policy, operand_major::mn, chunk.value>;
    constexpr block_tile tile = product::tile;
    const auto view = make_naive_tensor_view<address_space_enum::global>(
        rows.data + product::first, make_tuple(rows.count, number<tile.n>{}), make_tuple(rows.stride, number<1>{}),
        number<8>{});
    const auto scaled = tile_elementwise_in([&](float x) TILEWRIGHT_INLINE_LAMBDA { return x * factor; },
                                            tiles.template get<chunk.value>());
    store_tile(
        make_tile_window(view, make_tuple(number<tile.m>{}, number<tile.n>{}), {first, 0}, typename product::c{}),
        cast_tile<T>(scaled), in_bounds<1>{});
  };
  (store(number<Chunks>{}), ...);
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

}  // namespace tilewright::detail
