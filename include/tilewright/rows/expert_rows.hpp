// SPDX-License-Identifier: MIT
// Rows of tokens to the experts' places, and weighted sums back to the tokens.
#pragma once

#include <tilewright/rows/row_block.hpp>

namespace tilewright {

/// Rows of tokens (x), each with `choices` entries, and rows at places (y), as order_by_expert gives them. Strides in
/// elements.
template <class T>
struct expert_rows_args {
  const T* x = nullptr;            // what is read: of scatter_rows the tokens, of combine_rows the places
  T* y = nullptr;                  // what is written: of scatter_rows the places, of combine_rows the tokens
  const index_t* index = nullptr;  // of scatter_rows `source`, of combine_rows `place`: tokens x choices
  const float* weight = nullptr;   // of entries, tokens x choices; optional: 1
  index_t tokens = 0, choices = 0, cols = 0;
  long_index_t x_stride = 0, y_stride = 0;
};

/// scatter: y[p] = weight[e] x[e / choices] for e = source[p]; places with source -1 are not written.
/// combine: y[t] = sum of weight[e] x[place[e]] over the entries e of token t, in order; places of -1 count as zeros.
/// Each is the other's gradient with respect to x.
enum class expert_rows_kind : signed char { scatter, combine };

/// A block writes one row: all its threads share it.
template <class Arch, class T, row_tile Tile, expert_rows_kind Kind>
struct expert_rows {
  using arch = Arch;
  using args_type = expert_rows_args<T>;
  using block = detail::row_block<Arch, Tile>;
  static_assert(Tile.rows() == 1, "expert_rows: all threads of a block share a row: threads == threads_per_row");
  static constexpr bool scatters = Kind == expert_rows_kind::scatter;
  static constexpr index_t block_size = Tile.threads, lds_bytes = 0;

  /// What this kernel cannot do with these arguments, as a sentence; nullptr when it can.
  static constexpr const char* check(const args_type& args) {
    if (args.tokens < 1 || args.choices < 1 || args.cols < 1) return "tokens, choices and cols must be positive";
    const long_index_t entries = long_index_t{args.tokens} * args.choices;
    if (entries > 0x7fffffff - 65536) return "tokens x choices is too close to 2^31";
    const detail::row_matrix x{args.x, scatters ? args.tokens : entries, args.cols, args.x_stride, sizeof(T)};
    const detail::row_matrix y{args.y, scatters ? entries : args.tokens, args.cols, args.y_stride, sizeof(T)};
    if (const char* why = detail::check_matrix(x, Tile.vector, 1)) return why;
    if (const char* why = detail::check_matrix(y, Tile.vector, 1)) return why;
    if (!args.index) return "a pointer is null: index";
    if (detail::overlap(x, y)) return "the result overlaps the input";
    return nullptr;
  }
  static constexpr exec::block_index grid(const args_type& args) {
    return {args.tokens * (scatters ? args.choices : 1), 1, 1};
  }

  TILEWRIGHT_HD void operator()(const args_type& args) const {
    const index_t row = exec::block_id().x;
    const block rows(0, 1, args.cols);
    T* const y = args.y + row * args.y_stride;
    if constexpr (scatters) {
      const index_t entry = args.index[row];
      if (entry < 0) return;
      const T* const x = args.x + long_index_t(unsigned(entry) / unsigned(args.choices)) * args.x_stride;
      const float weight = args.weight ? args.weight[entry] : 1.0f;
      const auto load = [&](index_t first) TILEWRIGHT_INLINE_LAMBDA { return rows.load(x, args.x_stride, first); };
      auto part = load(0);
      rows.forward(part, load, [&](auto& e, index_t first) TILEWRIGHT_INLINE_LAMBDA {
        if (args.weight) e = cast_tile<T>(tile_elementwise_in([&](T a) { return float(a) * weight; }, e));
        rows.store(y, args.y_stride, first, e);
      });
    } else {
      for (index_t first = 0; first < args.cols; first += block::part_cols) {
        typename block::template part<float> sum{};
        TILEWRIGHT_UNROLL(2)
        for (index_t choice = 0; choice < args.choices; ++choice) {
          const long_index_t entry = long_index_t{row} * args.choices + choice;
          const index_t place = args.index[entry];
          if (place < 0) continue;
          const float weight = args.weight ? args.weight[entry] : 1.0f;
          tile_elementwise_inout([&](float& s, T a) { s += weight * float(a); }, sum,
                                 rows.load(args.x + place * args.x_stride, args.x_stride, first));
        }
        rows.store(y, args.y_stride, first, cast_tile<T>(sum));
      }
    }
  }
};

}  // namespace tilewright
