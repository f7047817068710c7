// SPDX-License-Identifier: MIT
// The rows of a block in global memory: which threads hold which vectors, loads and stores with masks.
#pragma once

#include <tilewright/block/rows/detail/row_vectors.hpp>
#include <tilewright/block/rows/row_cluster.hpp>
#include <tilewright/block/rows/row_tile.hpp>
#include <tilewright/launch/check_rows.hpp>
#include <tilewright/tile/copy/load_store.hpp>
#include <tilewright/tile/registers/reduce_tile.hpp>

namespace tilewright::detail {

/// N elements of T in whole registers. Where branches meet, the compiler would keep each of an array's elements of 16
/// bits in a register of its own.
template <class T, index_t N>
struct packed_elements {
  array<unsigned, ceil_div(N* index_t(sizeof(T)), 4)> words;
};

/// The rows of the calling block, and its columns of them, if blocks share a row. Parts of Tile.cols() columns are
/// tiles: each thread holds vectors of its row. An unaligned row is cut where one of the matrices, the anchor, has
/// aligned vectors (others whose rows start at the same element of a vector have them, too):
///
///   | head | vector | vector | ... | vector | tail |    head, tail: the row's ends, a vector and its rest at most
///
/// Columns count from the first vector. Ends are single elements, of which a thread has one at most, in the first part.
/// With accesses of 1 instead of Tile.vector rows have no ends.
template <class Arch, row_tile Tile, index_t Access = Tile.vector>
struct row_memory {
  static_assert(require_row_tile<Arch, Tile>());
  static constexpr bool has_ends = Tile.unaligned && Access > 1;
  static constexpr index_t access = Access, wave_size = Arch::value.wave_size,
                           lanes = min(Tile.threads_per_row, wave_size), waves_per_row = Tile.threads_per_row / lanes,
                           segment_cols = Tile.cols(), in_vectors = Tile.vectors * Tile.vector,
                           elements = in_vectors + has_ends;
  using distribution = tile_distribution<row_tile_encoding<Tile, wave_size, elements>>;
  template <class T>
  using segment = static_distributed_tensor<T, distribution>;
  template <class T>
  using packed_segment = packed_elements<T, elements>;

  index_t first_row, rows, all_cols;
  index_t base_col = 0;        // of the block, among those of all blocks that share the row
  index_t lead = 0;            // elements of the row before its first vector
  index_t num_ends = 0;        // elements of the row that are in no vector
  index_t cols;                // of the block
  index_t row, col, end = -1;  // the thread's row in the block, its first column, and its element of the ends

  template <class T = char>
  TILEWRIGHT_HD row_memory(index_t first, index_t num_rows, index_t num_cols, const T* anchor = nullptr,
                           long_index_t row_stride = 0)
      : first_row(first), rows(num_rows - first), all_cols(num_cols) {
    constexpr bool is_shared = Tile.rows() == 1;  // by all threads
    const unsigned thread = unsigned(exec::thread_id());
    const unsigned lane = is_shared ? thread : thread % unsigned(Tile.threads_per_row);
    row = is_shared ? 0 : index_t(thread / unsigned(Tile.threads_per_row));
    col =
        index_t(lane / unsigned(lanes) * unsigned(lanes * in_vectors) + lane % unsigned(lanes) * unsigned(Tile.vector));
    if constexpr (has_ends) {
      const unsigned element = unsigned(reinterpret_cast<unsigned long long>(anchor) / sizeof(T)) +
                               unsigned(first_row + row) * unsigned(row_stride);
      lead = min(all_cols, Tile.vector + modulo(index_t(0u - element), Tile.vector));
      const index_t vectors = max(divide(all_cols - lead, Tile.vector) - 1, 0) * Tile.vector;
      num_ends = all_cols - vectors;
      if (index_t(lane) < num_ends && block_of_row<Tile.blocks>() == 0)
        end = index_t(lane) + (index_t(lane) < lead ? 0 : vectors);
    }
    if constexpr (Tile.blocks > 1) base_col = block_of_row<Tile.blocks>() * share();
    cols = max(0, min(share(), all_cols - num_ends - base_col));
  }
  /// Why a block with this tile cannot take the rows of these matrices; nullptr if it can.
  static const char* check(const row_tile& tile, const auto&... matrices) {
    const char* why = nullptr;
    ((why = why ? why : check_matrix(matrices, tile.unaligned ? 1 : tile.vector, tile.rows())), ...);
    return why;
  }
  /// The most columns that a block has.
  TILEWRIGHT_HD index_t share() const {
    const index_t most = has_ends ? max(divide(all_cols, Tile.vector) - 2, 0) * Tile.vector : all_cols;
    return Tile.blocks == 1 ? most : round_up(ceil_div(most, Tile.blocks), 128);
  }
  /// Whether no block has more than one part of a row.
  TILEWRIGHT_HD bool is_single() const { return share() <= segment_cols; }
  /// How many elements the lanes that share the row have in the part that begins at column `first`.
  TILEWRIGHT_HD index_t count_of_wave(index_t first) const {
    const index_t lane = modulo(exec::thread_id(), lanes), start = col - lane * Tile.vector;
    const index_t in_segment = min(max(cols - first - start, 0), lanes * in_vectors);
    if (!has_ends || first > 0 || block_of_row<Tile.blocks>() > 0) return in_segment;
    return in_segment + min(max(num_ends - divide(start, in_vectors), 0), lanes);
  }

  template <class T>
  using row_of = row_vectors<sizeof(T), sizeof(T) * Access, lanes, in_vectors / Access, Tile.vector / Access, has_ends>;
  /// The same registers as another type, which may end with padding.
  template <class To, class From>
  TILEWRIGHT_HD static To as(const From& from) {
    To to{};
    __builtin_memcpy(&to, &from, min(sizeof(To), sizeof(From)));
    return to;
  }
  /// The thread's row of a matrix.
  template <class T>
  TILEWRIGHT_HD row_of<T> own_row(T* matrix, long_index_t row_stride) const {
    return row_from(matrix + first_row * row_stride, row * index_t(row_stride), row < rows);
  }
  /// The columns from `first` on; zeros outside.
  template <class T>
  TILEWRIGHT_HD packed_segment<T> load(const T* matrix, long_index_t row_stride, index_t first) const {
    const row_of<T> own = own_row(matrix, row_stride);
    return join<T>(own.load(col + first), load_end(own, first));
  }
  /// Stores a part of the anchor, or, if not IsAnchor, of another matrix.
  template <bool IsAnchor = true, class T>
  TILEWRIGHT_HD void store(T* matrix, long_index_t row_stride, index_t first, const packed_segment<T>& packed) const {
    const row_of<T> own = own_row(matrix, row_stride);
    const auto vectors = as<typename row_of<T>::vectors>(packed);
    IsAnchor ? own.store(vectors, col + first) : own.store_anywhere(vectors, col + first);
    if (has_ends && first == 0)
      own.store_end(typename row_of<T>::element(packed.words[in_vectors * index_t(sizeof(T)) / 4]));
  }
  /// The same of floats, which it rounds.
  template <class T>
  TILEWRIGHT_HD void store(T* matrix, long_index_t row_stride, index_t first, const segment<float>& tile) const {
    store(matrix, row_stride, first, round<T>(tile));
  }
  /// Floats as T, rounded and saturated as type_convert does.
  template <class T>
  TILEWRIGHT_HD static packed_segment<T> round(const segment<float>& tile) {
    constexpr index_t per_word = 4 / index_t(sizeof(T));
    const auto at = [&](index_t d) TILEWRIGHT_INLINE_LAMBDA { return d < elements ? tile.thread_buffer[d] : 0.0f; };
    packed_segment<T> result{};
    TILEWRIGHT_UNROLL_ALL
    for (index_t w = 0; w < ceil_div(elements, per_word); ++w) {
      const index_t d = w * per_word;
      if constexpr (is_fp8_v<T>) {
        result.words[w] = fp8_pair_from_floats<T::format>(at(d), at(d + 1)) |
                          unsigned(fp8_pair_from_floats<T::format>(at(d + 2), at(d + 3))) << 16;
      } else if constexpr (is_small_float_v<T>) {
        result.words[w] = bits_of_pair<T>(at(d), at(d + 1));
      } else {
        for (index_t i = 0; i < per_word; ++i)
          result.words[w] |= unsigned(bit_cast<unsigned_of<sizeof(T)>>(type_convert<T>(at(d + i))))
                             << unsigned(i * 32 / per_word);
      }
    }
    return result;
  }
  /// Values for each column, such as weights. Zeros without `values`: no branch.
  template <class T>
  TILEWRIGHT_HD packed_segment<T> load_cols(const T* values, index_t first) const {
    const row_of<T> own = row_from(values, 0, values != nullptr);
    const auto vectors = [&]() TILEWRIGHT_INLINE_LAMBDA {
      if constexpr (has_ends) return own.template load_shifted<(Tile.lds_segments > 0)>(col + first);
      return own.load(col + first);
    }();
    return join<T>(vectors, load_end(own, first));
  }
  /// The same numbers as floats. A bfloat16_t in the upper half of a register is one without its lower half.
  template <class T>
  TILEWRIGHT_HD static segment<float> to_float(const packed_elements<T, elements>& own) {
    if constexpr (__is_same(T, bfloat16_t)) {
      array<unsigned, elements> wide;
      TILEWRIGHT_UNROLL_ALL
      for (index_t i = 0; i < elements; ++i)
        wide[i] = i % 2 == 0 ? own.words[i / 2] << 16 : own.words[i / 2] & 0xffff0000u;
      return as<segment<float>>(wide);
    } else {
      return cast_tile<float>(as<segment<T>>(own));
    }
  }
  TILEWRIGHT_HD static segment<float> to_float(const segment<float>& own) { return own; }
  /// A value of the thread's row.
  template <class T>
  TILEWRIGHT_HD T load_row(const T* values) const {
    return row < rows ? exec::load_element(values + (first_row + row)) : T{};
  }
  /// Writes it; `stride` elements lie between rows.
  template <class T>
  TILEWRIGHT_HD void store_row(T* to, T value, long_index_t stride = 1) const {
    if (col == 0 && base_col == 0 && row < rows) exec::store_element(to + (first_row + row) * stride, value);
  }
  /// Whether the thread has an element d in the part that begins at column `first`.
  TILEWRIGHT_HD bool exists(index_t first, index_t d) const {
    return d < in_vectors ? row_of<char>::column(col + first, d / Access) < cols : first == 0 && end >= 0;
  }
  /// Its position in the row; of those that do not exist, anywhere.
  TILEWRIGHT_HD index_t position(index_t first, index_t d) const {
    if (d == in_vectors) return first == 0 ? end : -1;
    return lead + base_col + row_of<char>::column(col + first, d / Access) + d % Access;
  }

  /// Starts to copy the thread's vectors of a part to LDS, zeros where the row has none; copied() loads them.
  template <class T>
  TILEWRIGHT_HD void copy(const row_of<T>& own, exec::lds_pointer lds, index_t first = 0) const {
    constexpr index_t bytes = sizeof(typename row_of<T>::words);
    own.template copy<Tile.threads * bytes>(lds + exec::thread_id() * bytes, col + first);
  }
  template <class T>
  TILEWRIGHT_HD static packed_segment<T> copied(exec::lds_pointer lds, unsigned end) {
    constexpr index_t bytes = sizeof(typename row_of<T>::words);
    return join<T>(row_of<T>::template load_copied<Tile.threads * bytes>(lds + exec::thread_id() * bytes), end);
  }
  /// A part of the thread's vectors and its element of the ends.
  template <class T>
  TILEWRIGHT_HD static packed_segment<T> join(const typename row_of<T>::vectors& own, unsigned end) {
    packed_segment<T> result = as<packed_segment<T>>(own);
    if constexpr (has_ends) {
      constexpr index_t last = in_vectors * index_t(sizeof(T)) / 4;
      static_assert(in_vectors * index_t(sizeof(T)) % 4 == 0);
      result.words[last] = end;
    }
    return result;
  }
  /// The bits of the thread's element of the ends, which belongs to the first part; 0 if there is none.
  TILEWRIGHT_HD static unsigned load_end(const auto& own, index_t first) {
    return has_ends && first == 0 ? own.load_end() : 0;
  }

 private:
  /// The thread's row, which begins `offset` elements after `first`, the same address for all lanes.
  template <class T>
  TILEWRIGHT_HD row_of<T> row_from(T* first, index_t offset, bool exists) const {
    constexpr index_t bytes = sizeof(T);
    first += base_col;
    const index_t ahead =
        has_ends ? index_t(reinterpret_cast<unsigned long long>(first) % unsigned(bytes * Tile.vector)) : 0;
    return {exec::make_global_buffer(static_cast<const char*>(static_cast<const void*>(first)) - ahead, 0x7fffffff),
            ahead + (offset + lead) * bytes, exists ? cols : 0, ahead + (offset + end) * bytes, exists && end >= 0};
  }
};

}  // namespace tilewright::detail
