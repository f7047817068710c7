// SPDX-License-Identifier: MIT
// Rows that pass through LDS step by step, for products along the head dimension and along the rows.
#pragma once

#include <tilewright/block/mma/block_gemm.hpp>
#include <tilewright/kernels/attention/detail/stream_copy.hpp>

namespace tilewright::detail {

TILEWRIGHT_HD constexpr tensor_graph with_dimensions_exchanged(tensor_graph graph) {
  const signed char first = graph.top[0];
  graph.top[0] = graph.top[1];
  graph.top[1] = first;
  return graph;
}

struct no_stream_copy {
  template <class... Args>
  TILEWRIGHT_HD constexpr explicit no_stream_copy(const Args&...) {}
  TILEWRIGHT_HD void begin(index_t) {}
  TILEWRIGHT_HD void skip(index_t) {}
  TILEWRIGHT_HD void finish(index_t) {}
};

/// Which products the streamed rows are operand B of: those along the head dimension (S, dP), those along the rows (O,
/// gradients), or both.
enum class stream_use : signed char { rows, columns, both };

/// A part of the streamed rows. Where the target reads LDS transposed, one copy serves both orientations.
template <class Policy, stream_use Use, bool LoadsAhead, index_t Chunk>
class stream_chunk {
  using rows = stream_operand<Policy, operand_major::k, Chunk>;
  using columns = stream_operand<Policy, operand_major::mn, Chunk>;
  using T = typename Policy::element_type;
  static constexpr bool shares_copy = Use == stream_use::both && !is_amd_v<typename Policy::arch>;
  static constexpr bool copies_rows = Use != stream_use::columns;
  static constexpr bool copies_columns = Use == stream_use::columns || (Use == stream_use::both && !shares_copy);
  static constexpr index_t bytes_of_copy = conditional_t<copies_rows, rows, columns>::bytes;
  static constexpr index_t columns_begin = copies_rows && copies_columns ? bytes_of_copy : 0;

  conditional_t<copies_rows, stream_copy<Policy, operand_major::k, Chunk, LoadsAhead>, no_stream_copy> rows_;
  conditional_t<copies_columns, stream_copy<Policy, operand_major::mn, Chunk, LoadsAhead>, no_stream_copy> columns_;

  TILEWRIGHT_HD static auto rows_window([[maybe_unused]] exec::lds_pointer lds) {
    if constexpr (Use == stream_use::columns) {
      return 0;
    } else {
      return rows::lds_window(lds, typename rows::operand::b_read{});
    }
  }
  TILEWRIGHT_HD static auto columns_window([[maybe_unused]] exec::lds_pointer lds) {
    if constexpr (Use == stream_use::rows) {
      return 0;
    } else if constexpr (shares_copy) {
      return columns::template lds_window<with_dimensions_exchanged(rows::operand::b_lds)>(
          lds, typename columns::operand::b_read{});
    } else {
      return columns::lds_window(lds + columns_begin, typename columns::operand::b_read{});
    }
  }
  decltype(rows_window({})) read_rows_;
  decltype(columns_window({})) read_columns_;

 public:
  static constexpr index_t bytes = columns_begin + bytes_of_copy;

  TILEWRIGHT_HD stream_chunk(const head_rows<const T>& from, index_t first, exec::lds_pointer lds)
      : rows_(from, first, lds),
        columns_(from, first, lds + columns_begin),
        read_rows_(rows_window(lds)),
        read_columns_(columns_window(lds)) {}

  TILEWRIGHT_HD void begin(index_t lds_bytes) {
    if constexpr (copies_rows && copies_columns) columns_.follow(rows_);
    columns_.begin(lds_bytes);
    rows_.begin(lds_bytes);
  }
  TILEWRIGHT_HD void skip(index_t count) {
    rows_.skip(count);
    columns_.skip(count);
  }
  TILEWRIGHT_HD void finish(index_t lds_bytes) {
    if constexpr (copies_rows && copies_columns) columns_.follow(rows_);
    columns_.finish(lds_bytes);
    rows_.finish(lds_bytes);
  }
  template <class C, class A>
  TILEWRIGHT_HD void multiply_rows(C& c, const A& a, index_t lds_bytes) const {
    multiply<rows::tile>(c, a, read_rows_, lds_bytes);
  }
  template <class C, class A>
  TILEWRIGHT_HD void multiply_columns(C& c, const A& a, index_t lds_bytes) const {
    multiply<columns::tile>(c, a, read_columns_, lds_bytes);
  }

 private:
  template <block_tile Tile, class C, class A, class Window>
  TILEWRIGHT_HD static void multiply(C& c, const A& a, Window window, index_t lds_bytes) {
    if constexpr (is_lds_operand<A>) {  // block_gemm's own offset would move A, too
      window.view.buffer = window.view.buffer + lds_bytes;
      block_gemm<Tile>(c, a, window);
    } else {
      block_gemm<Tile>(c, a, window, lds_bytes);
    }
  }
};

/// Rows of one tensor that pass through LDS, Policy::tile.keys in a step. NVIDIA GPUs copy without registers, AMD GPUs
/// through them; LoadsAhead: they suffice for rows in flight.
template <class Policy, stream_use Use, bool LoadsAhead,
          class Chunks = attention_chunks<Policy, Use == stream_use::columns ? operand_major::mn : operand_major::k>>
struct row_stream;
template <class Policy, stream_use Use, bool LoadsAhead, index_t... Chunks>
struct row_stream<Policy, Use, LoadsAhead, sequence<Chunks...>> : stream_chunk<Policy, Use, LoadsAhead, Chunks>... {
  template <index_t Chunk>
  using chunk = stream_chunk<Policy, Use, LoadsAhead, Chunk>;
  using T = typename Policy::element_type;
  static constexpr index_t bytes = (chunk<Chunks>::bytes + ...);

  /// The first step begins at row `first`.
  TILEWRIGHT_HD row_stream(const head_rows<const T>& rows, index_t first, exec::lds_pointer lds)
      : chunk<Chunks>(rows, first, lds + place_of(Chunks))... {}

  /// Starts to copy the rows of the next step; rows past the last are zeros. The place in LDS, `lds_bytes` from the
  /// first one, must be free by now, or where registers are in between by finish(lds_bytes).
  TILEWRIGHT_HD void begin(index_t lds_bytes = 0) { (chunk<Chunks>::begin(lds_bytes), ...); }
  /// Completes the copy: after the block's next barrier everybody may multiply.
  TILEWRIGHT_HD void finish(index_t lds_bytes = 0) { (chunk<Chunks>::finish(lds_bytes), ...); }

  /// The step that begin() starts next is `count` rows further. Where registers are in between, finish() comes first.
  TILEWRIGHT_HD void skip(index_t count) { (chunk<Chunks>::skip(count), ...); }

  /// scores += a rows^T, over all parts of a.
  template <class Scores, class A>
  TILEWRIGHT_HD void multiply_rows(Scores& scores, const A& a, index_t lds_bytes = 0) const {
    (chunk<Chunks>::multiply_rows(scores, a.template get<Chunks>(), lds_bytes), ...);
  }
  /// Each part of outputs += a rows.
  template <class Outputs, class A>
  TILEWRIGHT_HD void multiply_columns(Outputs& outputs, const A& a, index_t lds_bytes = 0) const {
    (chunk<Chunks>::multiply_columns(outputs.template get<Chunks>(), a, lds_bytes), ...);
  }

 private:
  TILEWRIGHT_HD static constexpr index_t place_of(index_t chunk_number) {
    index_t place = 0;
    ((place += Chunks < chunk_number ? chunk<Chunks>::bytes : 0), ...);
    return place;
  }
};

// Beside the accumulators of wide heads RDNA has no registers for rows in flight; gfx11 holds operands twice.
template <class Policy>
inline constexpr bool loads_keys_ahead =
    sizeof(typename Policy::element_type) == 1 ||
    max(Policy::head_dim, Policy::value_dim) <= (arch::describe(Policy::op).repeats_operands() ? 192
                                                 : Policy::arch::value.wave_size == 32         ? 256
                                                                                               : 512);

/// K and V of attention forward.
template <class Policy>
using keys_stream = row_stream<Policy, stream_use::rows, loads_keys_ahead<Policy>>;
template <class Policy>
using values_stream = row_stream<Policy, stream_use::columns, loads_keys_ahead<Policy>>;

}  // namespace tilewright::detail
