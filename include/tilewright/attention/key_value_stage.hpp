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

  TILEWRIGHT_HD static auto source_window(const T* data, index_t keys, index_t row_stride) {
    constexpr auto global = address_space_enum::global;
    constexpr number<Policy::vector> vector{};
    constexpr number<1> one{};
    if constexpr (Major == operand_major::k) {
      const auto view =
          make_naive_tensor_view<global>(data, make_tuple(keys, number<tile.k>{}), make_tuple(row_stride, one), vector);
      return make_operand_window<typename operand::plan, operand::b_lds>(view, {}, typename operand::b_copy{});
    } else {
      const auto view =
          make_naive_tensor_view<global>(data, make_tuple(number<tile.n>{}, keys), make_tuple(one, row_stride), vector);
      return make_operand_window<typename operand::plan, operand::b_lds>(view, {}, typename operand::b_copy{});
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
  using source_type = decltype(source_window(nullptr, 0, 0));

  source_type source_;
  decltype(lds_window({}, typename operand::b_copy{})) write_;
  decltype(lds_window({}, typename operand::b_read{})) read_;
  tile_of<source_type> in_flight_;
  exec::lds_pointer lds_;

 public:
  static constexpr index_t first = operand::first;
  static constexpr index_t bytes = tile.n * tile.k * index_t(sizeof(T));
  static constexpr index_t lds_begin = first * Policy::tile.keys * index_t(sizeof(T));

  TILEWRIGHT_HD key_value_part(const T* data, index_t keys, index_t row_stride, exec::lds_pointer lds)
      : source_(source_window(data + first, keys, row_stride)),
        write_(lds_window(lds + lds_begin, typename operand::b_copy{})),
        read_(lds_window(lds + lds_begin, typename operand::b_read{})),
        lds_(lds + lds_begin) {}

  TILEWRIGHT_HD void start_at(index_t key) { set_window_origin(source_, along_keys(key)); }
  TILEWRIGHT_HD void begin(index_t lds_bytes) {
    if constexpr (loads_ahead) load(lds_bytes);
  }
  TILEWRIGHT_HD void load(index_t lds_bytes) {
    // Along the head dimension the window is always inside.
    constexpr known_inside<Major == operand_major::k ? 1 : 0> known{};
    if constexpr (copies_by_wave) {
      wave_copy<source_type, operand::b_lds>(source_, lds_, known).begin(lds_bytes);
    } else if constexpr (copies_directly) {
      async_load_tile(write_, source_, known, lds_bytes);
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
  template <class C, class A>
  TILEWRIGHT_HD void multiply(C& c, const A& a, index_t lds_bytes) const {
    block_gemm<tile>(c, a, read_, lds_bytes);
  }
};

template <class Policy, operand_major Major, class Parts>
struct key_value_parts;

template <class Policy, operand_major Major, index_t... Parts>
struct key_value_parts<Policy, Major, sequence<Parts...>> : key_value_part<Policy, Major, Parts>... {
  using T = typename Policy::element_type;
  static constexpr index_t bytes = (key_value_part<Policy, Major, Parts>::bytes + ...);

  /// `data`: the first element of the sequence's head.
  TILEWRIGHT_HD key_value_parts(const T* data, index_t keys, index_t row_stride, exec::lds_pointer lds)
      : key_value_part<Policy, Major, Parts>(data, keys, row_stride, lds)... {}

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
