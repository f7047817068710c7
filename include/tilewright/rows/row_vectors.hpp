// SPDX-License-Identifier: MIT
// A row of global memory, moved in aligned vectors wherever it starts and ends.
#pragma once

#include <tilewright/exec/exec.hpp>
#include <tilewright/numeric/bits.hpp>
#include <tilewright/util/array.hpp>
#include <tilewright/util/type_traits.hpp>

namespace tilewright::detail {

/// The calling thread's row of elements of `Bytes`, of which columns `lower` to `upper` - 1 are moved. A thread has
/// `Count` vectors of `Size` bytes, Lanes * vector columns apart. If AnyStart, the first vector may begin at any byte:
/// aligned vectors are moved at once, others in words of 4 bytes, and those that are partly outside of the row element
/// by element. Otherwise all vectors are aligned, and upper is a multiple of them.
template <index_t Bytes, index_t Size, index_t Lanes, index_t Count, bool AnyStart>
struct row_vectors {
  static_assert(Size <= 16 && (!AnyStart || Size >= 4),
                "row_tile: vectors have up to 16 bytes, those of rows that start anywhere at least 4");
  static constexpr index_t vector = Size / Bytes, outside = exec::out_of_bounds_offset;
  using words = array<unsigned_of<min(Size, 4)>, max(Size / 4, 1)>;
  using vectors = array<words, Count>;
  using element = unsigned_of<Bytes>;

  exec::global_buffer memory;  // from an aligned address on; what is inside of the matrix is for us to know
  index_t first, end;          // bytes of `memory` from which on, and up to which, the matrix is known to be
  index_t start;               // byte of column 0
  index_t lower, upper;

  /// Whether the vectors are, of which the first one begins at column `col`.
  TILEWRIGHT_HD bool is_aligned(index_t col) const { return !AnyStart || modulo(start + col * Bytes, Size) == 0; }

  /// The thread's vectors, the first one at column `col`; zeros outside of the row.
  TILEWRIGHT_HD vectors load(index_t col) const {
    vectors result;
    if (is_aligned(col)) {
      TILEWRIGHT_UNROLL_ALL
      for (index_t i = 0; i < Count; ++i)
        result[i] = exec::buffer_load<words>(memory, is_inside(column(col, i)) ? byte_of(column(col, i)) : outside);
    } else if constexpr (AnyStart) {
      TILEWRIGHT_UNROLL_ALL
      for (index_t i = 0; i < Count; ++i) result[i] = load_words(column(col, i));
    }
    load_ends(result, col, is_aligned(col) ? 0 : in_words, [&](index_t, index_t c) TILEWRIGHT_INLINE_LAMBDA {
      return exec::buffer_load<element>(memory, is_element(c) ? byte_of(c) : outside);
    });
    return result;
  }
  /// Starts to copy to LDS the aligned vectors in which the row has elements, `Step` bytes apart.
  template <index_t Step>
  TILEWRIGHT_HD void copy(exec::lds_pointer to, index_t col) const {
    const index_t some = AnyStart ? max(lower - vector + 1, 0 - (start - first) / Bytes) : 0,
                  all = AnyStart ? min(upper, (end - Size - start) / Bytes + 1) : upper;
    TILEWRIGHT_UNROLL_ALL
    for (index_t i = 0; i < Count; ++i) {
      const index_t c = column(col, i);
      exec::async_load_to_lds<Size>(memory, (!AnyStart || c >= some) && c < all ? byte_of(c) : outside, to, i * Step);
    }
    const bool is_cut = some > lower - vector + 1 || all < upper;  // the matrix begins or ends within a vector
    if (!AnyStart || !is_cut || lower >= upper) return;
    exec::async_wait<0>();
    TILEWRIGHT_UNROLL(1)
    for (index_t i = 0; i < Count * vector; ++i) {
      const index_t whole = column(col, i / vector), c = whole + i % vector;
      if (is_element(c) && (whole < some || whole >= all))
        exec::lds_store(to, i / vector * Step + i % vector * Bytes, exec::buffer_load<element>(memory, byte_of(c)));
    }
  }
  /// Writes zeros to what was copied from outside of the row.
  template <index_t Step>
  TILEWRIGHT_HD void clear_ends(exec::lds_pointer to, index_t col) const {
    if (!AnyStart || are_inside(col)) return;
    TILEWRIGHT_UNROLL(1)
    for (index_t i = 0; i <= last_of(col); i += max(last_of(col), 1)) {
      const index_t c = column(col, i);
      if (is_inside(c)) continue;
      words kept = exec::lds_load<words>(to, i * Step);
      TILEWRIGHT_UNROLL_ALL
      for (index_t e = 0; e < vector; ++e)
        kept[e * Bytes / 4] &= is_element(c + e) ? ~0u : ~(unsigned(element(~0u)) << unsigned(e * Bytes % 4 * 8));
      exec::lds_store(to, i * Step, kept);
    }
  }
  /// The copied vectors.
  template <index_t Step>
  TILEWRIGHT_HD static vectors load_copied(exec::lds_pointer from) {
    vectors result;
    TILEWRIGHT_UNROLL_ALL
    for (index_t i = 0; i < Count; ++i) result[i] = exec::lds_load<words>(from, i * Step);
    return result;
  }

  /// Stores the thread's vectors, the first one at column `col`, as far as they are inside of the row.
  TILEWRIGHT_HD void store(const vectors& own, index_t col) const {
    const bool aligned = is_aligned(col);
    TILEWRIGHT_UNROLL_ALL
    for (index_t i = 0; i < Count; ++i)
      exec::buffer_store(memory, aligned && is_inside(column(col, i)) ? byte_of(column(col, i)) : outside, own[i]);
    if constexpr (AnyStart) {
      if (aligned && are_inside(col)) return;
      TILEWRIGHT_UNROLL(1)
      for (index_t i = 0; i <= last_of(col); i += aligned ? max(last_of(col), 1) : 1) {
        if (aligned && is_inside(column(col, i))) continue;
        words ends{};
        TILEWRIGHT_UNROLL_ALL
        for (index_t j = 0; j < Count; ++j) choose(j == i, ends, own[j]);
        TILEWRIGHT_UNROLL_ALL
        for (index_t e = 0; e < vector; ++e) {
          const index_t c = column(col, i) + e;
          exec::buffer_store(memory, is_element(c) ? byte_of(c) : outside,
                             element(ends[e * Bytes / 4] >> unsigned(e * Bytes % 4 * 8)));
        }
      }
    }
  }

 private:
  static constexpr index_t in_words = AnyStart ? 4 / Bytes - 1 : 0;  // elements that share a word with a vector's end

  TILEWRIGHT_HD static index_t column(index_t col, index_t i) { return col + i * Lanes * vector; }
  TILEWRIGHT_HD index_t byte_of(index_t col) const { return start + col * Bytes; }
  TILEWRIGHT_HD bool is_element(index_t col) const { return col >= lower && col < upper; }
  /// Whether the vector at column `col` is inside of the row, with `more` elements in front of it and behind it.
  TILEWRIGHT_HD bool is_inside(index_t col, index_t more = 0) const {
    return AnyStart ? col - more >= lower && col + vector + more <= upper : col < upper;
  }
  TILEWRIGHT_HD bool are_inside(index_t col, index_t more = 0) const {
    return col - more >= lower && column(col, Count - 1) + vector + more <= upper;
  }
  /// Word by word: a choice between arrays would put them into memory.
  TILEWRIGHT_HD static void choose(bool takes, words& to, const words& from) {
    TILEWRIGHT_UNROLL_ALL
    for (index_t w = 0; w < Size / 4; ++w) to[w] = takes ? from[w] : to[w];
  }
  /// A vector that is not aligned, and elements that share its words are in the row, too; otherwise zeros.
  TILEWRIGHT_HD words load_words(index_t col) const {
    const index_t in_word = modulo(byte_of(col), 4), from = is_inside(col, in_words) ? byte_of(col) - in_word : outside;
    words result;
    unsigned low = exec::buffer_load<unsigned>(memory, from);
    TILEWRIGHT_UNROLL_ALL
    for (index_t w = 0; w < Size / 4; ++w) {
      const unsigned high = w + 1 < Size / 4 || Bytes < 4 ? exec::buffer_load<unsigned>(memory, from + 4 * (w + 1)) : 0;
      result[w] = unsigned(((static_cast<unsigned long long>(high) << 32) | low) >> unsigned(in_word * 8));
      low = high;
    }
    return result;
  }
  /// The last of the thread's vectors in which the row may have elements; -1 if it has none.
  TILEWRIGHT_HD index_t last_of(index_t col) const {
    const index_t before_end = upper - 1 - col;
    return before_end < 0 ? -1 : min(index_t(unsigned(before_end) / unsigned(Lanes * vector)), Count - 1);
  }
  /// Vectors that are partly in the row, the first or the last: from load(vector, column) for each element.
  template <class Load>
  TILEWRIGHT_HD void load_ends(vectors& all, index_t col, index_t more, Load load) const {
    if constexpr (AnyStart) {
      if (are_inside(col, more)) return;
      TILEWRIGHT_UNROLL(1)
      for (index_t i = 0; i <= last_of(col); i += max(last_of(col), 1)) {
        const index_t from = column(col, i);
        if (is_inside(from, more) || from + vector <= lower || from >= upper) continue;
        words ends{};
        TILEWRIGHT_UNROLL_ALL
        for (index_t e = 0; e < vector; ++e)
          ends[e * Bytes / 4] |= unsigned(load(i, from + e)) << unsigned(e * Bytes % 4 * 8);
        TILEWRIGHT_UNROLL_ALL
        for (index_t j = 0; j < Count; ++j) choose(j == i, all[j], ends);
      }
    }
  }
};

}  // namespace tilewright::detail
