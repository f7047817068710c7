// SPDX-License-Identifier: MIT
// Gradients of attention for matrix instructions with operands in registers: MFMA, WMMA, mma.sync.
#pragma once

#include <tilewright/kernels/attention/backward/detail/converted_inputs.hpp>
#include <tilewright/kernels/attention/backward/detail/gradient_pass.hpp>
#include <tilewright/kernels/attention/backward/detail/sink_gradients.hpp>

namespace tilewright {

namespace detail {

/// The second kernel: each block computes the gradients of Policy::tile.queries rows of K and V, or of Q.
template <class Policy>
struct attention_gradients {
  using arch = typename Policy::arch;
  using args_type = typename Policy::args_type;
  static constexpr bool apart = Policy::gradients_apart;  // dK and dV in passes of their own
  using of_keys = gradient_pass<Policy, apart ? gradient_of::keys : gradient_of::keys_and_values>;
  using of_values = gradient_pass<Policy, gradient_of::values>;
  using of_queries = gradient_pass<Policy, gradient_of::queries>;
  static constexpr index_t rows = Policy::tile.queries;
  static constexpr index_t block_size = attention_product<Policy, operand_major::k, 0>::tile.block_size();
  static constexpr index_t lds_bytes = max(of_keys::lds_bytes, of_queries::lds_bytes);
  static_assert(sink_gradient_bytes<block_size> <= lds_bytes);
  static_assert(lds_bytes <= arch::value.lds_bytes,
                "attention_backward: the rows of a step need more LDS than this target has; use fewer keys or waves in "
                "the policy's tile");

  static constexpr const char* check(const args_type& args) {
    return check_backward(args, Policy::head_dim, Policy::value_dim, Policy::vector, Policy::has_block_mask);
  }

  static constexpr grid_size grid(const args_type& args) { return grid_of_gradients(args, rows); }

  TILEWRIGHT_HD void operator()(const args_type& args) const {
    const exec::block_index block = exec::block_id();
    const exec::lds_pointer lds = exec::lds_allocate<lds_bytes>();
    const index_t key_blocks = ceil_div(args.keys, rows), first_of_queries = key_blocks * args.kv_heads,
                  first_of_sinks = first_of_queries + ceil_div(args.queries, rows) * args.heads;
    if (block.x >= first_of_sinks) {
      if (block.z == 0) write_sink_gradient<block_size>(args, block.x - first_of_sinks, lds);
      return;
    }
    const bool is_of_keys = block.x < first_of_queries;
    const index_t x = is_of_keys ? block.x : block.x - first_of_queries,
                  blocks = is_of_keys ? key_blocks : ceil_div(args.queries, rows), head = divide(x, blocks),
                  place = x - head * blocks;
    const attention_problem p =
        locate_attention(args, 0, is_of_keys ? head * divide(args.heads, args.kv_heads) : head, block.z);
    if (is_of_keys) {
      const index_t first_row = place * rows;
      if (first_row >= p.keys) return;
      of_keys::run(args, p, first_row, lds);
      if constexpr (apart) {
        exec::block_sync();
        of_values::run(args, p, first_row, lds);
      }
    } else {
      // Under a causal mask the last rows see most keys, so they start first.
      const index_t first_row = (blocks - 1 - place) * rows;
      if (first_row < p.queries) of_queries::run(args, p, first_row, lds);
    }
  }
};

}  // namespace detail

/// dQ, dK and dV of attention_forward with the same arguments and policy. This kernel computes the sums of dO O for
/// each row, and converts Q, K and V of 8 bits; launch() queues the one that computes the gradients after it. For
/// wgmma_backward_policy include hopper_backward.hpp.
template <class Policy>
struct attention_backward {
  using arch = typename Policy::arch;
  using args_type = typename Policy::args_type;
  using gradients = detail::attention_gradients<Policy>;
  using followed_by =
      detail::conditional_t<detail::converts_inputs<Policy>, detail::gradients_of_copies<Policy, gradients>, gradients>;
  static constexpr index_t lanes = 8, rows = detail::rows_of_row_sums;  ///< of a row, of a block
  static constexpr index_t block_size = rows * lanes;
  static constexpr index_t lds_bytes = 0;

  static constexpr const char* check(const args_type& args) { return followed_by::check(args); }
  /// Bytes that args.workspace must have.
  static constexpr long_index_t workspace_bytes(const args_type& args) {
    return detail::converted_inputs<Policy>(args).workspace_bytes;
  }

  static constexpr grid_size grid(const args_type& args) {
    return detail::grid_of_row_sums(args,
                                    detail::converts_inputs<Policy> ? max(args.queries, args.keys) : args.queries);
  }

  TILEWRIGHT_HD void operator()(const args_type& args) const {
    using T = typename Policy::element_type;
    using vector = vector_t<T, 8>;
    const exec::block_index block = exec::block_id();
    const detail::attention_problem p = detail::locate_attention(args, block.x * rows, block.y, block.z);
    const index_t row = p.first_query + exec::thread_id() / lanes, lane = exec::thread_id() % lanes;
    const bool exists = row < p.queries;
    if constexpr (detail::converts_inputs<Policy>) detail::convert_inputs<Policy>(args, p, row, lane, lanes);
    const auto head = [&](const void* data, const attention_strides& s) TILEWRIGHT_INLINE_LAMBDA {
      return exec::make_global_buffer(static_cast<const T*>(data) + detail::offset_of_head(s, p.query_start, p.head),
                                      (long_index_t(p.queries - 1) * s.row + Policy::value_dim) * index_t(sizeof(T)));
    };
    const exec::global_buffer o = head(args.o, args.o_strides), d_o = head(args.d_o, args.d_o_strides);
    float sum = 0;
    for (index_t first = lane * 8; exists && first < Policy::value_dim; first += lanes * 8) {
      const auto at = [&](const attention_strides& s)
                          TILEWRIGHT_INLINE_LAMBDA { return (long_index_t(row) * s.row + first) * index_t(sizeof(T)); };
      const vector x = exec::buffer_load<vector>(o, at(args.o_strides)),
                   y = exec::buffer_load<vector>(d_o, at(args.d_o_strides));
      for (index_t i = 0; i < 8; ++i) sum += float(x[i]) * float(y[i]);
    }
    const detail::backward_workspace space(args, p.batch, p.head);
    if constexpr (tilewright::arch::is_wgmma(Policy::op)) {  // dQ is added up there
      float* const d_q = space.d_q(args, Policy::head_dim) + long_index_t(row) * Policy::head_dim;
      for (index_t first = lane * 4; row < detail::round_up(p.queries, 16) && first < Policy::head_dim;
           first += lanes * 4)
        exec::buffer_store(exec::make_global_buffer(d_q, Policy::head_dim * 4), first * 4, array<float, 4>{});
      if (exists && row % 64 == 0 && lane < 2)
        exec::buffer_store(exec::make_global_buffer(space.counters(args, Policy::head_dim) + row / 32, 8), lane * 4,
                           0u);
    }
    sum += exec::shuffle_xor<1>(sum);
    sum += exec::shuffle_xor<2>(sum);
    sum += exec::shuffle_xor<4>(sum);
    if (!exists || lane != 0) return;
    const exec::global_buffer lse =
        exec::make_global_buffer(args.lse + detail::offset_of_head(args.lse_strides, p.query_start, p.head),
                                 (long_index_t(p.queries - 1) * args.lse_strides.row + 1) * 4);
    const float exponent = exec::buffer_load<float>(lse, long_index_t(row) * args.lse_strides.row * 4);
    const long_index_t bytes = long_index_t(p.queries) * 4;
    const bool sees_nothing = exponent == detail::minus_infinity();
    exec::buffer_store(exec::make_global_buffer(space.exponents, bytes), row * 4,
                       sees_nothing ? bit_cast<float>(0x7f800000u) : exponent * detail::log2_e);
    exec::buffer_store(exec::make_global_buffer(space.deltas, bytes), row * 4, sum);
  }
};

}  // namespace tilewright
