// SPDX-License-Identifier: MIT
// K or V of one step: from global memory to LDS, and from there into the matrix instructions.
#pragma once

#include <tilewright/attention/attention_policy.hpp>
#include <tilewright/attention/attention_problem.hpp>
#include <tilewright/gemm/operand_windows.hpp>
#include <tilewright/tile/async_load.hpp>
#include <tilewright/tile/wave_copy.hpp>

namespace tilewright::detail {

/// One power-of-two part of the head dimension, from element `first` on. Rows of the source window are n of the
/// product, columns its k: (key, element) of K, (element, key) of V.
template <class Policy, operand_major Major, index_t Part>
class key_value_part {
  using T = typename Policy::element_type;
  using operand = attention_product<Policy, Major, Part>;
  static constexpr block_tile tile = operand::tile;
  static constexpr bool copies_directly = operand::copies_directly;
  static constexpr bool copies_by_wave = operand::plan::copies_by_wave;
  // Beside the sums of wide heads gfx11, which holds operands twice, has no registers for rows in flight.
  static constexpr bool loads_ahead = arch::describe(Policy::op).a.num_registers() < 16 ||
                                      max(Policy::head_dim, Policy::value_dim) <= 192 || sizeof(T) == 1;

  TILEWRIGHT_HD static constexpr auto lengths() { return make_tuple(number<tile.n>{}, number<tile.k>{}); }

  TILEWRIGHT_HD static auto source_window(const head_rows<const T>& rows) {
    constexpr number<1> one{};
    const auto window = [&](const auto& lengths, const auto& strides) TILEWRIGHT_INLINE_LAMBDA {
      const auto view = make_naive_tensor_view<address_space_enum::global>(rows.data + operand::first, lengths, strides,
                                                                           number<Policy::vector>{});
      return make_operand_window<typename operand::plan, operand::b_lds>(view, {}, typename operand::b_copy{});
    };
    if constexpr (Major == operand_major::k) {
      return window(make_tuple(rows.count, number<tile.k>{}), make_tuple(rows.stride, one));
    } else {
      return window(make_tuple(number<tile.n>{}, rows.count), make_tuple(one, rows.stride));
    }
  }
  TILEWRIGHT_HD static constexpr multi_index<2> along_keys(index_t keys) {
    return Major == operand_major::k ? multi_index<2>{{keys, 0}} : multi_index<2>{{0, keys}};
  }
  template <class Distribution>
  TILEWRIGHT_HD static auto lds_window(exec::lds_pointer lds, Distribution distribution) {
    constexpr tensor_descriptor<operand::b_lds> layout{{}, tile.n * tile.k};
    return make_tile_window(make_tensor_view<address_space_enum::lds, T>(lds, layout), lengths(), {}, distribution);
  }
  using source_type = decltype(source_window({}));

  source_type source_;
  decltype(lds_window({}, typename operand::b_copy{})) write_;
  decltype(lds_window({}, typename operand::b_read{})) read_;
  tile_of<source_type> in_flight_;
  exec::lds_pointer lds_;
  index_t rows_left_;  // from the next step's first one on

  /// One group of copies without registers. What the window's place makes known needs no comparisons.
  template <class Known>
  TILEWRIGHT_HD void copy(index_t lds_bytes) const {
    const auto from =
        checked_offsets<Known>(source_, typename source_type::access_sequence{}, typename source_type::dim_sequence{});
    const auto to = write_.offsets(typename source_type::access_sequence{});
    const exec::walking_buffer buffer(source_.view.buffer);
    unroll<source_type::num_access>([&](auto i) TILEWRIGHT_INLINE_LAMBDA {
      exec::async_load_in_group<source_type::vector_length * sizeof(T)>(buffer, from[i.value], write_.view.buffer,
                                                                        to[i.value] + lds_bytes);
    });
    exec::async_end_group();
  }

 public:
  static constexpr index_t first = operand::first;
  static constexpr index_t bytes = tile.n * tile.k * index_t(sizeof(T));
  static constexpr index_t lds_begin = first * Policy::tile.keys * index_t(sizeof(T));

  TILEWRIGHT_HD key_value_part(const head_rows<const T>& rows, exec::lds_pointer lds)
      : source_(source_window(rows)),
        write_(lds_window(lds + lds_begin, typename operand::b_copy{})),
        read_(lds_window(lds + lds_begin, typename operand::b_read{})),
        lds_(lds + lds_begin),
        rows_left_(rows.count) {}

  TILEWRIGHT_HD void start_at(index_t key) {
    set_window_origin(source_, along_keys(key));
    rows_left_ -= key;
  }
  TILEWRIGHT_HD void begin(index_t lds_bytes) {
    if constexpr (loads_ahead) load(lds_bytes);
  }
  TILEWRIGHT_HD void load(index_t lds_bytes) {
    // Along the head dimension the window is always inside.
    constexpr known_inside<Major == operand_major::k ? 1 : 0> known{};
    if constexpr (copies_by_wave) {
      wave_copy<source_type, operand::b_lds>(source_, lds_, known).begin(lds_bytes);
    } else if constexpr (copies_directly) {
      if (rows_left_ >= Policy::tile.keys) [[likely]] {
        copy<known_inside<0, 1>>(lds_bytes);
      } else {
        copy<decltype(known)>(lds_bytes);
      }
      rows_left_ -= Policy::tile.keys;
    } else {
      in_flight_ = load_tile(source_, known);
    }
    move_tile_window(source_, along_keys(Policy::tile.keys));
  }
  TILEWRIGHT_HD void finish(index_t lds_bytes) {
    if constexpr (!loads_ahead) load(lds_bytes);
    if constexpr (copies_directly) {
      async_wait();
    } else {
      store_tile_with_offset(write_, in_flight_, lds_bytes);
    }
  }
  /// block_gemm's own offset would move Q, too, where that is in LDS.
  TILEWRIGHT_HD auto read_at(index_t lds_bytes) const {
    auto window = read_;
    window.view.buffer = window.view.buffer + lds_bytes;
    return window;
  }
  template <class C, class A>
  TILEWRIGHT_HD void multiply(C& c, const A& a, index_t lds_bytes) const {
    if constexpr (is_lds_operand<A>) {
      block_gemm<tile>(c, a, read_at(lds_bytes));
    } else {
      block_gemm<tile>(c, a, read_, lds_bytes);
    }
  }
};

template <class Policy, operand_major Major, class Parts>
struct key_value_parts;

template <class Policy, operand_major Major, index_t... Parts>
struct key_value_parts<Policy, Major, sequence<Parts...>> : key_value_part<Policy, Major, Parts>... {
  using T = typename Policy::element_type;
  static constexpr index_t bytes = (key_value_part<Policy, Major, Parts>::bytes + ...);

  TILEWRIGHT_HD key_value_parts(const head_rows<const T>& rows, exec::lds_pointer lds)
      : key_value_part<Policy, Major, Parts>(rows, lds)... {}

  /// The first step's first row.
  TILEWRIGHT_HD void start_at(index_t key) { (key_value_part<Policy, Major, Parts>::start_at(key), ...); }
  /// Starts to copy the rows of the next step; rows past the last are zeros. The place in LDS, `stage` times `bytes`
  /// from the first one, must be free by now, or without copies_directly by finish(stage).
  TILEWRIGHT_HD void begin(index_t stage = 0) { (key_value_part<Policy, Major, Parts>::begin(stage * bytes), ...); }
  /// Completes the copy: after the block's next barrier everybody may multiply.
  TILEWRIGHT_HD void finish(index_t stage = 0) { (key_value_part<Policy, Major, Parts>::finish(stage * bytes), ...); }

  /// K: scores += q K^T, over all parts of q.
  template <class Scores, class Queries>
  TILEWRIGHT_HD void multiply_keys(Scores& scores, const Queries& q, index_t stage = 0) const {
    (key_value_part<Policy, Major, Parts>::multiply(scores, q.template get<Parts>(), stage * bytes), ...);
  }
  /// V: each part of o += p V.
  template <class Outputs, class Probabilities>
  TILEWRIGHT_HD void multiply_values(Outputs& o, const Probabilities& p, index_t stage = 0) const {
    (key_value_part<Policy, Major, Parts>::multiply(o.template get<Parts>(), p, stage * bytes), ...);
  }
};

/// K (Major: k) or V (mn) of a step. AMD GPUs copy through registers, NVIDIA GPUs without.
template <class Policy, operand_major Major>
using key_value_stage = detail::key_value_parts<Policy, Major, attention_parts<Policy, Major>>;

}  // namespace tilewright::detail
