// SPDX-License-Identifier: MIT
// Routing of tokens to experts: the k largest logits of each token, with softmax weights.
#pragma once

#include <tilewright/rows/row_column.hpp>
#include <tilewright/rows/row_exponents.hpp>

namespace tilewright {

/// For each token the `choices` experts with the largest logits, in descending order, the first of equal ones first.
template <class T>
struct choose_experts_args {
  const T* x = nullptr;       // logits: tokens rows of experts elements
  index_t* expert = nullptr;  // tokens x choices
  float* weight = nullptr;    // tokens x choices
  index_t tokens = 0, experts = 0, choices = 0;
  long_index_t x_stride = 0;  // in elements
  bool is_normalised = true;  // weights of a token add up to 1: softmax of the chosen logits; else of all logits
};

/// A good tile for rows of up to `experts` logits: few lanes with many logits each. `vector`: elements of an access, as
/// for choose_row_tile.
TILEWRIGHT_HD constexpr row_tile choose_expert_tile(index_t experts, index_t vector) {
  row_tile tile{.threads = 256, .threads_per_row = 2, .vectors = 1, .vector = vector};
  const auto most = [&](index_t lanes) { return lanes * (lanes < 8 ? 4 : 8) * max(4, vector); };
  while (tile.threads_per_row < 32 && experts > most(tile.threads_per_row)) tile.threads_per_row *= 2;
  tile.vectors = ceil_div(experts, tile.cols());
  return tile;
}

/// Tile: the lanes of one wave share a row, and hold all experts. A logit that
/// is NaN is chosen last, as expert -1 with weight 0.
template <class Arch, class T, row_tile Tile>
struct choose_experts {
  using arch = Arch;
  using args_type = choose_experts_args<T>;
  using block = detail::row_block<Arch, Tile>;
  static_assert(block::waves_per_row == 1,
                "choose_experts: the lanes of one wave share a row; give the threads more vectors for more experts");
  static constexpr index_t block_size = Tile.threads, lds_bytes = 0, elements = block::distribution::num_elements;
  static constexpr index_t blocks_at_once = max(1, (elements <= 32 ? 1024 : 512) / block_size);
  static constexpr bool overlaps_previous = detail::overlaps_previous_v<Arch>;

  /// What this kernel cannot do with these arguments, as a sentence; nullptr when it can.
  static constexpr const char* check(const args_type& args) {
    const detail::row_matrix x{args.x, args.tokens, args.experts, args.x_stride, sizeof(T)};
    if (const char* why = detail::check_matrix(x, Tile.vector, Tile.rows())) return why;
    if (args.experts > Tile.cols()) return "there are more experts than the tile holds: use a tile with more vectors";
    if (args.choices < 1 || args.choices > args.experts) return "choices must be positive, and at most the experts";
    if (!args.expert || !args.weight) return "a pointer is null: expert or weight";
    const long_index_t n = long_index_t{args.tokens} * args.choices;
    if (n > 0x7fffffff / 4) return "there are more than 2^29 choices";
    const detail::row_matrix matrices[] = {detail::row_array(args.expert, n), detail::row_array(args.weight, n), x};
    return detail::check_results(matrices, 2);
  }
  static constexpr exec::block_index grid(const args_type& args) { return {ceil_div(args.tokens, Tile.rows()), 1, 1}; }

  TILEWRIGHT_HD void operator()(const args_type& args) const {
    detail::overlap_kernels();
    const block rows(exec::block_id().x * Tile.rows(), args.tokens, args.experts);
    const auto load = [&]() TILEWRIGHT_INLINE_LAMBDA { return block::to_float(rows.load(args.x, args.x_stride, 0)); };
    auto logits = load();
    detail::row_exponents<block> exponents;
    if (!args.is_normalised) {
      auto copy = logits;
      exponents.add(rows, copy, 0);
      exponents.finish({});
    }
    row_keys keys{rows, logits};
    write(args, rows, exponents, keys);
    if (is_exact || !exec::any(keys.closest <= column_mask)) return;
    logits = load();
    unsigned bits = 0;  // equal keys with no bits left are of equal logits
    TILEWRIGHT_UNROLL_ALL
    for (index_t d = 0; d < elements; ++d) bits |= bit_cast<unsigned>(logits.thread_buffer[d]) & column_mask;
    if (!exec::any(bits != 0)) return;
    exact_order exact{rows, logits};
    write(args, rows, exponents, exact);
  }

 private:
  static constexpr index_t lanes = Tile.threads_per_row;
  using words = array<unsigned, elements>;

  /// Unsigned integers in the order of floats, -0 as 0; NaN is last or first.
  TILEWRIGHT_HD static unsigned ordered(float x) {
    const int bits = bit_cast<int>(x + 0.0f);
    return unsigned(bits ^ (bits >> 31 | int(0x80000000u)));
  }
  static constexpr unsigned of_infinity = 0xff800000u, of_minus_infinity = 0x007fffffu;

  // Keys have the column in their lowest bits, reversed. Floats have no bits to spare, those of fewer bits do.
  static constexpr index_t column_bits = detail::log2_floor(2 * Tile.cols() - 1);
  static constexpr unsigned column_mask = (1u << column_bits) - 1;
  static constexpr bool is_exact = sizeof(T) < 4 && column_bits <= 13;

  /// Columns in descending order of their logits, as far as keys tell them apart.
  struct row_keys {
    words keys;              // those outside of the row are below all numbers
    unsigned latest;         // 0: none
    unsigned closest = ~0u;  // differences between keys that follow each other

    TILEWRIGHT_HD row_keys(const block& rows, const typename block::template part<float>& logits) {
      TILEWRIGHT_UNROLL_ALL
      for (index_t d = 0; d < elements; ++d) {
        const unsigned kept = rows.exists(0, d) ? ~column_mask : 0;
        keys[d] = (ordered(logits.thread_buffer[d]) & kept) + (column_mask - unsigned(rows.position(0, d)));
      }
      latest = largest_below(0);
      constexpr unsigned most = of_infinity | column_mask;
      if (!exec::any(latest > most)) return;
      TILEWRIGHT_UNROLL_ALL
      for (index_t d = 0; d < elements; ++d) keys[d] = keys[d] > most ? 0 : keys[d];  // NaN
      latest = largest_below(0);
    }
    /// The largest key below `key`, or 2^32; less `key`. Differences below it wrap around, so they are larger than all
    /// others.
    TILEWRIGHT_HD unsigned largest_below(unsigned key) const {
      unsigned largest = 0;
      TILEWRIGHT_UNROLL_ALL
      for (index_t d = 0; d < elements; ++d) largest = exec::max(largest, keys[d] - key);
      return detail::combine_lanes<1, lanes>(largest, max);
    }
    /// The next key.
    TILEWRIGHT_HD unsigned next(bool is_last) {
      const unsigned key = latest;
      if (is_last && is_exact) return key;
      const unsigned below = key + largest_below(key);
      latest = is_number(key) ? below : 0;
      if (!is_exact) closest = exec::min(closest, key ^ latest);
      return key;
    }
    TILEWRIGHT_HD static bool is_number(unsigned key) { return key >= (of_minus_infinity & ~column_mask); }
    /// The column of a key; -1: all others are NaN.
    TILEWRIGHT_HD static index_t column_of(unsigned key) { return is_number(key) ? index_t(~key & column_mask) : -1; }
  };

  /// The same for floats that keys do not tell apart.
  struct exact_order {
    const block& rows;
    words values;  // 0: no number, or one that has been chosen

    TILEWRIGHT_HD exact_order(const block& r, const typename block::template part<float>& logits) : rows(r) {
      TILEWRIGHT_UNROLL_ALL
      for (index_t d = 0; d < elements; ++d) {
        const float x = logits.thread_buffer[d];
        values[d] = rows.exists(0, d) && x == x ? ordered(x) : 0;
      }
    }
    TILEWRIGHT_HD static index_t column_of(unsigned column) { return index_t(column); }
    TILEWRIGHT_HD unsigned next(bool) {
      unsigned largest = 0;
      TILEWRIGHT_UNROLL_ALL
      for (index_t d = 0; d < elements; ++d) largest = exec::max(largest, values[d]);
      largest = detail::combine_lanes<1, lanes>(largest, max);
      index_t column = 0x7fffffff;
      TILEWRIGHT_UNROLL_ALL
      for (index_t d = elements; d-- > 0;) column = values[d] == largest ? rows.position(0, d) : column;
      column = detail::combine_lanes<1, lanes>(column, min);
      TILEWRIGHT_UNROLL_ALL
      for (index_t d = 0; d < elements; ++d) values[d] = rows.position(0, d) == column ? 0 : values[d];
      return unsigned(largest > 0 ? column : -1);
    }
  };

  /// Writes the columns and their weights. Each lane has one of `lanes` choices.
  TILEWRIGHT_HD static void write(const args_type& args, const block& rows,
                                  const detail::row_exponents<block>& exponents, auto& columns) {
    const long_index_t bytes = long_index_t{args.tokens} * args.choices * 4;
    const auto weights = exec::make_global_buffer(args.weight, bytes),
               experts = exec::make_global_buffer(args.expert, bytes);
    const index_t lane = modulo(exec::lane_id(), lanes), row = rows.first_row + rows.row;
    const auto place = [&](index_t first) TILEWRIGHT_INLINE_LAMBDA {
      return first + lane < args.choices && row < args.tokens ? (row * args.choices + first + lane) * 4
                                                              : exec::out_of_bounds_offset;
    };
    float weight = 0, largest = 0, sum = 0;
    index_t first = 0;
    for (;; first += lanes) {
      unsigned chosen = 0;
      TILEWRIGHT_UNROLL(1)
      for (index_t i = 0; i < min(lanes, args.choices - first); ++i) {
        const unsigned next = columns.next(first + i == args.choices - 1);
        chosen = lane == i ? next : chosen;
      }
      const index_t own = first + lane < args.choices ? columns.column_of(chosen) : -1;
      const auto value = type_convert<float>(detail::load_column(rows, args.x, args.x_stride, own));
      if (first == 0) largest = exec::shuffle(value, exec::lane_id() - lane);
      weight = own < 0 ? 0.0f : exec::exp2((value - largest) * detail::log2_e);
      sum += weight;
      exec::buffer_store(experts, place(first), own);
      if (first + lanes >= args.choices) break;
      exec::buffer_store(weights, place(first), weight);
    }
    block::reduce_threads(plus, {}, sum);
    const float share =
        args.is_normalised ? exec::rcp(sum) : exponents.factor(largest, exponents.largest) * exec::rcp(exponents.sum);
    exec::buffer_store(weights, place(first), weight == 0 ? 0 : weight * share);
    while ((first -= lanes) >= 0) {
      weight = exec::buffer_load<float>(weights, place(first));
      exec::buffer_store(weights, place(first), weight == 0 ? 0 : weight * share);
    }
  }
};

}  // namespace tilewright
