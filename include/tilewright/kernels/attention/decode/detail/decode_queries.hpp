// SPDX-License-Identifier: MIT
// Q of attention_decode: rows of packed heads, as operand A.
#pragma once

#include <tilewright/kernels/attention/decode/detail/decode_operands.hpp>

namespace tilewright::detail {

/// A chunk of the block's rows of Q, as it is loaded; rows are queries times heads.
template <class Policy, index_t Chunk>
TILEWRIGHT_HD auto load_decode_queries(const attention_decode_args& args, const decode_problem& p) {
  using T = typename Policy::element_type;
  using product = decode_product_of<Policy, Policy::head_dim, Chunk>;
  constexpr number<decode_chunk_lengths<Policy, Policy::head_dim>[Chunk]> dim {};
  const T* const first = static_cast<const T*>(args.q) +
                         offset_of_head(args.q_strides, p.query_start, p.kv_head * p.group) +
                         decode_chunk_begin<Policy, Policy::head_dim, Chunk>;
  const auto heads = make_naive_tensor_view<address_space_enum::global>(
      first, make_tuple(p.queries, p.group, dim),
      make_tuple(args.q_strides.row, index_t(args.q_strides.head), number<1>{}), number<Policy::vector>{});
  const auto rows = transform_tensor_view(
      heads, make_tuple(make_merge_transform(make_tuple(p.queries, p.group)), make_pass_through_transform(dim)),
      make_tuple(sequence<0, 1>{}, sequence<2>{}), make_tuple(sequence<0>{}, sequence<1>{}));
  const auto window =
      make_tile_window(rows, make_tuple(number<decode_rows>{}, dim), {p.first_row, 0}, typename product::q_load{});
  return load_tile(window, in_bounds<1>{});
}

/// A wave's rows of Q: in registers, or in its own LDS where registers do not suffice.
template <class Policy, bool InLds, class Chunks>
struct decode_queries;
template <class Policy, bool InLds, index_t... Chunks>
struct decode_queries<Policy, InLds, sequence<Chunks...>> {
  using T = typename Policy::element_type;
  using key_type = decode_key_type<Policy>;
  template <index_t Chunk>
  using product = decode_product_of<Policy, Policy::head_dim, Chunk>;
  using rows = reduced_distribution<typename decode_step<Policy>::s, 1>;
  /// Whether rows are multiplied by powers of two that bring them into the range of half_t.
  static constexpr bool are_scaled = !__is_same(T, key_type);
  static constexpr index_t ld = Policy::head_dim + 8, lds_bytes = InLds ? decode_rows * ld * index_t(sizeof(T)) : 0;

  tuple<static_distributed_tensor<key_type, typename product<Chunks>::q>...> chunks;
  exec::lds_pointer lds;
  static_distributed_tensor<float, rows> scales;  // of S, where are_scaled

  TILEWRIGHT_HD decode_queries(const attention_decode_args& args, const decode_problem& p, exec::lds_pointer own)
      : lds(own) {
    if constexpr (are_scaled) {
      const auto loaded = make_tuple(load_decode_queries<Policy, Chunks>(args, p)...);
      set_tile(scales, 0x1p-100f);
      (find_largest(loaded.template get<Chunks>()), ...);
      (begin<Chunks>(scaled(loaded.template get<Chunks>())), ...);
      for (float& scale : scales.thread_buffer) scale = 0x1p-13f / reciprocal_power_of_two(scale);
    } else {
      (begin<Chunks>(load_decode_queries<Policy, Chunks>(args, p)), ...);
    }
    if (InLds) exec::wave_sync();
  }
  /// Of the products of Q as it is.
  template <class Scores>
  TILEWRIGHT_HD void multiply_scales(Scores& s) const {
    if constexpr (are_scaled)
      tile_elementwise_inout([](float& x, float scale) TILEWRIGHT_INLINE_LAMBDA { x *= scale; }, s, along<0>(scales));
  }
  template <index_t Chunk>
  TILEWRIGHT_HD auto get() const {
    if constexpr (InLds) {
      return relayout<key_type>(load_tile(window<Chunk>(exec::opaque(0))), typename product<Chunk>::q{});
    } else {
      return chunks.template get<Chunk>();
    }
  }

 private:
  /// Lanes have the same rows of Q and S.
  template <class Tile>
  TILEWRIGHT_HD void find_largest(const Tile& tile) {
    auto sizes = cast_tile<float>(tile);
    for (float& x : sizes.thread_buffer) x = exec::abs(x);
    const auto largest = row_reduce(sizes, max);
    static_assert(decltype(largest)::distribution_type::num_elements == rows::num_elements);
    for (index_t r = 0; r < rows::num_elements; ++r)
      scales.thread_buffer[r] = exec::max(scales.thread_buffer[r], largest.thread_buffer[r]);
  }
  /// Rows whose largest element is from 2^13 to 2^14: those below 2^-27 of it lose bits.
  template <class Tile>
  TILEWRIGHT_HD auto scaled(const Tile& tile) const {
    using distribution = typename Tile::distribution_type;
    static_distributed_tensor<float, reduced_distribution<distribution, 1>> factors;
    for (index_t r = 0; r < rows::num_elements; ++r)
      factors.thread_buffer[r] = 0x1p13f * reciprocal_power_of_two(scales.thread_buffer[r]);
    auto result = cast_tile<float>(tile);
    tile_elementwise_inout([](float& x, float factor) TILEWRIGHT_INLINE_LAMBDA { x *= factor; }, result,
                           along<0>(factors));
    return cast_tile<key_type>(result);
  }

  template <index_t Chunk>
  TILEWRIGHT_HD auto window(index_t offset) const {
    constexpr number<decode_chunk_lengths<Policy, Policy::head_dim>[Chunk]> dim {};
    constexpr number<decode_rows> row_count{};
    constexpr index_t begin = decode_chunk_begin<Policy, Policy::head_dim, Chunk> * index_t(sizeof(T));
    constexpr auto layout =
        make_naive_tensor_descriptor(make_tuple(row_count, dim), make_tuple(number<ld>{}, number<1>{}));
    const auto view = make_tensor_view<address_space_enum::lds, key_type>(lds + (offset + begin), layout);
    return make_tile_window(view, make_tuple(row_count, dim), {}, typename product<Chunk>::q_load{});
  }
  template <index_t Chunk, class Tile>
  TILEWRIGHT_HD void begin(const Tile& tile) {
    if constexpr (InLds) {
      if (is_first_replica<typename Tile::distribution_type>()) store_tile(window<Chunk>(0), tile);
    } else {
      chunks.template get<Chunk>() = relayout<key_type>(tile, typename product<Chunk>::q{});
    }
  }
};

}  // namespace tilewright::detail
