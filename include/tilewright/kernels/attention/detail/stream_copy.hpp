// SPDX-License-Identifier: MIT
// Rows of a head that pass through LDS step by step: windows of one part of the head dimension, and its copies.
#pragma once

#include <tilewright/block/operands/operand_windows.hpp>
#include <tilewright/kernels/attention/attention_args.hpp>
#include <tilewright/kernels/attention/attention_policy.hpp>
#include <tilewright/tile/copy/async_load.hpp>
#include <tilewright/tile/copy/repeated_copy.hpp>

namespace tilewright::detail {

/// One power-of-two part of the head dimension in one of both orientations: as operand B of S (Major: k), whose rows
/// are rows of memory, or of O or a gradient (mn), whose rows are elements of the head dimension.
template <class Policy, operand_major Major, index_t Chunk>
struct stream_operand {
  using T = typename Policy::element_type;
  using operand = attention_product<Policy, Major, Chunk>;
  static constexpr block_tile tile = operand::tile;
  static constexpr bool is_rows = Major == operand_major::k;
  static constexpr index_t bytes = tile.n * tile.k * index_t(sizeof(T));

  TILEWRIGHT_HD static constexpr auto lengths() { return make_tuple(number<tile.n>{}, number<tile.k>{}); }
  TILEWRIGHT_HD static auto source_window(const head_rows<const T>& rows) {
    constexpr number<1> one{};
    const auto window = [&](const auto& lengths, const auto& strides) TILEWRIGHT_INLINE_LAMBDA {
      const auto view = make_naive_tensor_view<address_space_enum::global>(rows.data + operand::first, lengths, strides,
                                                                           number<Policy::vector>{});
      return make_operand_window<typename operand::plan, operand::b_lds>(view, {}, typename operand::b_copy{});
    };
    if constexpr (is_rows) {
      return window(make_tuple(rows.count, number<tile.k>{}), make_tuple(rows.stride, one));
    } else {
      return window(make_tuple(number<tile.n>{}, rows.count), make_tuple(one, rows.stride));
    }
  }
  TILEWRIGHT_HD static constexpr multi_index<2> along_rows(index_t rows) {
    return is_rows ? multi_index<2>{{rows, 0}} : multi_index<2>{{0, rows}};
  }
  template <tensor_graph Graph = operand::b_lds, class Distribution>
  TILEWRIGHT_HD static auto lds_window(exec::lds_pointer lds, Distribution distribution) {
    constexpr tensor_descriptor<Graph> layout{{}, tile.n * tile.k};
    return make_tile_window(make_tensor_view<address_space_enum::lds, T>(lds, layout), lengths(), {}, distribution);
  }
};

/// One orientation's copy of a part, in flight and in LDS. Not LoadsAhead: registers do not suffice for rows in
/// flight.
template <class Policy, operand_major Major, index_t Chunk, bool LoadsAhead>
class stream_copy {
  using of = stream_operand<Policy, Major, Chunk>;
  using T = typename of::T;
  using operand = typename of::operand;
  using source_type = decltype(of::source_window({}));
  static constexpr bool copies_directly = operand::copies_directly;
  static constexpr bool loads_ahead = LoadsAhead || copies_directly;

  source_type source_;
  decltype(of::lds_window({}, typename operand::b_copy{})) write_;
  tile_of<source_type> in_flight_;
  exec::lds_pointer lds_;
  index_t rows_left_;  // from the next step's first one on

  /// One group of copies without registers. What the window's place makes known needs no comparisons.
  template <class Known>
  TILEWRIGHT_HD void begin_group(index_t lds_bytes) const {
    const auto from =
        checked_offsets<Known>(source_, typename source_type::access_sequence{}, typename source_type::dim_sequence{});
    const auto to = write_.offsets(typename source_type::access_sequence{});
    exec::walking_buffer buffer(source_.view.buffer);
    unroll<source_type::num_access>([&](auto i) TILEWRIGHT_INLINE_LAMBDA {
      constexpr index_t n = i.value;
      constexpr bool advances =
          Known::template contains<0> && Known::template contains<1>;  // one addition for each copy
      if constexpr (advances) buffer.advance(n == 0 ? from[0] : from[n] - from[max(n - 1, 0)]);
      exec::async_load_in_group<source_type::vector_length * sizeof(T)>(buffer, advances ? 0 : from[n],
                                                                        write_.view.buffer, to[n] + lds_bytes);
    });
    exec::async_end_group();
  }
  TILEWRIGHT_HD void copy(index_t lds_bytes) {
    constexpr in_bounds<of::is_rows ? 1 : 0> known{};  // along the head dimension
    if constexpr (operand::plan::copies_by_wave) {
      wave_copy<source_type, operand::b_lds>(source_, lds_, known).issue(lds_bytes);
    } else if constexpr (copies_directly) {
      if (rows_left_ >= Policy::tile.keys) [[likely]] {
        begin_group<in_bounds<0, 1>>(lds_bytes);
      } else {
        begin_group<decltype(known)>(lds_bytes);
      }
      rows_left_ -= Policy::tile.keys;
    } else {
      in_flight_ = load_tile(source_, known);
    }
    move_tile_window(source_, of::along_rows(Policy::tile.keys));
  }

 public:
  /// The first step begins at row `first`.
  TILEWRIGHT_HD stream_copy(const head_rows<const T>& rows, index_t first, exec::lds_pointer lds)
      : source_(of::source_window(rows)),
        write_(of::lds_window(lds, typename operand::b_copy{})),
        lds_(lds),
        rows_left_(rows.count - first) {
    set_window_origin(source_, of::along_rows(first));
  }
  /// Continues where another orientation's copy of the same rows is: one buffer occupies fewer scalar registers.
  template <class Other>
  TILEWRIGHT_HD void follow(const Other& other) {
    source_.view.buffer = other.source_.view.buffer;
  }
  TILEWRIGHT_HD void skip(index_t count) {
    move_tile_window(source_, of::along_rows(count));
    rows_left_ -= count;
  }
  TILEWRIGHT_HD void begin(index_t lds_bytes) {
    if constexpr (loads_ahead) copy(lds_bytes);
  }
  TILEWRIGHT_HD void finish(index_t lds_bytes) {
    if constexpr (!loads_ahead) copy(lds_bytes);
    if constexpr (copies_directly) {
      async_wait();
    } else {
      store_tile_with_offset(write_, in_flight_, lds_bytes);
    }
  }
  template <class, operand_major, index_t, bool>
  friend class stream_copy;
};

}  // namespace tilewright::detail
