// SPDX-License-Identifier: MIT
// Rotary embedding of queries and keys.
#pragma once

#include <tilewright/block/rows/row_cluster.hpp>
#include <tilewright/core/base/types.hpp>
#include <tilewright/launch/check_rows.hpp>
#include <tilewright/machine/exec/exec.hpp>

namespace tilewright {

/// Pairs (a, b) of each head become (a cos - b sin, b cos + a sin). Strides in elements; the elements of a head are
/// contiguous. y may be x.
template <class T>
struct rotary_args {
  const T* x = nullptr;                        ///< input: (tokens, heads, head dimension)
  T* y = nullptr;                              ///< result, of the same shape
  const float *cos = nullptr, *sin = nullptr;  ///< max_position rows of `pairs` floats
  /// Of each token, optional; else token modulo max_position. Outside of the table the token's result is 0.
  const index_t* position = nullptr;
  index_t tokens = 0, heads = 0;  ///< of x and y
  index_t pairs = 0;              ///< of a head; elements from 2 pairs on are neither read nor written
  index_t max_position = 0;       ///< rows of the tables
  /// From token to token, and from head to head.
  long_index_t x_token_stride = 0, x_head_stride = 0, y_token_stride = 0, y_head_stride = 0;
  bool is_inverse = false;  ///< rotates back: the gradient
};

/// half_split: element i with i + pairs; interleaved: element 2 i with 2 i + 1.
enum class rotary_kind : signed char { half_split, interleaved };

/// Each thread rotates Vector pairs: 2 vectors of x.
template <class Arch, class T, rotary_kind Kind = rotary_kind::half_split, index_t Vector = 16 / index_t(sizeof(T))>
struct rotary {
  using arch = Arch;
  using args_type = rotary_args<T>;
  static constexpr index_t block_size = 256, lds_bytes = 0;
  static constexpr bool overlaps_previous = detail::overlaps_previous_v<Arch>;
  static constexpr bool is_split = Kind == rotary_kind::half_split;  ///< Kind, as a condition
  static_assert(Vector == 1 || Vector * sizeof(T) == 16, "rotary: vectors have 16 bytes or one element");

  static constexpr const char* check(const args_type& args) {
    if (args.pairs < 1 || args.heads < 1 || args.tokens < 1 || args.max_position < 1)
      return "tokens, heads, pairs and max_position must be positive";
    if (args.pairs > 0x3fffffff) return "pairs is too large";
    if (long_index_t{args.tokens} * args.heads * (args.pairs / Vector) > 0x7fffffff - block_size)
      return "there are more than 2^31 vectors: split the tokens";
    const detail::row_matrix x = heads_of(args, args.x, args.x_token_stride, args.x_head_stride);
    const detail::row_matrix y = heads_of(args, args.y, args.y_token_stride, args.y_head_stride);
    const detail::row_matrix matrices[] = {x, y};
    for (const detail::row_matrix& m : matrices) {
      if (const char* why = detail::check_matrix(m, Vector, 1)) return why;
    }
    if (args.pairs % Vector != 0) return "pairs must be a multiple of the vector; a vector of 1 takes any";
    if (!args.cos || !args.sin) return "a pointer is null: cos or sin";
    const float* const tables[] = {args.cos, args.sin};
    for (const float* table : tables) {
      if (!detail::is_aligned(table, Vector > 1 ? 16 : 4))
        return "cos and sin must be aligned to 16 bytes; a vector of 1 takes any";
      const detail::row_matrix read{table, args.max_position, args.pairs, args.pairs, 4};
      if (detail::overlap(read, y)) return "the memory from the result's first element to its last overlaps cos or sin";
    }
    if (detail::aliases_partially(y, x) || (detail::overlap(x, y) && x.batch_stride != y.batch_stride))
      return "the memory from the result's first element to its last overlaps the input's, but the result is not the "
             "input";
    return nullptr;
  }
  static constexpr exec::block_index grid(const args_type& args) {
    return {ceil_div(args.tokens * args.heads * (args.pairs / Vector), block_size), 1, 1};
  }

  TILEWRIGHT_HD void operator()(const args_type& args) const {
    detail::overlap_kernels();
    using vector = array<T, Vector>;
    const unsigned across = unsigned(args.pairs / Vector), heads = unsigned(args.heads);
    const unsigned item = unsigned(exec::block_id().x) * unsigned(block_size) + unsigned(exec::thread_id());
    const unsigned row = item / across, token = row / heads;
    if (token >= unsigned(args.tokens)) return;
    const long_index_t vector_of_head = item - row * across, head = row - token * heads;
    // The thread's vectors are `pairs` elements apart, so that lanes access memory next to each other; single elements
    // are the two of a pair.
    constexpr bool are_apart = is_split || Vector > 1;
    const long_index_t first = vector_of_head * Vector * (are_apart ? 1 : 2);
    const exec::global_buffer x = exec::make_global_buffer(args.x, everything),
                              y = exec::make_global_buffer(args.y, everything);
    const auto place = [&](long_index_t token_stride, long_index_t head_stride) TILEWRIGHT_INLINE_LAMBDA {
      return (long_index_t(token) * token_stride + head * head_stride + first) * long_index_t(sizeof(T));
    };
    const long_index_t second = long_index_t(are_apart ? args.pairs : 1) * long_index_t(sizeof(T));
    const long_index_t from = place(args.x_token_stride, args.x_head_stride);
    const vector low = exec::buffer_load<vector>(x, from), high = exec::buffer_load<vector>(x, from + second);
    const index_t position =
        args.position ? exec::buffer_load<index_t>(
                            exec::make_global_buffer(args.position, long_index_t{args.tokens} * 4), index_t(token) * 4)
                      : index_t(token % unsigned(args.max_position));
    // Which pairs they hold: half_split the same Vector pairs, interleaved Vector / 2 each.
    const long_index_t pair = is_split || Vector == 1 ? vector_of_head * Vector : vector_of_head * half;
    const long_index_t later_pair = is_split || Vector == 1 ? pair + half : pair + args.pairs / 2;
    const auto cos = load_table(args, args.cos, position, pair, later_pair);
    const auto sin = load_table(args, args.sin, position, pair, later_pair);
    array<T, 2 * Vector> in;
    array<float, 2 * Vector> out;
    __builtin_memcpy(&in, &low, sizeof(low));
    __builtin_memcpy(in.elements + Vector, &high, sizeof(high));
    TILEWRIGHT_UNROLL_ALL
    for (index_t i = 0; i < Vector; ++i) {
      const index_t at = is_split ? i : 2 * i, other = is_split ? i + Vector : 2 * i + 1;
      const float a = float(in[at]), b = float(in[other]), s = args.is_inverse ? -sin[i] : sin[i];
      out[at] = a * cos[i] - b * s;
      out[other] = b * cos[i] + a * s;
    }
    const long_index_t to = place(args.y_token_stride, args.y_head_stride);
    array<T, 2 * Vector> result;
    TILEWRIGHT_UNROLL_ALL
    for (index_t i = 0; i < 2 * Vector; i += 2) {
      if constexpr (sizeof(T) == 2) {  // two at a time, where machines have an instruction for that
        const array<T, 2> converted = convert_pair<T>(out[i], out[i + 1]);
        result[i] = converted[0], result[i + 1] = converted[1];
      } else {
        result[i] = T(out[i]), result[i + 1] = T(out[i + 1]);
      }
    }
    vector partials[2];
    __builtin_memcpy(&partials, &result, sizeof(partials));
    exec::buffer_store(y, to, partials[0]);
    exec::buffer_store(y, to + second, partials[1]);
  }

 private:
  static constexpr long_index_t everything = long_index_t{1} << 62;  // check() has looked at the lengths

  /// The heads as rows, the tokens as matrices of a batch, or the other way round, whichever stride is larger.
  template <class E>
  static constexpr detail::row_matrix heads_of(const args_type& args, E* data, long_index_t token_stride,
                                               long_index_t head_stride) {
    const bool by_token = token_stride >= head_stride;
    return {data,
            by_token ? args.heads : args.tokens,
            2 * args.pairs,
            by_token ? head_stride : token_stride,
            sizeof(E),
            by_token ? args.tokens : args.heads,
            by_token ? token_stride : head_stride};
  }
  static constexpr index_t half = max(Vector / 2, 1);
  /// Half of the thread's pairs from `pair` on, half from later_pair on.
  TILEWRIGHT_HD static array<float, Vector> load_table(const args_type& args, const float* table, index_t position,
                                                       long_index_t pair, long_index_t later_pair) {
    const exec::global_buffer buffer =
        exec::make_global_buffer(table, long_index_t{args.max_position} * args.pairs * 4);
    array<float, Vector> result;
    TILEWRIGHT_UNROLL_ALL
    for (index_t i = 0; i < Vector; i += half) {
      const long_index_t from = long_index_t{position} * args.pairs + (i == 0 ? pair : later_pair);
      const auto values = exec::buffer_load<array<float, half>>(buffer, from * 4);
      __builtin_memcpy(result.elements + i, &values, sizeof(values));
    }
    return result;
  }
};

}  // namespace tilewright
