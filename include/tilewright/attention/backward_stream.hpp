// SPDX-License-Identifier: MIT
// Rows that pass through LDS step by step, for products along the head dimension and along the rows.
#pragma once

#include <tilewright/attention/stream_copy.hpp>
#include <tilewright/mma/block_gemm.hpp>

namespace tilewright::detail {

/// A policy whose Q, K, V and O all have heads of Dim elements.
template <class Policy, index_t Dim>
struct of_head_dim : Policy {
  static constexpr index_t head_dim = Dim, value_dim = Dim;
};

TILEWRIGHT_HD constexpr tensor_graph with_exchanged_dimensions(tensor_graph graph) {
  const signed char first = graph.top[0];
  graph.top[0] = graph.top[1];
  graph.top[1] = first;
  return graph;
}

struct no_stream_copy {
  template <class... Args>
  TILEWRIGHT_HD constexpr explicit no_stream_copy(const Args&...) {}
  TILEWRIGHT_HD void begin(index_t) {}
  TILEWRIGHT_HD void finish(index_t) {}
};

/// Which products the streamed rows are operand B of: those along the head dimension (S, dP), gradients, or both.
enum class stream_use : signed char { rows, columns, both };

/// A part of the streamed rows. Where the target reads LDS transposed, one copy serves both orientations.
template <class Policy, stream_use Use, index_t Part>
class stream_part {
  using rows = stream_operand<Policy, operand_major::k, Part>;
  using columns = stream_operand<Policy, operand_major::mn, Part>;
  using T = typename rows::T;

 public:
  static constexpr bool shares_copy = !arch::is_amd(Policy::arch::value);
  static constexpr bool copies_rows = Use != stream_use::columns || shares_copy;
  static constexpr bool copies_columns = Use != stream_use::rows && !shares_copy;
  static constexpr index_t rows_bytes = copies_rows ? rows::bytes : 0;
  static constexpr index_t bytes = rows_bytes + (copies_columns ? columns::bytes : 0);

 private:
  static constexpr tensor_graph columns_lds =
      shares_copy ? with_exchanged_dimensions(rows::operand::b_lds) : columns::operand::b_lds;

  // Beside the sums of gradients RDNA's 256 registers have no room for rows in flight, nor have 512 for those of a
  // block of two waves.
  static constexpr bool loads_ahead = Policy::arch::value.wave_size == 64 && Policy::tile.waves >= 4;

  conditional_t<copies_rows, stream_copy<Policy, operand_major::k, Part, loads_ahead>, no_stream_copy> rows_;
  conditional_t<copies_columns, stream_copy<Policy, operand_major::mn, Part, loads_ahead>, no_stream_copy> columns_;
  exec::lds_pointer lds_;

 public:
  TILEWRIGHT_HD stream_part(const head_rows<const T>& from, index_t first, exec::lds_pointer lds)
      : rows_(from, first, lds), columns_(from, first, lds + rows_bytes), lds_(lds) {}

  TILEWRIGHT_HD void begin(index_t lds_bytes) {
    if constexpr (copies_rows && copies_columns) columns_.follow(rows_);
    columns_.begin(lds_bytes);
    rows_.begin(lds_bytes);
  }
  TILEWRIGHT_HD void finish() {
    if constexpr (copies_rows && copies_columns) columns_.follow(rows_);
    columns_.finish(0);
    rows_.finish(0);
  }
  template <class C, class A>
  TILEWRIGHT_HD void multiply_rows(C& c, const A& a, index_t lds_bytes) const {
    block_gemm<rows::tile>(
        c, a, rows::template lds_window<rows::operand::b_lds>(lds_ + lds_bytes, typename rows::operand::b_read{}));
  }
  template <class C, class A>
  TILEWRIGHT_HD void multiply_columns(C& c, const A& a, index_t lds_bytes) const {
    const exec::lds_pointer lds = lds_ + (lds_bytes + (copies_columns ? rows_bytes : 0));
    block_gemm<columns::tile>(c, a,
                              columns::template lds_window<columns_lds>(lds, typename columns::operand::b_read{}));
  }
};

/// Rows of one tensor that pass through LDS, Policy::tile.keys in a step. NVIDIA GPUs copy into one of two buffers
/// while the other is multiplied, AMD GPUs through registers.
template <class Policy, stream_use Use, class Parts = attention_parts<Policy, operand_major::k>>
struct row_stream;
template <class Policy, stream_use Use, index_t... Parts>
struct row_stream<Policy, Use, sequence<Parts...>> : stream_part<Policy, Use, Parts>... {
  using T = typename Policy::element_type;
  static constexpr index_t buffer_bytes = (stream_part<Policy, Use, Parts>::bytes + ...);

  /// Steps begin at row `first`.
  TILEWRIGHT_HD row_stream(const head_rows<const T>& rows, index_t first, exec::lds_pointer lds)
      : stream_part<Policy, Use, Parts>(rows, first, lds + place_of(Parts))... {}

  TILEWRIGHT_HD void begin(index_t lds_bytes) { (stream_part<Policy, Use, Parts>::begin(lds_bytes), ...); }
  TILEWRIGHT_HD void finish() { (stream_part<Policy, Use, Parts>::finish(), ...); }

  /// scores += a rows^T, over all parts of a.
  template <class Scores, class A>
  TILEWRIGHT_HD void multiply_rows(Scores& scores, const A& a, index_t lds_bytes) const {
    (stream_part<Policy, Use, Parts>::multiply_rows(scores, a.template get<Parts>(), lds_bytes), ...);
  }
  /// Each part of outputs += a rows.
  template <class Outputs, class A>
  TILEWRIGHT_HD void multiply_columns(Outputs& outputs, const A& a, index_t lds_bytes) const {
    (stream_part<Policy, Use, Parts>::multiply_columns(outputs.template get<Parts>(), a, lds_bytes), ...);
  }

 private:
  TILEWRIGHT_HD static constexpr index_t place_of(index_t part) {
    index_t place = 0;
    ((place += Parts < part ? stream_part<Policy, Use, Parts>::bytes : 0), ...);
    return place;
  }
};

}  // namespace tilewright::detail
