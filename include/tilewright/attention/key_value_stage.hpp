// SPDX-License-Identifier: MIT
// K or V of one step: from global memory to LDS, and from there into the matrix instructions.
#pragma once

#include <tilewright/attention/stream_copy.hpp>
#include <tilewright/mma/block_gemm.hpp>

namespace tilewright::detail {

// Beside the sums of wide heads gfx11, which holds operands twice, has no registers for rows in flight.
template <class Policy>
inline constexpr bool loads_keys_ahead =
    arch::describe(Policy::op).a.num_registers() < 16 || max(Policy::head_dim, Policy::value_dim) <= 192 ||
    sizeof(typename Policy::element_type) == 1;

/// One power-of-two part of the head dimension.
template <class Policy, operand_major Major, index_t Part>
class key_value_part : public stream_copy<Policy, Major, Part, loads_keys_ahead<Policy>> {
  using T = typename Policy::element_type;
  using of = stream_operand<Policy, Major, Part>;

  decltype(of::lds_window({}, typename of::operand::b_read{})) read_;

 public:
  static constexpr index_t bytes = of::bytes;
  static constexpr index_t lds_begin = of::operand::first * Policy::tile.keys * index_t(sizeof(T));

  TILEWRIGHT_HD key_value_part(const head_rows<const T>& rows, index_t first, exec::lds_pointer lds)
      : stream_copy<Policy, Major, Part, loads_keys_ahead<Policy>>(rows, first, lds + lds_begin),
        read_(of::lds_window(lds + lds_begin, typename of::operand::b_read{})) {}

  template <class C, class A>
  TILEWRIGHT_HD void multiply(C& c, const A& a, index_t lds_bytes) const {
    if constexpr (is_lds_operand<A>) {  // block_gemm's own offset would move Q, too
      auto read = read_;
      read.view.buffer = read.view.buffer + lds_bytes;
      block_gemm<of::tile>(c, a, read);
    } else {
      block_gemm<of::tile>(c, a, read_, lds_bytes);
    }
  }
};

template <class Policy, operand_major Major, class Parts>
struct key_value_parts;

template <class Policy, operand_major Major, index_t... Parts>
struct key_value_parts<Policy, Major, sequence<Parts...>> : key_value_part<Policy, Major, Parts>... {
  using T = typename Policy::element_type;
  static constexpr index_t bytes = (key_value_part<Policy, Major, Parts>::bytes + ...);

  /// The first step begins at row `first`.
  TILEWRIGHT_HD key_value_parts(const head_rows<const T>& rows, index_t first, exec::lds_pointer lds)
      : key_value_part<Policy, Major, Parts>(rows, first, lds)... {}

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
