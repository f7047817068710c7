// SPDX-License-Identifier: MIT
// Rows that pass through LDS step by step, for products along the head dimension and along the rows.
#pragma once

#include <tilewright/attention/attention_policy.hpp>
#include <tilewright/mma/block_gemm.hpp>
#include <tilewright/tile/async_load.hpp>
#include <tilewright/tile/load_store.hpp>

namespace tilewright::detail {

/// A policy whose Q, K, V and O all have heads of Dim elements.
template <class Policy, index_t Dim>
struct of_head_dim : Policy {
  static constexpr index_t head_dim = Dim, value_dim = Dim;
};

/// One power-of-two part of the head dimension in one of both orientations: as operand B of S (Major: k), whose rows
/// are rows of memory, or of a gradient (mn), whose rows are elements of the head dimension.
template <class Policy, operand_major Major, index_t Part>
struct stream_operand {
  using T = typename Policy::element_type;
  using operand = attention_product<Policy, Major, Part>;
  static constexpr block_tile tile = operand::tile;
  static constexpr bool is_rows = Major == operand_major::k;
  static constexpr index_t bytes = tile.n * tile.k * index_t(sizeof(T));

  TILEWRIGHT_HD static constexpr auto lengths() { return make_tuple(number<tile.n>{}, number<tile.k>{}); }
  TILEWRIGHT_HD static auto source_window(const T* data, index_t rows, index_t row_stride) {
    constexpr auto global = address_space_enum::global;
    constexpr number<Policy::vector> vector{};
    constexpr number<1> one{};
    if constexpr (is_rows) {
      const auto view =
          make_naive_tensor_view<global>(data, make_tuple(rows, number<tile.k>{}), make_tuple(row_stride, one), vector);
      return make_tile_window(view, lengths(), {}, typename operand::b_copy{});
    } else {
      const auto view =
          make_naive_tensor_view<global>(data, make_tuple(number<tile.n>{}, rows), make_tuple(one, row_stride), vector);
      return make_tile_window(view, lengths(), {}, typename operand::b_copy{});
    }
  }
  TILEWRIGHT_HD static constexpr multi_index<2> along_rows(index_t rows) {
    return is_rows ? multi_index<2>{{rows, 0}} : multi_index<2>{{0, rows}};
  }
  template <tensor_graph Graph, class Distribution>
  TILEWRIGHT_HD static auto lds_window(exec::lds_pointer lds, Distribution distribution) {
    constexpr tensor_descriptor<Graph> layout{{}, tile.n * tile.k};
    return make_tile_window(make_tensor_view<address_space_enum::lds, T>(lds, layout), lengths(), {}, distribution);
  }
};

TILEWRIGHT_HD constexpr tensor_graph with_exchanged_dimensions(tensor_graph graph) {
  const signed char first = graph.top[0];
  graph.top[0] = graph.top[1];
  graph.top[1] = first;
  return graph;
}

/// One orientation's copy of a part, on its way to LDS and there.
template <class Policy, operand_major Major, index_t Part>
class stream_copy {
  using of = stream_operand<Policy, Major, Part>;
  using T = typename of::T;
  using operand = typename of::operand;
  using source_type = decltype(of::source_window(nullptr, 0, 0));
  static constexpr bool copies_directly = !arch::is_amd(Policy::arch::value);
  // Beside the sums of gradients RDNA's 256 registers have no room for rows in flight, nor have 512 for those of a
  // block of two waves.
  static constexpr bool loads_ahead =
      copies_directly || (Policy::arch::value.wave_size == 64 && Policy::tile.waves >= 4);

  source_type source_;
  decltype(of::template lds_window<operand::b_lds>({}, typename operand::b_copy{})) write_;
  tile_of<source_type> in_flight_;

  TILEWRIGHT_HD void copy(index_t lds_bytes) {
    constexpr known_inside<of::is_rows ? 1 : 0> known{};  // along the head dimension
    if constexpr (copies_directly) {
      async_load_tile(write_, source_, known, lds_bytes);
    } else {
      in_flight_ = load_tile(source_, known);
    }
    move_tile_window(source_, of::along_rows(Policy::tile.keys));
  }

 public:
  TILEWRIGHT_HD stream_copy(const T* data, index_t rows, index_t row_stride, index_t first, exec::lds_pointer lds)
      : source_(of::source_window(data, rows, row_stride)),
        write_(of::template lds_window<operand::b_lds>(lds, typename operand::b_copy{})) {
    set_window_origin(source_, of::along_rows(first));
  }
  /// Continues where another orientation's copy of the same rows is: one buffer occupies fewer scalar registers.
  template <class Other>
  TILEWRIGHT_HD void follow(const Other& other) {
    source_.view.buffer = other.source_.view.buffer;
  }
  TILEWRIGHT_HD void begin(index_t lds_bytes) {
    if constexpr (loads_ahead) copy(lds_bytes);
  }
  TILEWRIGHT_HD void finish() {
    if constexpr (!loads_ahead) copy(0);
    if constexpr (!copies_directly) store_tile(write_, in_flight_);
  }
  template <class, operand_major, index_t>
  friend class stream_copy;
};

struct no_stream_copy {
  template <class... Args>
  TILEWRIGHT_HD constexpr explicit no_stream_copy(const Args&...) {}
  TILEWRIGHT_HD void begin(index_t) {}
  TILEWRIGHT_HD void finish() {}
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

  conditional_t<copies_rows, stream_copy<Policy, operand_major::k, Part>, no_stream_copy> rows_;
  conditional_t<copies_columns, stream_copy<Policy, operand_major::mn, Part>, no_stream_copy> columns_;
  exec::lds_pointer lds_;

 public:
  TILEWRIGHT_HD stream_part(const T* data, index_t count, index_t row_stride, index_t first, exec::lds_pointer lds)
      : rows_(data + rows::operand::first, count, row_stride, first, lds),
        columns_(data + rows::operand::first, count, row_stride, first, lds + rows_bytes),
        lds_(lds) {}

  TILEWRIGHT_HD void begin(index_t lds_bytes) {
    if constexpr (copies_rows && copies_columns) columns_.follow(rows_);
    columns_.begin(lds_bytes);
    rows_.begin(lds_bytes);
  }
  TILEWRIGHT_HD void finish() {
    if constexpr (copies_rows && copies_columns) columns_.follow(rows_);
    columns_.finish();
    rows_.finish();
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

  /// `data`: the first row of the sequence's head, which has `count` rows; steps begin at row `first`.
  TILEWRIGHT_HD row_stream(const T* data, index_t count, index_t row_stride, index_t first, exec::lds_pointer lds)
      : stream_part<Policy, Use, Parts>(data, count, row_stride, first, lds + place_of(Parts))... {}

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
