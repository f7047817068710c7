// SPDX-License-Identifier: MIT
// Rows of tokens to the experts' positions, and weighted sums back to the tokens.
#pragma once

#include <tilewright/block/rows/row_block.hpp>

namespace tilewright {

/// Rows of tokens (x), each with `choices` entries, and rows at positions (y), as order_by_expert gives them. Strides
/// in elements.
template <class T>
struct expert_rows_args {
  const T* x = nullptr;                       ///< what is read: scatter's tokens, combine's positions
  T* y = nullptr;                             ///< what is written: scatter's positions, combine's tokens
  const index_t* position = nullptr;          ///< of entries, tokens x choices
  const float* weight = nullptr;              ///< of entries, tokens x choices; optional: 1
  index_t tokens = 0, choices = 0, cols = 0;  ///< tokens, entries of each, and elements of a row
  long_index_t x_stride = 0, y_stride = 0;    ///< from row to row
  const T* bias = nullptr;                    ///< combine, optional: (experts, cols), added to rows before the weight
  const index_t* expert = nullptr;            ///< of entries, with a bias or factor
  long_index_t bias_stride = 0;               ///< from an expert's bias to the next one's
  const float* factor = nullptr;              ///< combine, optional: (experts), of rows before the bias
};

/// scatter: y[position[e]] = weight[e] x[t] for the entries e of token t. Positions that no entry has are not written.
/// combine: y[t] = sum of weight[e] (factor[expert[e]] x[position[e]] + bias[expert[e]]) over the entries e of token t,
/// in order. Entries with position -1 are left out. Each is the other's gradient with respect to x.
enum class expert_rows_kind : signed char { scatter, combine };

/// The tile that was fastest on an H100 for aligned rows, or one for rows of any alignment.
constexpr row_tile choose_expert_rows_tile(index_t element_bytes, index_t cols, bool is_aligned,
                                           expert_rows_kind kind) {
  if (!is_aligned) return {.threads = 256, .threads_per_row = 256, .vectors = 4, .vector = 1};
  const index_t vector = 16 / element_bytes, vectors = ceil_div(cols, vector);
  if (vectors <= 128) return {.threads = 128, .threads_per_row = 128, .vectors = 1, .vector = vector};
  if (vectors <= 256) return {.threads = 256, .threads_per_row = 256, .vectors = 1, .vector = vector};
  const index_t threads = kind == expert_rows_kind::scatter ? 512 : 256;
  return {.threads = threads, .threads_per_row = threads, .vectors = 512 / threads, .vector = vector};
}

/// A block takes one token, or a segment of its row where tokens are few; all its threads share it.
template <class Arch, class T, row_tile Tile, expert_rows_kind Kind>
struct expert_rows {
  using arch = Arch;
  using args_type = expert_rows_args<T>;
  using block = detail::row_block<Arch, Tile>;
  static_assert(Tile.rows() == 1, "expert_rows: all threads of a block share a row: threads == threads_per_row");
  static constexpr bool scatters = Kind == expert_rows_kind::scatter;  ///< Kind, as a condition
  static constexpr index_t at_once = scatters ? 1 : 4;                 ///< rows in flight
  static constexpr index_t block_size = Tile.threads, lds_bytes = 0;
  static constexpr bool overlaps_previous = detail::overlaps_previous_v<Arch>;

  /// What this kernel, or the same with another tile, cannot do with these arguments, as an error message; nullptr:
  /// it can.
  static constexpr const char* check(const args_type& args, const row_tile& tile = Tile) {
    if (args.tokens < 1 || args.choices < 1 || args.cols < 1) return "tokens, choices and cols must be positive";
    const long_index_t entries = long_index_t{args.tokens} * args.choices;
    if (entries > 0x7fffffff - 65536) return "tokens x choices is too close to 2^31";
    const detail::row_matrix x{args.x, scatters ? args.tokens : entries, args.cols, args.x_stride, sizeof(T)};
    const detail::row_matrix y{args.y, scatters ? entries : args.tokens, args.cols, args.y_stride, sizeof(T)};
    if (const char* why = detail::check_matrix(x, tile.vector, 1)) return why;
    if (const char* why = detail::check_matrix(y, tile.vector, 1)) return why;
    if (!args.position) return "a pointer is null: position";
    if (args.bias && (scatters || !args.expert || args.bias_stride < args.cols))
      return "a bias is combine's, and needs expert and a stride of cols or more";
    if (args.factor && (scatters || !args.expert)) return "a factor is combine's, and needs expert";
    if (args.bias &&
        (!detail::is_aligned(args.bias, tile.vector * index_t(sizeof(T))) || args.bias_stride % tile.vector != 0))
      return detail::needs_vectors;
    const detail::row_matrix matrices[] = {y, x, detail::row_array(args.position, entries),
                                           detail::row_array(args.weight, entries)};
    return detail::check_results(matrices, 1);
  }
  /// Blocks that share a row: one for each of its segments until there are as many as a large GPU has processors.
  TILEWRIGHT_HD static constexpr index_t blocks_of_row(const args_type& args, const row_tile& tile = Tile) {
    constexpr index_t most_tokens = 64;
    return args.tokens > most_tokens ? 1 : ceil_div(args.cols, tile.cols());
  }
  static constexpr exec::block_index grid(const args_type& args, const row_tile& tile = Tile) {
    return {args.tokens, blocks_of_row(args, tile), 1};
  }

  TILEWRIGHT_HD void operator()(const args_type& args) const {
    detail::overlap_kernels();
    const index_t token = exec::block_id().x;
    const auto load = [&](index_t row, index_t first) TILEWRIGHT_INLINE_LAMBDA {  // zeros for row -1
      return block(0, row >= 0, args.cols).load(args.x + row * args.x_stride, args.x_stride, first);
    };
    const auto store = [&](index_t row, index_t first, const auto& tile) TILEWRIGHT_INLINE_LAMBDA {
      block(0, row >= 0, args.cols).store(args.y + row * args.y_stride, args.y_stride, first, tile);
    };
    const index_t* const positions = args.position + long_index_t{token} * args.choices;
    const float* const weights = args.weight + (args.weight ? long_index_t{token} * args.choices : 0);
    const index_t step = blocks_of_row(args) * block::segment_cols;
    for (index_t first = exec::block_id().y * block::segment_cols; first < args.cols; first += step) {
      const auto x = load(scatters ? token : -1, first);
      typename block::template segment<float> sum{};
      TILEWRIGHT_UNROLL(1)
      for (index_t next = 0; next < args.choices; next += at_once) {
        TILEWRIGHT_UNROLL_ALL
        for (index_t choice = next; choice < next + at_once; ++choice) {
          const index_t position = choice < args.choices ? positions[choice] : -1;
          const float weight = args.weight && position >= 0 ? weights[choice] : 1.0f;
          if constexpr (scatters) {
            store(position, first, tile_elementwise_in([&](float a) { return a * weight; }, block::to_float(x)));
          } else {
            auto row = block::to_float(load(position, first));
            const index_t expert = (args.bias || args.factor) && position >= 0
                                       ? args.expert[long_index_t{token} * args.choices + choice]
                                       : 0;
            if (args.factor && position >= 0) {
              const float factor = args.factor[expert];
              tile_elementwise_inout([&](float& a) { a *= factor; }, row);
            }
            if (args.bias && position >= 0) {
              const T* const bias = args.bias + expert * args.bias_stride;
              detail::add_to(row, block::to_float(block(0, 1, args.cols).load(bias, args.bias_stride, first)));
            }
            tile_elementwise_inout([&](float& s, float a) { s += weight * a; }, sum, row);
          }
        }
      }
      if constexpr (!scatters) store(token, first, sum);
    }
  }
};

}  // namespace tilewright
