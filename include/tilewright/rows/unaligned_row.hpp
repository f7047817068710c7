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

/// The calling thread's row of elements of `Bytes`. `Lanes` of a wave share it; each has `Count` vectors of `Size`
/// bytes, neighbouring lanes have neighbouring ones. Aligned vectors are moved; lanes exchange what belongs to their
/// neighbours. All functions are for all lanes of the wave together.
template <index_t Bytes, index_t Size, index_t Lanes, index_t Count, bool AnyStart = true>
struct unaligned_row {
  static_assert(Size == 16 || Size == 8 || Size == 4,
                "row_tile: rows that start anywhere have vectors of 4 to 16 bytes");
  static constexpr index_t vector = Size / Bytes, outside = exec::out_of_bounds_offset;
  using words = array<unsigned, Size / 4>;
  using vectors = array<words, Count>;
  using element = unsigned_of<Bytes>;

  exec::global_buffer memory;  // from an aligned address on
  index_t start, shift;        // the row's first byte in `memory`: shift bytes after `start`, which is aligned
  index_t cols;
  index_t first_inside, end;  // aligned vectors that begin at these bytes, as far as the row has elements there
  bool has_others;            // the row has elements in other aligned vectors, which reach beyond the matrix

  /// `first`: an element of the matrix; `is_begin`: the matrix begins there; `elements`: from there to its end. The row
  /// begins `offset` elements later.
  TILEWRIGHT_HD unaligned_row(const void* first, bool is_begin, long_index_t elements, index_t offset,
                              index_t num_cols) {
    const index_t ahead = AnyStart ? index_t(reinterpret_cast<unsigned long long>(first) % unsigned(Size)) : 0;
    memory = exec::make_global_buffer(static_cast<const char*>(first) - ahead, ahead + elements * Bytes);
    shift = AnyStart ? modulo(ahead + offset * Bytes, Size) : 0;
    start = ahead + offset * Bytes - shift;
    cols = num_cols;
    const index_t row_end = cols > 0 ? start + shift + cols * Bytes : 0;
    first_inside = is_begin && ahead > 0 ? 1 : 0;
    end = index_t(min(long_index_t{row_end}, memory.bytes - (Size - 1)));
    has_others = cols > 0 && (start < first_inside || end <= modulo_down(row_end - 1));
  }

  /// The thread's vectors, the first one at column `col`; words of `fill` outside of the row.
  TILEWRIGHT_HD vectors load(index_t col, unsigned fill = 0) const {
    vectors low, high;
    TILEWRIGHT_UNROLL_ALL
    for (index_t i = 0; i < Count; ++i) {
      low[i] = exec::buffer_load<words>(memory, place_of(byte_of(col, i)));
      if (AnyStart) high[i] = exec::buffer_load<words>(memory, shift > 0 ? place_of(byte_of(col, i) + Size) : outside);
    }
    return align(low, high, col, fill);
  }
  /// Starts to copy to LDS the aligned vectors in which the thread's vectors begin; that of column c has place c /
  /// vector.
  TILEWRIGHT_HD void copy(exec::lds_pointer to, index_t col) const {
    TILEWRIGHT_UNROLL_ALL
    for (index_t i = 0; i < Count; ++i)
      exec::async_load_to_lds<Size>(memory, place_of(byte_of(col, i)), to, copied(col, i));
  }
  /// What load(col) gives, once these copies have arrived, and those of the thread with the next vector.
  TILEWRIGHT_HD vectors load_copied(exec::lds_pointer from, index_t col) const {
    vectors low, high;
    TILEWRIGHT_UNROLL_ALL
    for (index_t i = 0; i < Count; ++i) low[i] = exec::lds_load<words>(from, copied(col, i));
    if constexpr (AnyStart) {
      TILEWRIGHT_UNROLL_ALL
      for (index_t i = 0; i < Count; ++i)
        high[i] = exec::lds_load<words>(
            from, copied(col, i) + (place_of(byte_of(col, i) + Size) == outside ? 0 : index_t{Size}));
      return align(low, high, col, 0);
    }
    return low;
  }

  /// Stores the thread's vectors, the first one at column `col`, as far as they are inside of the row.
  TILEWRIGHT_HD void store(const vectors& own, index_t col) const {
    const index_t in_group = modulo(exec::lane_id(), Lanes), in_first = Size - shift;
    TILEWRIGHT_UNROLL_ALL
    for (index_t i = 0; i < Count; ++i) {
      // The lane stores the aligned vector that has its first in_first bytes, after the previous lane's last ones.
      const words previous = from_lane(in_group == Lanes - 1 && i > 0 && shift > 0 ? own[max(i - 1, 0)] : own[i],
                                       in_group + Lanes - (shift > 0 ? 1 : 0));
      const index_t bytes = bytes_from(col, i);
      const bool is_stored = bytes >= in_first && (shift == 0 || in_group > 0 || i > 0);
      const bool is_next_stored = bytes >= Size + in_first && (in_group < Lanes - 1 || i < Count - 1);
      exec::buffer_store(memory, is_stored ? byte_of(col, i) : outside,
                         funnel_shift(previous, own[i], modulo(in_first, Size)));
      if (is_stored && (is_next_stored || shift == 0)) continue;
      TILEWRIGHT_UNROLL_ALL
      for (index_t b = 0; b < Size; b += Bytes) {
        if (b < bytes && !(b < in_first ? is_stored : is_next_stored))
          exec::buffer_store(memory, byte_of(col, i) + shift + b, element(own[i][b / 4] >> unsigned(b % 4 * 8)));
      }
    }
  }

 private:
  TILEWRIGHT_HD static index_t modulo_down(index_t byte) { return byte - modulo(byte, Size); }
  /// Byte of the aligned vector in which vector i begins.
  TILEWRIGHT_HD index_t byte_of(index_t col, index_t i) const { return start + col * Bytes + i * Lanes * Size; }
  /// From the first byte of vector i to the end of the row, at most two vectors; negative after the end.
  TILEWRIGHT_HD index_t bytes_from(index_t col, index_t i) const {
    return min(cols - col - i * Lanes * vector, 2 * vector) * Bytes;
  }
  /// The same byte for an aligned vector that can be loaded; else `outside`.
  TILEWRIGHT_HD index_t place_of(index_t byte) const { return byte >= first_inside && byte < end ? byte : outside; }
  TILEWRIGHT_HD static index_t copied(index_t col, index_t i) { return (col / vector + i * Lanes) * Size; }
  /// The vectors of the row from pairs of aligned ones.
  TILEWRIGHT_HD vectors align(const vectors& low, const vectors& high, index_t col, unsigned fill) const {
    vectors result;
    TILEWRIGHT_UNROLL_ALL
    for (index_t i = 0; i < Count; ++i) result[i] = AnyStart ? funnel_shift(low[i], high[i], shift) : low[i];
    if (has_others) {
      TILEWRIGHT_UNROLL_ALL
      for (index_t i = 0; i < Count; ++i) {
        const index_t byte = byte_of(col, i), bytes = min(bytes_from(col, i), Size);
        if (byte < first_inside || (bytes > 0 && modulo_down(byte + shift + bytes - 1) >= end))
          result[i] = load_elements(byte + shift, bytes);
      }
    }
    if (bytes_from(col, Count - 1) < Size) {
      TILEWRIGHT_UNROLL_ALL
      for (index_t i = 0; i < Count; ++i) {
        TILEWRIGHT_UNROLL_ALL
        for (index_t w = 0; w < Size / 4; ++w) {
          const index_t bits = 8 * max(bytes_from(col, i), -1) - 32 * w;
          const unsigned mask = bits >= 32 ? ~0u : (1u << unsigned(max(bits, 0))) - 1u;
          result[i][w] = (result[i][w] & mask) | (fill & ~mask);
        }
      }
    }
    return result;
  }
  /// A vector whose aligned ones reach beyond the matrix.
  TILEWRIGHT_HD words load_elements(index_t byte, index_t bytes) const {
    words result{};
    TILEWRIGHT_UNROLL(1)
    for (index_t b = 0; b < bytes; b += Bytes) {
      const unsigned e = exec::buffer_load<element>(memory, byte + b);
      TILEWRIGHT_UNROLL_ALL
      for (index_t w = 0; w < Size / 4; ++w) result[w] |= w == b / 4 ? e << unsigned(b % 4 * 8) : 0;
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
