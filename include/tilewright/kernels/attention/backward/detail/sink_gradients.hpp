// SPDX-License-Identifier: MIT
// The gradient of an attention sink: minus the sum over all rows of its probability times dO O.
#pragma once

#include <tilewright/kernels/attention/backward/detail/backward_scores.hpp>

namespace tilewright::detail {

/// Bytes of LDS that sink_gradient needs.
template <index_t Threads>
inline constexpr index_t sink_gradient_bytes = Threads * 4;

/// One block writes d_sinks of a head, from what the kernel of the row sums left in the workspace. Rows are added in
/// the same order each time.
template <index_t Threads>
TILEWRIGHT_HD void write_sink_gradient(const attention_backward_args& args, index_t head, exec::lds_pointer lds) {
  const index_t thread = exec::thread_id();
  const float sink = sink_of_head(args, head);
  float sum = 0;
  for (index_t batch = 0; batch < args.batch; ++batch) {
    const index_t queries = locate_rows(args, 0, head, batch).queries;
    const backward_workspace space(args, batch, head);
    TILEWRIGHT_UNROLL(4)
    for (index_t row = thread; row < queries; row += Threads)
      sum -= exec::exp2(sink - space.exponents[row]) * space.deltas[row];
  }
  for (index_t left = Threads; left > 1;) {
    const index_t kept = ceil_div(left, 2);
    if (thread < left) exec::lds_store(lds, thread * 4, sum);
    exec::block_sync();
    if (thread + kept < left) sum += exec::lds_load<float>(lds, (thread + kept) * 4);
    exec::block_sync();
    left = kept;
  }
  if (thread == 0) exec::buffer_store(exec::make_global_buffer(args.d_sinks + head, 4), 0, sum);
}

}  // namespace tilewright::detail
