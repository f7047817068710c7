// SPDX-License-Identifier: MIT
// Grouped GEMM of a mixture of experts (MoE): rows of A that a table names, SwiGLU, a bias for each expert.
#pragma once

#include <tilewright/core/base/bits.hpp>
#include <tilewright/kernels/gemm/grouped/detail/gathered_row.hpp>
#include <tilewright/kernels/gemm/grouped/grouped_gemm.hpp>
#include <tilewright/kernels/gemm/two_products.hpp>
#include <tilewright/tile/registers/element_functions.hpp>

namespace tilewright {

/// The arguments of expert_gate_up and expert_down. Groups are experts; rows are entries (tokens x choices), ordered by
/// expert as order_by_expert does. Of gemm_args, those that are given are applied in this order: row_scale (of A's rows
/// in memory), column_scale (n floats for each expert and product), bias (n elements of C's type, likewise).
struct expert_args : grouped_args {
  /// (m), on the device: row i of A is row source[i] / choices of `a`. Others read as 0. Null where A is in order.
  const index_t* source = nullptr;
  index_t choices = 1;                    ///< Entries of a token; >= 1.
  index_t tokens = 0;                     ///< Rows of `a`, with source; >= 1.
  index_t column_step = 1;                ///< From the scale and bias of a column to those of the next; >= 1.
  long_index_t group_stride_bias = 0;     ///< From an expert's bias to the next one's.
  long_index_t product_stride_bias = 0;   ///< expert_gate_up: from the bias of the gate to that of `up`.
  long_index_t group_stride_scale = 0;    ///< From an expert's column_scale to the next one's.
  long_index_t product_stride_scale = 0;  ///< expert_gate_up: from the column_scale of the gate to that of `up`.
  float swiglu_alpha = 1;                 ///< The gate x becomes x sigmoid(alpha x).
  /// > 0: x becomes min(x, limit) before, y of `up` is clamped to +-limit. Infinity: none.
  float swiglu_limit = bit_cast<float>(0x7f800000u);
  float swiglu_shift = 0;  ///< Added to y, after that.
};

/// What is wrong with the table of rows of A, for kernels that reach them by offsets of up to `limit` bytes.
constexpr const char* check_gathered(const expert_args& args, index_t element_bytes, long_index_t limit) {
  if (!args.source) return "a pointer is null: source";
  if (args.choices < 1 || args.tokens < 1) return "choices and tokens must be positive";
  return long_index_t{args.tokens} * args.lda > limit / element_bytes
             ? "the tokens take 2 GiB or more, which this kernel does not reach; use several launches"
             : nullptr;
}

namespace detail {

/// What both GEMMs refuse, as an error message; nullptr: nothing. Gathers: as the policy's gathers_a.
template <bool Gathers>
constexpr const char* check_experts(const expert_args& args) {
  if (!Gathers && args.source) return "this GEMM of experts takes rows of A in order: source must be null";
  if (args.alpha != 1 || args.beta != 0) return "GEMMs of experts take no alpha and no beta";
  return args.column_step >= 1 ? nullptr : "column_step must be positive";
}

}  // namespace detail

namespace epilogue {

namespace detail {

/// Applies what the arguments say of product number `product` to its accumulators. Gathers: as the policy's gathers_a.
template <bool Gathers, class Accumulators, class At>
TILEWRIGHT_HD void scale_and_add_bias(Accumulators& accumulators, const At& at, const expert_args& args,
                                      index_t product) {
  const auto multiply = [](float& x, float factor) { x *= factor; };
  if (args.row_scale) {
    if constexpr (Gathers) {
      const auto scale_of = [&](index_t source) {
        const index_t token = token_of(source, args.choices);
        return unsigned(token) < unsigned(args.tokens) ? args.row_scale[token] : 0.0f;
      };
      const auto scales = tile_elementwise_in(scale_of, at.along_m(args.source));
      tile_elementwise_inout(multiply, accumulators, along<0>(scales));
    } else {
      tile_elementwise_inout(multiply, accumulators, along<0>(at.along_m(args.row_scale)));
    }
  }
  if (args.column_scale) {
    const float* const scale =
        args.column_scale + (at.batch * args.group_stride_scale + product * args.product_stride_scale);
    tile_elementwise_inout(multiply, accumulators, along<1>(at.along_n(scale, args.column_step)));
  }
  if (args.bias) {
    const auto* const bias = static_cast<const typename At::template element<void>*>(args.bias) +
                             (at.batch * args.group_stride_bias + product * args.product_stride_bias);
    tile_elementwise_inout([](float& x, float b) { x += b; }, accumulators,
                           along<1>(at.along_n(bias, args.column_step)));
  }
}

}  // namespace detail

/// x = x scaled, plus the bias of its expert and column, as far as they are given.
struct expert_bias {
  /// An error message for what the second GEMM of experts cannot do.
  static constexpr const char* check(const expert_args& args, const vector_alignment&) {
    return detail::check_experts<false>(args);
  }
  /// Changes this thread's accumulators; at: an epilogue_tile, which knows their rows and columns.
  template <class Accumulators, class At>
  TILEWRIGHT_HD void operator()(Accumulators& accumulators, const At& at, const expert_args& args) const {
    detail::require_floats<Accumulators>();
    detail::scale_and_add_bias<false>(accumulators, at, args, 0);
  }
};

/// x = x' sigmoid(alpha x') (y' + shift) with x' = min(x, limit) and y' = y clamped to +-limit, of the gate x and `up`
/// y, scaled and with their biases. NaN stays NaN. Gathers: row_scale is of the rows that `source` names, else of A's.
template <bool Gathers>
struct expert_swiglu {
  /// An error message for what the first GEMM of experts cannot do.
  static constexpr const char* check(const expert_args& args, const vector_alignment&) {
    if (!(args.swiglu_limit > 0)) return "swiglu_limit must be positive; infinity is no limit";
    return detail::check_experts<Gathers>(args);
  }
  /// Combines this thread's accumulators of two products; the result is in `gate`.
  template <class Accumulators, class At>
  TILEWRIGHT_HD void operator()(Accumulators& gate, Accumulators& up, const At& at, const expert_args& args) const {
    detail::require_floats<Accumulators>();
    detail::scale_and_add_bias<Gathers>(gate, at, args, 0);
    detail::scale_and_add_bias<Gathers>(up, at, args, 1);
    const clamped_swiglu_function function{args.swiglu_alpha, args.swiglu_limit, args.swiglu_shift};
    tile_elementwise_inout([&](float& x, float y) { x = function(x, y); }, gate, up);
  }
};

}  // namespace epilogue

/// The policy of the first GEMM of experts, made of a policy of one product: C (entries, n) = SwiGLU of A W_gate and
/// A W_up, whose rows are gathered while they are loaded, or (Gathers = false) in order. B: W_gate of all experts;
/// gemm_args::product_stride_b leads to W_up, in rows that follow (n ldb), or between (ldb twice a row,
/// product_stride_b one).
template <class Policy, bool Gathers = true>
struct expert_gate_up : grouped<Policy, group_kind::rows> {
  using args_type = expert_args;
  using epilogue = tilewright::epilogue::expert_swiglu<Gathers>;
  static constexpr index_t products = 2;      ///< gate and up
  static constexpr bool gathers_a = Gathers;  ///< by expert_args::source
};

/// The policy of the second one: C (entries, n) = A W_down + bias, rows of A in order.
template <class Policy>
struct expert_down : grouped<Policy, group_kind::rows> {
  using args_type = expert_args;
  using epilogue = tilewright::epilogue::expert_bias;
};

/// A (m, k), row i of which is row source[i] / choices of `tokens` rows in memory.
template <class Policy, class T>
TILEWRIGHT_HD auto gathered_view(const T* data, const typename Policy::args_type& args) {
  constexpr number<Policy::vector> vector{};
  const auto rows = make_naive_tensor_view<address_space_enum::global>(data, make_tuple(args.tokens, args.k),
                                                                       make_tuple(args.lda, number<1>{}), vector);
  const auto address = reinterpret_cast<unsigned long long>(args.source);
  const auto row_of = make_functor_transform(
      detail::gathered_row{}, args.tokens, args.m,
      make_tuple(index_t(unsigned(address)), index_t(unsigned(address >> 32)), args.m, args.choices));
  return transform_tensor_view(rows, make_tuple(row_of, make_pass_through_transform(args.k)),
                               make_tuple(sequence<0>{}, sequence<1>{}), make_tuple(sequence<0>{}, sequence<1>{}));
}

}  // namespace tilewright
