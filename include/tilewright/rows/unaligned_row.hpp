// SPDX-License-Identifier: MIT
// A row of global memory that starts anywhere, moved in aligned vectors.
#pragma once

#include <tilewright/exec/exec.hpp>
#include <tilewright/numeric/bits.hpp>
#include <tilewright/util/array.hpp>

namespace tilewright::detail {

/// The bytes from number `first` < 4 Words on of two vectors next to each other.
template <index_t Words>
TILEWRIGHT_HD array<unsigned, Words> funnel_shift(const array<unsigned, Words>& low, const array<unsigned, Words>& high,
                                                  index_t first) {
  unsigned w[2 * Words];
  TILEWRIGHT_UNROLL_ALL
  for (index_t i = 0; i < Words; ++i) w[i] = low[i], w[Words + i] = high[i];
  TILEWRIGHT_UNROLL_ALL
  for (index_t step = Words / 2; step > 0; step /= 2) {
    const bool moves = (first & (step * 4)) != 0;
    TILEWRIGHT_UNROLL_ALL
    for (index_t i = 0; i < Words + step; ++i) w[i] = moves ? w[i + step] : w[i];
  }
  array<unsigned, Words> result;
  TILEWRIGHT_UNROLL_ALL
  for (index_t i = 0; i < Words; ++i)
    result[i] = unsigned(((static_cast<unsigned long long>(w[i + 1]) << 32) | w[i]) >> unsigned(first % 4 * 8));
  return result;
}

template <index_t Bytes>
struct unsigned_of {
  using type = unsigned;
};
template <>
struct unsigned_of<2> {
  using type = unsigned short;
};
template <>
struct unsigned_of<1> {
  using type = unsigned char;
};

/// The calling thread's row of elements of `Bytes`. `Lanes` of a wave share it; each has `Count` vectors of `Size` bytes,
/// neighbouring lanes have neighbouring ones. Aligned vectors are moved; lanes exchange what belongs to their
/// neighbours. All functions are for all lanes of the wave together.
template <index_t Bytes, index_t Size, index_t Lanes, index_t Count>
struct unaligned_row {
  static_assert(Size == 16 || Size == 8 || Size == 4, "row_tile: rows that start anywhere have vectors of 4 to 16 bytes");
  static constexpr index_t vector = Size / Bytes, outside = exec::out_of_bounds_offset;
  using words = array<unsigned, Size / 4>;
  using vectors = array<words, Count>;
  using element = typename unsigned_of<Bytes>::type;

  exec::global_buffer memory;  // from an aligned address on
  index_t before;              // bytes of `memory` that are not inside of the matrix
  index_t start, shift;        // the row's first byte in `memory`: shift bytes after `start`, which is aligned
  index_t cols;

  /// `first`: an element of the matrix; `is_begin`: the matrix begins there; `elements`: from there to its end. The row
  /// begins `offset` elements later.
  TILEWRIGHT_HD unaligned_row(const void* first, bool is_begin, long_index_t elements, index_t offset,
                              index_t num_cols) {
    const index_t ahead = index_t(reinterpret_cast<unsigned long long>(first) % unsigned(Size));
    memory = exec::make_global_buffer(static_cast<const char*>(first) - ahead, ahead + elements * Bytes);
    before = is_begin ? ahead : 0;
    shift = modulo(ahead + offset * Bytes, Size);
    start = ahead + offset * Bytes - shift;
    cols = num_cols;
  }

  /// The thread's vectors, the first one at column `col`; zeros outside of the row.
  TILEWRIGHT_HD vectors load(index_t col) const {
    words low[Count + 1];  // the last one: after the last lane's last vector
    TILEWRIGHT_UNROLL_ALL
    for (index_t i = 0; i < Count; ++i) {
      const place at(*this, col, i);
      low[i] = exec::buffer_load<words>(memory, at.bytes > -shift && at.is_low_inside ? at.low : outside);
    }
    const place last(*this, col, Count - 1);
    const index_t in_group = modulo(exec::lane_id(), Lanes);
    const bool is_last = in_group == Lanes - 1;
    low[Count] =
        exec::buffer_load<words>(memory, is_last && last.needs_high && last.is_inside ? last.low + Size : outside);
    vectors result;
    TILEWRIGHT_UNROLL_ALL
    for (index_t i = 0; i < Count; ++i) {
      const place at(*this, col, i);
      words high = from_lane(in_group == 0 && i + 1 < Count ? low[i + 1] : low[i], in_group + 1);
      if (i == Count - 1 && is_last) high = low[Count];
      result[i] = funnel_shift(low[i], high, shift);
      if (at.bytes >= Size && at.is_inside) continue;
      if (!at.is_inside) result[i] = load_elements(at);
      TILEWRIGHT_UNROLL_ALL
      for (index_t w = 0; w < Size / 4; ++w) {
        const index_t bits = 8 * (at.bytes - 4 * w);
        result[i][w] &= bits >= 32 ? ~0u : (1u << unsigned(max(bits, 0))) - 1u;
      }
    }
    return result;
  }

  /// Stores the thread's vectors, the first one at column `col`, as far as they are inside of the row.
  TILEWRIGHT_HD void store(const vectors& own, index_t col) const {
    const index_t in_group = modulo(exec::lane_id(), Lanes), in_first = Size - shift;
    TILEWRIGHT_UNROLL_ALL
    for (index_t i = 0; i < Count; ++i) {
      const place at(*this, col, i);
      // The lane stores the aligned vector that has its first in_first bytes, after the previous lane's last ones.
      const bool is_from_last = in_group == Lanes - 1 && i > 0 && shift > 0;
      const words previous =
          from_lane(is_from_last ? own[max(i - 1, 0)] : own[i], in_group + Lanes - (shift > 0 ? 1 : 0));
      const bool is_whole = at.bytes >= in_first && (shift == 0 || in_group > 0 || i > 0);
      const bool is_next_whole = at.bytes >= Size + in_first && (in_group < Lanes - 1 || i < Count - 1);
      exec::buffer_store(memory, is_whole ? at.low : outside, funnel_shift(previous, own[i], modulo(in_first, Size)));
      if (is_whole && (is_next_whole || shift == 0)) continue;
      TILEWRIGHT_UNROLL_ALL
      for (index_t b = 0; b < Size; b += Bytes) {
        if (b < at.bytes && !(b < in_first ? is_whole : is_next_whole))
          exec::buffer_store(memory, at.low + shift + b, element(own[i][b / 4] >> unsigned(b % 4 * 8)));
      }
    }
  }

 private:
  /// Where vector i is.
  struct place {
    index_t low;    // of the aligned vector in which it begins
    index_t bytes;  // from its first one to the row's end, at most those of two vectors
    bool needs_high, is_low_inside, is_inside;

    TILEWRIGHT_HD place(const unaligned_row& row, index_t first_col, index_t i) {
      const index_t col = first_col + i * Lanes * vector;
      low = row.start + col * Bytes;
      bytes = max(min(row.cols - col, 2 * vector), -vector) * Bytes;
      needs_high = row.shift > 0 && bytes > Size - row.shift;
      is_low_inside = low >= row.before && low + long_index_t{Size} <= row.memory.bytes;
      is_inside = is_low_inside && (!needs_high || low + 2 * long_index_t{Size} <= row.memory.bytes);
    }
  };
  /// A vector whose aligned ones reach beyond the matrix.
  TILEWRIGHT_HD words load_elements(const place& at) const {
    words result{};
    TILEWRIGHT_UNROLL_ALL
    for (index_t b = 0; b < Size; b += Bytes) {
      const unsigned e = exec::buffer_load<element>(memory, b < at.bytes ? at.low + shift + b : outside);
      result[b / 4] |= e << unsigned(b % 4 * 8);
    }
    return result;
  }
  /// The vector of a lane of the group, counted modulo Lanes.
  TILEWRIGHT_HD static words from_lane(words own, index_t in_group) {
    const index_t lane = exec::lane_id(), source = lane - modulo(lane, Lanes) + modulo(in_group, Lanes);
    TILEWRIGHT_UNROLL_ALL
    for (unsigned& word : own.elements) word = exec::shuffle(word, source);
    return own;
  }
};

}  // namespace tilewright::detail
