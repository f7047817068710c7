// SPDX-License-Identifier: MIT
// How the threads of a reduction share its elements: which of them read next to each other, and who combines what.
#pragma once

#include <tilewright/kernels/tensor/detail/loop_nest.hpp>
#include <tilewright/kernels/tensor/reduce_state.hpp>

namespace tilewright::detail {

/// How 256 threads share results: `slices` of them have parts of each.
struct reduce_team {
  static constexpr index_t block_size = 256;

  index_t log_slices = 0;
  bool is_along = false;  // neighbouring threads have parts of one result; else parts of neighbouring results

  TILEWRIGHT_HD constexpr index_t slices() const { return 1 << log_slices; }
  TILEWRIGHT_HD constexpr index_t results() const { return block_size >> log_slices; }
  TILEWRIGHT_HD constexpr index_t slice_of(index_t thread) const {
    return is_along ? thread & (slices() - 1) : thread >> (log2_floor(block_size) - log_slices);
  }
  TILEWRIGHT_HD constexpr index_t result_of(index_t thread) const {
    return is_along ? thread >> log_slices : thread & (results() - 1);
  }
};

/// Where contiguous elements start, and end: at vectors; anywhere, and a result has one row of them; anywhere.
enum class row_starts : index_t { aligned, ragged, anywhere };

/// Large reductions of few results are split over several blocks, whose states meet in the workspace.
struct reduce_plan {
  loop_nest<2> kept;            // the results: offsets in y, offsets in x
  loop_nest<1> reduced;         // the elements of one result: offsets in x
  index_t vector = 1;           // elements of an access: of one result where team.is_along, else of as many results
  reduce_team team, of_splits;  // of the first kernel; of the second, which combines the splits
  row_starts starts = row_starts::aligned;
  index_t cols = 1;              // elements of the innermost loop over elements of one result, or over results
  bool is_copied = false;        // through LDS, where the target can
  index_t splits = 1, part = 1;  // part: accesses in each split
  float one_of_elements = 1;     // 1 / the number of elements of one result

  TILEWRIGHT_HD constexpr index_t results_of_thread() const { return team.is_along ? 1 : vector; }
  TILEWRIGHT_HD constexpr long_index_t results() const { return kept.iterations * results_of_thread(); }
  constexpr long_index_t groups() const { return ceil_div(kept.iterations, long_index_t{team.results()}); }
};

/// What crosses to the device.
template <class T, class Result>
struct reduce_device_args : reduce_plan {
  const T* x;
  Result *y, *variance;
  index_t* position;
  unsigned* workspace;
  long_index_t y_step;  // elements between the results of a thread
  index_t step;         // bytes between accesses to a result; 0: reduced.find knows
  long_index_t x_bytes;
  index_t x_misaligned;  // elements from x back to an aligned vector
};

/// The logarithm of a power of two that is at least n, but at most 256.
constexpr index_t log2_from(long_index_t n) {
  index_t log = 0;
  while ((1 << log) < n && log < 8) ++log;
  return log;
}

/// Which elements an access has: decides team.is_along, vector, starts and cols.
template <class T>
constexpr void choose_accesses(reduce_plan& plan, const T* x, index_t max_vector) {
  const auto innermost = [](const auto& nest, index_t t) { return nest.loops > 0 ? nest.strides[0][t] : 1ll << 62; };
  plan.team.is_along = innermost(plan.reduced, 0) < innermost(plan.kept, 1);

  const auto fits = [&](const auto& nest, index_t t, const auto& other, index_t of_other) {
    bool fit = nest.lengths[0] % max_vector == 0;
    fit = fit && is_aligned(x, max_vector * index_t(sizeof(T)));
    for (index_t i = 1; i < nest.loops; ++i) fit = fit && nest.strides[i][t] % max_vector == 0;
    for (index_t i = 0; i < other.loops; ++i) fit = fit && other.strides[i][of_other] % max_vector == 0;
    return fit;
  };
  const bool is_aligned =
      plan.team.is_along ? fits(plan.reduced, 0, plan.kept, 1) : fits(plan.kept, 1, plan.reduced, 0);
  plan.cols = plan.team.is_along ? plan.reduced.lengths[0] : plan.kept.lengths[0];
  const bool is_contiguous = (plan.team.is_along ? innermost(plan.reduced, 0) : innermost(plan.kept, 1)) == 1;
  if (!is_contiguous || plan.cols < (plan.team.is_along ? 2 : max_vector)) return;
  if (!is_aligned) plan.starts = row_starts::anywhere;
  if (!is_aligned && plan.team.is_along && plan.reduced.loops == 1 && plan.cols >= 4 * max_vector) {
    plan.starts = row_starts::ragged;
    return;
  }
  plan.vector = max_vector;
  if (!plan.team.is_along) return plan.kept.vectorise(max_vector);
  if (!is_aligned) plan.reduced.lengths[0] += max_vector - 1;
  plan.reduced.vectorise(max_vector);
}

/// Blocks that an H100 runs at once.
inline constexpr long_index_t blocks_at_once = 396;

/// `in_order`: the elements of a result are numbered in the order of x's dimensions, not in that of its memory.
template <class T, class U>
constexpr reduce_plan plan_reduction(const strided_tensor<T>& x, const strided_tensor<U>& y, index_t max_vector,
                                     bool in_order, bool has_workspace, index_t wave) {
  reduce_plan plan;
  strided_tensor<T> kept = x, gone = x;
  long_index_t elements_of_result = 1;
  for (index_t d = x.dims; d-- > 0;) {
    const bool is_reduced = y.lengths[d] == 1;
    (is_reduced ? kept : gone).lengths[d] = 1;
    if (!is_reduced || x.lengths[d] == 1) continue;
    elements_of_result *= x.lengths[d];
    if (in_order) plan.reduced.add(index_t(x.lengths[d]), array<long_index_t, 1>{{x.strides[d]}});
  }
  plan.kept = loops_over(strided_tensor<U>(y), kept);
  if (!in_order) plan.reduced = loops_over(gone);
  choose_accesses(plan, x.data, max_vector);
  plan.reduced.finish(array<index_t, 1>{{index_t(sizeof(T))}});
  plan.kept.finish({index_t(sizeof(U)), index_t(sizeof(T))});

  // A thread should have eight accesses (32 where it looks for the ends of rows, 4 where results are short), a result's
  // neighbours 128 bytes, and the GPU some blocks.
  const bool is_ragged = plan.starts == row_starts::ragged;
  const long_index_t accesses = is_ragged ? plan.reduced.iterations / max_vector + 9 : plan.reduced.iterations;
  const long_index_t results = plan.kept.iterations;
  plan.one_of_elements = 1.0f / float(elements_of_result);
  const auto log_slices = [&](index_t accesses_of_thread) {
    return log2_from(ceil_div(accesses, long_index_t{accesses_of_thread}));
  };
  index_t of_thread = is_ragged ? 32 : plan.team.is_along && accesses <= 32 ? 4 : 8;
  while (of_thread > (plan.team.is_along ? 4 : 1) && results << log_slices(of_thread) < 256 * 1024) of_thread /= 2;
  index_t& log = plan.team.log_slices = log_slices(of_thread);
  if (plan.team.is_along) {
    // Threads have groups of four accesses in flight: the fewer are missing from the last one, the better.
    const auto padded = [&](index_t l) { return ceil_div(accesses, 4ll << l) * (4ll << l); };
    for (index_t l = log - 1; l >= 2 && results << l >= 256 * 1024 && accesses >> l <= 64; --l) {
      if (padded(l) * 8 <= padded(log) * (l == 2 ? 6 : 7)) log = l;
    }
  } else {
    // Neighbours read 512 bytes: of neighbouring results, or where these are few and have long sums, of several slices.
    const index_t run = plan.kept.loops > 0 ? plan.kept.lengths[0] : 1;
    log = min(8 - min(log2_from(run), 5), max(min(log, 3), log_slices(16)));
    // Fewer than eight slices where 900 blocks have results and threads up to 40 accesses.
    index_t few = 0;
    while (few < 3 && (run < 32 || results << few < 900 * 256 || accesses >> few > 40)) ++few;
    if (few > 0 && wave > 32) few = 3;  // one and two need twice the LDS
    if (few < 3 || log < 3) log = log < 3 && accesses <= 16 ? 0 : few;
    // Up to 32 slices, which read 128 bytes, where all SMs have blocks then.
    const index_t finest = min(5, log2_floor(index_t(max(accesses / 16, 1ll))));
    while (log < finest && results << log < blocks_at_once * 256 && results << finest >= blocks_at_once * 256) ++log;
  }
  const long_index_t most = ceil_div(accesses, plan.team.slices() * 8ll), wanted = blocks_at_once / plan.groups();
  plan.part = index_t(ceil_div(accesses, has_workspace ? max(min(most, wanted), 1ll) : 1ll));
  plan.part = ceil_div(plan.part, plan.team.slices()) * plan.team.slices();  // whole waves, whose vectors fill lines
  plan.splits = index_t(ceil_div(accesses, long_index_t{plan.part}));
  // Copies bypass the L1 cache: lanes should need whole lines or the half of one.
  plan.is_copied = plan.part > 4 * plan.team.slices() && (!plan.team.is_along || log >= 2);
  plan.of_splits.log_slices = plan.splits <= 4 ? 0 : log2_from(plan.splits);  // few need more LDS than they save time
  return plan;
}

}  // namespace tilewright::detail
