// SPDX-License-Identifier: MIT
// Which of a target's named policies suits a GEMM, and into how many slices k is split: a model of the time each takes.
#pragma once

#include <tilewright/kernels/gemm/choice/static_report.hpp>
#include <tilewright/kernels/gemm/named_policies.hpp>

namespace tilewright {

/// The lengths of a GEMM, and the number of problems in its batch.
struct gemm_lengths {
  long_index_t m = 0, n = 0, k = 0, batch = 1;  ///< >= 1
};

/// What the model says of a problem with one kernel.
struct gemm_estimate {
  index_t policy = 0;                           ///< its number among the reports that were given
  index_t split_k = 1;                          ///< slices of k, or blocks of stream_k_gemm: gemm_args::split_k
  bool stream_k = false;                        ///< whether stream_k_gemm computes it
  double seconds = 0;                           ///< of the launch
  double loop_seconds = 0, memory_seconds = 0;  ///< the larger of the two counts
  double idle = 0;  ///< share of the compute units' time that tile quantisation leaves unused
};

namespace detail {

/// The facts that the model of AMD Instinct GPUs needs; nullptr for other GPUs.
constexpr const arch::cdna_gpu* cdna_facts(const arch::gpu_facts& gpu) {
  for (const arch::cdna_gpu& known : arch::cdna_gpus)
    if (known.compute_units == gpu.compute_units && known.tera_16bit == gpu.tera_16bit) return &known;
  return nullptr;
}

}  // namespace detail

/// How a kernel for one problem of `tiles` tiles of C adds up slices of k: on MI300X and MI355X the last block of a
/// tile does, as long as there are counters for the tiles, elsewhere a kernel that follows.
constexpr split_k_kind split_k_kind_for(const arch::target& t, long_index_t tiles) {
  const bool is_modelled = t.isa == arch::instruction_set::cdna && t.fp8 != arch::fp8_kind::none;
  return is_modelled && tiles <= detail::split_k_counters ? split_k_kind::fix_up : split_k_kind::workspace;
}

/// On an MI300X or MI355X: predict_gemm(). Elsewhere: blocks go to compute units in equal numbers, rounded up. A block
/// takes, for each tile along k, the largest of its clocks in the matrix units (and those lost to LDS accesses at the
/// same time), in the LDS and for its bytes from L2, the latency of the LDS at each barrier where no other block fills
/// it (see gemm_static_report), and 4000 clocks and its result's bytes to begin and to end, during which other blocks
/// of its compute unit go on. Nothing is faster than the bytes of A, B and C, each once, at the memory's rate. A
/// workspace costs its bytes, written and read, after the rest, and a second launch of 5 us. Rows are taken to follow
/// each other without gaps.
constexpr gemm_estimate estimate_gemm(const gemm_static_report& r, const arch::gpu_facts& gpu, const gemm_lengths& g,
                                      index_t split_k, bool stream_k = false) {
  const auto [m, n, k, batch] = g;
  gemm_estimate e{.split_k = split_k, .stream_k = stream_k};
  const long_index_t tiles =
      ceil_div<long_index_t>(m, r.tile.m) * ceil_div<long_index_t>(n, r.tile.n) * batch * (stream_k ? 1 : split_k);
  const long_index_t k_tiles = ceil_div<long_index_t>(ceil_div<long_index_t>(k, r.tile.k), split_k);
  const long_index_t each = ceil_div<long_index_t>(tiles, gpu.compute_units);
  e.idle = 1 - double(tiles) / double(each * gpu.compute_units);
  if (const arch::cdna_gpu* cdna = detail::cdna_facts(gpu)) {
    cdna_gemm_kernel kernel = r.as_cdna_kernel(split_k);
    if (!stream_k && split_k_kind_for(*r.target, tiles / split_k) != split_k_kind::fix_up)
      kernel.split = cdna_split::second_launch;
    kernel.stream_k = stream_k;
    const cdna_gemm_time t = predict_gemm(*cdna, kernel, m, n, k, {}, batch);
    e.loop_seconds = t.compute_us * 1e-6;
    e.memory_seconds = t.memory_us * 1e-6;
    e.seconds = t.us * 1e-6;
    return e;
  }
  const long_index_t turns = ceil_div<long_index_t>(each, r.blocks_per_cu());
  const double step_clocks = r.step_clocks(gpu, k * r.element_bytes % 32 == 0);
  e.loop_seconds = (double(each * k_tiles) * step_clocks + r.other_clocks(gpu) * double(turns)) / (gpu.clock_ghz * 1e9);
  const double workspace = split_k > 1 ? 2.0 * double(split_k) * double(m) * double(n) * double(batch) * 4 : 0;
  const double bytes = double(batch) * ((double(m) * double(k) + double(n) * double(k)) * r.element_bytes +
                                        double(m) * double(n) * r.result_bytes);
  e.memory_seconds = bytes / (gpu.memory_gigabytes_per_second * 1e9);
  e.seconds = (e.loop_seconds > e.memory_seconds ? e.loop_seconds : e.memory_seconds) +
              workspace / (gpu.memory_gigabytes_per_second * 1e9) + (split_k > 1 ? 5e-6 : 0);
  return e;
}

/// Calls consider(estimate) for each of some kernels, given by their reports, with k in 1, 2, 4, 8 and 16 slices, if
/// `may_split`, as long as a slice has 8 tiles or more; on an MI300X or MI355X as for_each_split() splits it.
template <class Reports, class Function>
constexpr void for_each_portable_kernel(const Reports& reports, const arch::gpu_facts& gpu, const gemm_lengths& g,
                                        bool may_split, Function consider, bool stream_k = false) {
  index_t number = 0;
  for (const gemm_static_report& r : reports) {
    const auto add = [&](index_t split_k, bool shares) {
      gemm_estimate e = estimate_gemm(r, gpu, g, split_k, shares);
      e.policy = number;
      consider(e);
    };
    if (const arch::cdna_gpu* cdna = detail::cdna_facts(gpu); cdna && may_split) {
      for_each_split(*cdna, r.as_cdna_kernel(1), g.k, stream_k,
                     [&](const cdna_gemm_kernel& kernel) { add(kernel.split_k, kernel.stream_k); });
    } else {
      for (index_t split = 1; split == 1 || (may_split && split <= 16 && g.k >= long_index_t(split) * 8 * r.tile.k);
           split *= 2)
        add(split, false);
    }
    ++number;
  }
}

/// The one of them that takes the shortest time; of equal ones the first.
template <class Reports>
constexpr gemm_estimate choose_portable_gemm(const Reports& reports, const arch::gpu_facts& gpu, const gemm_lengths& g,
                                             bool may_split = true) {
  gemm_estimate best;
  for_each_portable_kernel(reports, gpu, g, may_split, [&](const gemm_estimate& e) {
    if (best.seconds == 0 || e.seconds < best.seconds) best = e;
  });
  return best;
}

/// The reports of named_policies, in their order.
template <class Arch, class T, operand_major AMajor, operand_major BMajor, index_t Vector>
constexpr auto named_reports() {
  return apply([]<class... Ps>(Ps...) { return array<gemm_static_report, sizeof...(Ps)>{{static_report<Ps>...}}; },
               named_policies<Arch, T, AMajor, BMajor, Vector>());
}

}  // namespace tilewright
