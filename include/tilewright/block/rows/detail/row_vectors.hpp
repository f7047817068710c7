// SPDX-License-Identifier: MIT
// A thread's vectors of a row in global memory, wherever the row starts.
#pragma once

#include <tilewright/core/base/array.hpp>
#include <tilewright/core/base/type_traits.hpp>
#include <tilewright/machine/exec/exec.hpp>
#include <tilewright/machine/exec/gather_bytes.hpp>

namespace tilewright::detail {

/// The calling thread's accesses to a row of elements of `Bytes`: `Count` of `Size` bytes, of which `Run` follow each
/// other and the next ones are Lanes * Run accesses away. Those that begin at columns up to cols - 1 are moved. If
/// AnyStart, they may begin at any byte, there is at least as much of the row on both sides of them, and the thread has
/// one more element of the row, anywhere.
template <index_t Bytes, index_t Size, index_t Lanes, index_t Count, index_t Run, bool AnyStart>
struct row_vectors {
  static_assert(Size <= 16 && (!AnyStart || Size >= 4),
                "row_tile: vectors have up to 16 bytes, those of unaligned rows at least 4");
  static constexpr index_t vector = Size / Bytes, num_words = max(Size / 4, 1);
  using words = array<unsigned_of<min(Size, 4)>, num_words>;
  using vectors = array<words, Count>;
  using element = unsigned_of<Bytes>;

  exec::global_buffer memory;  // from an aligned address on
  index_t start;               // byte of column 0
  index_t cols;
  index_t end;  // byte of the additional element
  bool has_end;

  TILEWRIGHT_HD bool is_aligned() const { return !AnyStart || modulo(start, Size) == 0; }

  /// The thread's vectors, the first one at column `col`; zeros where the row has none.
  TILEWRIGHT_HD vectors load(index_t col) const {
    if constexpr (AnyStart) {
      if (!is_aligned()) return load_shifted(col);
    }
    vectors result;
    TILEWRIGHT_UNROLL_ALL
    for (index_t i = 0; i < Count; ++i) result[i] = exec::masked_load<words>(memory, byte_of(col, i), exists(col, i));
    return result;
  }
  /// The same from any byte: the two aligned vectors that have a part of each, shifted. The shift is the same for all
  /// lanes of a row: with IsBranch they branch on it, in fewer instructions and more registers than selections take.
  template <bool IsBranch = false>
  TILEWRIGHT_HD vectors load_shifted(index_t col) const {
    const index_t shift = modulo(start, Size), in_word = modulo(shift, 4);
    row_vectors aligned = *this;
    aligned.start -= shift;
    vectors low, high;
    TILEWRIGHT_UNROLL_ALL
    for (index_t i = 0; i < Count; ++i) {
      const index_t from = aligned.byte_of(col, i);
      low[i] = exec::masked_load<words>(memory, from, exists(col, i));
      high[i] = exec::masked_load<words>(memory, from + Size, exists(col, i));
    }
    const auto shift_all = [&](index_t first) TILEWRIGHT_INLINE_LAMBDA {
      vectors result;
      TILEWRIGHT_UNROLL_ALL
      for (index_t i = 0; i < Count; ++i) result[i] = exec::shift_bytes<Bytes>(low[i], high[i], first);
      return result;
    };
    if constexpr (!IsBranch) return shift_all(shift);
    switch (divide(shift, 4)) {
      case 0: return shift_all(in_word);
      case 1: return shift_all(4 + in_word);
      case 2: return shift_all(8 + in_word);
      default: return shift_all(12 + in_word);
    }
  }
  TILEWRIGHT_HD element load_end() const { return exec::masked_load<element>(memory, end, has_end); }

  /// Starts to copy the aligned vectors to LDS, `Step` bytes apart; zeros where the row has none.
  template <index_t Step>
  TILEWRIGHT_HD void copy(exec::lds_pointer to, index_t col) const {
    TILEWRIGHT_UNROLL_ALL
    for (index_t i = 0; i < Count; ++i)
      exec::masked_load_to_lds<Size>(memory, byte_of(col, i), to, i * Step, exists(col, i));
  }
  /// The copied vectors.
  template <index_t Step>
  TILEWRIGHT_HD static vectors load_copied(exec::lds_pointer from) {
    vectors result;
    TILEWRIGHT_UNROLL_ALL
    for (index_t i = 0; i < Count; ++i) result[i] = exec::lds_load<words>(from, i * Step);
    return result;
  }

  /// Stores the thread's vectors, the first one at column `col`, as far as the row has them; they must be aligned.
  TILEWRIGHT_HD void store(const vectors& own, index_t col) const {
    TILEWRIGHT_UNROLL_ALL
    for (index_t i = 0; i < Count; ++i) exec::masked_store(memory, byte_of(col, i), own[i], exists(col, i));
  }
  /// The same to any byte: element by element, if they are not aligned.
  TILEWRIGHT_HD void store_anywhere(const vectors& own, index_t col) const {
    if (is_aligned()) return store(own, col);
    if constexpr (AnyStart) {
      TILEWRIGHT_UNROLL_ALL
      for (index_t i = 0; i < Count * vector; ++i) {
        const index_t in_vector = i % vector * Bytes;
        exec::masked_store(memory, byte_of(col, i / vector) + in_vector,
                           element(own[i / vector][in_vector / 4] >> unsigned(in_vector % 4 * 8)),
                           exists(col, i / vector));
      }
    }
  }
  TILEWRIGHT_HD void store_end(element value) const { exec::masked_store(memory, end, value, has_end); }

  /// The column of access i of a thread whose first one is at `col`.
  TILEWRIGHT_HD static constexpr index_t column(index_t col, index_t i) {
    return col + (i / Run * Lanes * Run + i % Run) * vector;
  }

 private:
  TILEWRIGHT_HD index_t byte_of(index_t col, index_t i) const { return start + column(col, i) * Bytes; }
  TILEWRIGHT_HD bool exists(index_t col, index_t i) const { return column(col, i) < cols; }
};

}  // namespace tilewright::detail
