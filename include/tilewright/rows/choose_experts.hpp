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

/// Tile: the lanes of one wave share a row, and hold all experts. LDS is sized for MostChoices. A logit that is NaN is
/// chosen last, as expert -1 with weight 0.
template <class Arch, class T, row_tile Tile, index_t MostChoices = 16>
struct choose_experts {
  using arch = Arch;
  using args_type = choose_experts_args<T>;
  using block = detail::row_block<Arch, Tile>;
  static_assert(block::waves_per_row == 1,
                "choose_experts: the lanes of one wave share a row; give the threads more vectors for more experts");
  static constexpr index_t block_size = Tile.threads, elements = block::distribution::num_elements;
  static constexpr index_t lds_bytes = Tile.rows() * MostChoices * 8;  // for each choice its expert and its weight
  static constexpr index_t blocks_at_once = max(1, (elements <= 32 ? 1024 : 512) / block_size);
  static constexpr bool overlaps_previous = detail::overlaps_previous_v<Arch>;

  /// What this kernel cannot do with these arguments, as a sentence; nullptr when it can.
  static constexpr const char* check(const args_type& args) {
    const detail::row_matrix x{args.x, args.tokens, args.experts, args.x_stride, sizeof(T)};
    if (const char* why = detail::check_matrix(x, Tile.vector, Tile.rows())) return why;
    if (args.experts > Tile.cols()) return "there are more experts than the tile holds: use a tile with more vectors";
    if (args.choices < 1 || args.choices > args.experts) return "choices must be positive, and at most the experts";
    if (args.choices > MostChoices) return "there are more choices than the kernel's MostChoices";
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
    const auto load = [&]() TILEWRIGHT_INLINE_LAMBDA { return rows.load(args.x, args.x_stride, 0); };
    const auto logits = load();
    detail::row_exponents<block> exponents;
    if (!args.is_normalised) {
      auto copy = block::to_float(logits);
      exponents.add(rows, copy, 0);
      exponents.finish({});
    }
    const auto lds = exec::lds_allocate<lds_bytes>();
    row_keys keys{rows, logits};
    write(args, rows, exponents, keys, lds);
    if constexpr (!is_exact) {
      keys.advance();
      if (!exec::any(keys.closest <= column_mask)) return;
      const auto again = block::to_float(load());
      unsigned bits = 0;  // equal keys with no bits left are of equal logits
      TILEWRIGHT_UNROLL_ALL
      for (index_t d = 0; d < elements; ++d) bits |= bit_cast<unsigned>(again.thread_buffer[d]) & column_mask;
      if (!exec::any(bits != 0)) return;
      exact_order exact{rows, again};
      exact.advance();
      write(args, rows, exponents, exact, lds);
    }
  }

 private:
  static constexpr index_t lanes = Tile.threads_per_row, rows_of_wave = block::wave_size / lanes;

  /// Unsigned integers in the order of floats, -0 as 0. NaN is above infinity or below its negative.
  TILEWRIGHT_HD static unsigned ordered(unsigned bits) {
    const auto sign = unsigned(int(bits) >> 31);
    return (bits ^ (sign | 0x80000000u)) - sign;
  }
  /// The same for a pair of floats of 16 bits.
  TILEWRIGHT_HD static unsigned ordered_pair(unsigned bits) {
    const unsigned signs = bits >> 15 & 0x00010001u;
    return (bits ^ (signs * 0xffffu | 0x80008000u)) + signs;
  }
  static constexpr unsigned infinity = __is_same(T, half_t) ? 0x7c000000u : 0x7f800000u;

  // Keys have the column in their lowest bits, reversed. Floats have no bits to spare, those of fewer bits do.
  static constexpr index_t column_bits = detail::log2_floor(2 * Tile.cols() - 1);
  static constexpr unsigned column_mask = (1u << column_bits) - 1;
  static constexpr bool is_exact = sizeof(T) == 2 && column_bits <= 16;

  /// The largest value(d) of the lanes that share a row, plus `more` of each.
  TILEWRIGHT_HD static unsigned largest_of(auto value, unsigned more) {
    unsigned largest = 0;
    TILEWRIGHT_UNROLL_ALL
    for (index_t d = 0; d < elements; ++d) largest = exec::max(largest, value(d));
    return detail::combine_lanes<1, lanes>(largest + more, max);
  }

  /// Columns in descending order of their logits, as far as keys tell them apart.
  struct row_keys {
    array<unsigned, elements> keys;  // without the lane's part of the column; those outside of the row are the smallest
    unsigned of_lane;                // this part
    unsigned latest;                 // the key that is next
    unsigned closest = ~0u;          // differences between keys that follow each other

    TILEWRIGHT_HD row_keys(const block& rows, const typename block::template packed_part<T>& logits) {
      constexpr unsigned lane_bits = unsigned((lanes - 1) * Tile.vector);
      of_lane = lane_bits & ~unsigned(rows.col);
      TILEWRIGHT_UNROLL_ALL
      for (index_t d = 0; d < elements; ++d) {
        const unsigned column =
            column_mask & ~lane_bits & ~unsigned(d / Tile.vector * lanes * Tile.vector + d % Tile.vector);
        if constexpr (is_exact) {
          const unsigned pair = ordered_pair(logits.words[d / 2]), is_there = rows.exists(0, d) ? 1 : 0;
          keys[d] = d % 2 == 0 ? pair * (is_there << 16) + column : (pair & (0u - (is_there << 16))) | column;
        } else {
          const float x = block::to_float(logits).thread_buffer[d];
          keys[d] = (ordered(bit_cast<unsigned>(x)) & (rows.exists(0, d) && x == x ? ~column_mask : 0)) | column;
        }
      }
      latest = first();
      if constexpr (is_exact) {
        constexpr unsigned most = 0x80000000u + infinity + column_mask;
        if (!exec::any(latest > most)) return;
        TILEWRIGHT_UNROLL_ALL
        for (index_t d = 0; d < elements; ++d) keys[d] = keys[d] > most ? keys[d] & column_mask : keys[d];  // NaN
        latest = first();
      }
    }
    TILEWRIGHT_HD unsigned first() const {
      return largest_of([&](index_t d) TILEWRIGHT_INLINE_LAMBDA { return keys[d]; }, of_lane);
    }
    /// Differences from the latest key: those below it wrap around, so they are larger than all others. One instruction
    /// subtracts and compares; with many logits two of three are subtracted by a multiplication with an unknown one,
    /// in a unit of NVIDIA GPUs that is idle, and compared in pairs.
    TILEWRIGHT_HD void advance() {
      const unsigned before = latest, least = of_lane - latest;
      const index_t one = is_exact && !is_amd(Arch::value) ? exec::forget_origin(index_t(exec::min(latest, 1u))) : 1;
      latest += largest_of(
          [&](index_t d) TILEWRIGHT_INLINE_LAMBDA { return keys[d] * unsigned(d % 3 == 0 ? 1 : one) + least; }, 0);
      if (!is_exact) closest = exec::min(closest, before ^ latest);
    }
    /// The column of a key; -1: all others are NaN.
    TILEWRIGHT_HD static index_t column_of(unsigned key) {
      return key >= 0x80000000u - infinity ? index_t(~key & column_mask) : -1;
    }
  };

  /// The same for floats that keys do not tell apart.
  struct exact_order {
    const block& rows;
    const typename block::template part<float>& logits;
    unsigned value = ~0u, latest = ~0u;  // of the next choice, and its column; 0 and -1: none

    TILEWRIGHT_HD static index_t column_of(unsigned column) { return index_t(column); }
    TILEWRIGHT_HD void advance() {
      const auto later = [&, *this](index_t d) TILEWRIGHT_INLINE_LAMBDA {
        const float x = logits.thread_buffer[d];
        const unsigned own = rows.exists(0, d) && x == x ? ordered(bit_cast<unsigned>(x)) : 0;
        return own < value || (own == value && rows.position(0, d) > index_t(latest)) ? own : 0;
      };
      value = largest_of(later, 0);
      const auto reversed = [&](index_t d) TILEWRIGHT_INLINE_LAMBDA {
        return later(d) == value ? ~unsigned(rows.position(0, d)) : 0;
      };
      const unsigned column = ~largest_of(reversed, 0);  // by all lanes, whether or not their row has one
      latest = value > 0 ? column : ~0u;
    }
  };

  /// The logit of a choice.
  TILEWRIGHT_HD static float logit_of(const args_type& args, const block& rows, unsigned key, index_t column) {
    if constexpr (is_exact) {
      const unsigned bits = int(key) < 0 ? key ^ 0x80000000u : 0u - (key & ~column_mask);
      return type_convert<float>(bit_cast<T>(static_cast<unsigned short>(bits >> 16)));
    }
    return type_convert<float>(detail::load_column(rows, args.x, args.x_stride, column));
  }

  /// Writes the columns and their weights: choices of a wave follow each other in memory, as they do in LDS.
  TILEWRIGHT_HD static void write(const args_type& args, const block& rows,
                                  const detail::row_exponents<block>& exponents, auto& columns, exec::lds_pointer lds) {
    constexpr index_t weights = rows_of_wave * MostChoices * 4;  // where they begin
    const index_t lane = modulo(exec::lane_id(), lanes), of_wave = exec::wave_id() * rows_of_wave,
                  bytes = args.choices * 4, own = exec::forget_origin((rows.row - of_wave) * bytes);
    const auto all = exec::forget_origin(lds + of_wave * MostChoices * 8);
    TILEWRIGHT_UNROLL(1)
    for (index_t i = 0;;) {
      if (lane == 0) exec::lds_store(all, own + i, columns.latest);
      if ((i += 4) == bytes) break;
      columns.advance();
    }
    exec::wave_sync();
    float largest = 0, sum = 0;
    TILEWRIGHT_UNROLL(1)
    for (index_t first = 0; first < bytes; first += 4 * lanes) {
      const index_t i = own + first + 4 * lane;
      const bool is_one = first + 4 * lane < bytes;
      const unsigned key = is_one ? exec::lds_load<unsigned>(all, i) : 0;
      const index_t column = columns.column_of(key);
      const float logit = logit_of(args, rows, key, column);
      if (first == 0) largest = exec::shuffle(logit, exec::lane_id() - lane);
      const float weight = column < 0 || !is_one ? 0.0f : exec::exp2((logit - largest) * detail::log2_e);
      sum += weight;
      if (is_one) {
        exec::lds_store(all, i, column);
        exec::lds_store(all, weights + i, weight);
      }
    }
    block::reduce_threads(plus, {}, sum);
    const float share =
        args.is_normalised ? exec::rcp(sum) : exponents.factor(largest, exponents.largest) * exec::rcp(exponents.sum);
    TILEWRIGHT_UNROLL(1)
    for (index_t i = own + 4 * lane; i < own + bytes; i += 4 * lanes) {
      const auto weight = exec::lds_load<float>(all, weights + i);
      exec::lds_store(all, weights + i, weight == 0 ? 0 : weight * share);
    }
    exec::wave_sync();
    const index_t first = (rows.first_row + of_wave) * args.choices;
    const index_t n = min(rows_of_wave * args.choices, args.tokens * args.choices - first);
    const auto experts = exec::make_global_buffer(args.expert + first, n * 4),
               shares = exec::make_global_buffer(args.weight + first, n * 4);
    TILEWRIGHT_UNROLL(1)
    for (index_t i = 4 * exec::lane_id(); i < 4 * n; i += 4 * block::wave_size) {
      exec::buffer_store(experts, i, exec::lds_load<index_t>(all, i));
      exec::buffer_store(shares, i, exec::lds_load<float>(all, weights + i));
    }
    exec::wave_sync();
  }
};

}  // namespace tilewright
