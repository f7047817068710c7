// SPDX-License-Identifier: MIT
// dQ of attention's gradients on Hopper: the float copy in memory that blocks add to, and the kernel that rounds it.
#pragma once

#include <tilewright/kernels/attention/backward/detail/sink_gradients.hpp>
#include <tilewright/machine/exec/hopper.hpp>

namespace tilewright::detail {

/// Element number of the float copy. 16 columns of 16 rows are together, so what a wave adds is in one piece; each row
/// of them has columns in the order 0 1 8 9, 2 3 10 11, 4 5 12 13, 6 7 14 15, so a thread has four in one piece.
TILEWRIGHT_HD constexpr long_index_t address_of_d_query(index_t row, index_t column, index_t head_dim) {
  const index_t in_rows = modulo(row, 16), in_columns = modulo(column, 16);
  return long_index_t(row - in_rows) * head_dim + (column - in_columns) * 16 + in_rows * 16 + in_columns;
}

#if TILEWRIGHT_HOPPER_PASS
/// Writes a wave's 16 rows of 16 * `Count` columns of a result of wgmma, in registers from `d_q` on, to LDS in this
/// order.
template <index_t Count>
TILEWRIGHT_HD void store_d_queries(exec::lds_pointer place, const float* d_q) {
  const index_t lane = exec::lane_id();
  unroll<Count>([&](auto j) TILEWRIGHT_INLINE_LAMBDA {
    const float* const x = d_q + 8 * j;
    exec::lds_store(place, 1024 * j + 16 * lane, array<float, 4>{{x[0], x[1], x[4], x[5]}});
    exec::lds_store(place, 1024 * j + 512 + 16 * lane, array<float, 4>{{x[2], x[3], x[6], x[7]}});
  });
}
#endif

/// The third kernel: dQ from its float copy.
template <class Policy>
struct round_d_queries {
  using arch = typename Policy::arch;
  using args_type = typename Policy::args_type;
  static constexpr index_t rows = 8, threads_of_row = Policy::head_dim / 4;  // rows of a block
  static constexpr index_t block_size = rows * threads_of_row, lds_bytes = sink_gradient_bytes<block_size>;

  static constexpr const char* check(const args_type&) { return nullptr; }
  /// Blocks: x for rows and then for the sink, y for heads, z for sequences.
  static constexpr grid_size grid(const args_type& args) {
    return {ceil_div(args.queries, rows) + (args.d_sinks ? 1 : 0), args.heads, args.batch};
  }

  /// Four lanes have 16 columns of a row: each reads columns 2 q, 2 q + 1, 2 q + 8 and 2 q + 9, and writes columns 4 q
  /// to 4 q + 3.
  TILEWRIGHT_HD void operator()(const args_type& args) const {
    using T = typename Policy::element_type;
    const exec::block_index block = exec::block_id();
    if (block.x == ceil_div(args.queries, rows)) {
      if (block.z == 0) write_sink_gradient<block_size>(args, block.y, exec::lds_allocate<lds_bytes>());
      return;
    }
    const attention_problem p = locate_attention(args, 0, block.y, block.z);
    const index_t in_block = divide(exec::thread_id(), constant(threads_of_row)), row = block.x * rows + in_block,
                  column = (exec::thread_id() - in_block * threads_of_row) * 4, lane = exec::lane_id(),
                  first = lane & ~3;
    const float* const from = backward_workspace(args, p.batch, p.head).d_q(args, Policy::head_dim) +
                              address_of_d_query(row, column, Policy::head_dim);
    const auto x = exec::buffer_load<array<float, 4>>(exec::make_global_buffer(from, row < p.queries ? 16 : 0), 0);
    const unsigned low = round_words(x[0], x[1], args.scale), high = round_words(x[2], x[3], args.scale);
    array<unsigned, 2> result;
    for (index_t w = 0; w < 2; ++w) {
      const index_t other = first + (2 * (lane & 3) + w) % 4;
      const unsigned from_low = exec::shuffle(low, other), from_high = exec::shuffle(high, other);
      result[w] = (lane & 3) < 2 ? from_low : from_high;
    }
    if (row >= p.queries) return;
    T* const to = static_cast<T*>(args.d_q) + (offset_of_head(args.d_q_strides, p.query_start, p.head) +
                                               long_index_t(row) * args.d_q_strides.row + column);
    exec::buffer_store(exec::make_global_buffer(to, 8), 0, result);
  }

  TILEWRIGHT_HD static unsigned round_words(float x, float y, float scale) {
    using T = typename Policy::element_type;
    vector_t<T, 2> pair;
    pair[0] = T(x * scale);
    pair[1] = T(y * scale);
    return bit_cast<unsigned>(pair);
  }
};

}  // namespace tilewright::detail
