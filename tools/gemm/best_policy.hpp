// SPDX-License-Identifier: MIT
// A model that picks one of the named policies for a problem.
#pragma once

#include <tilewright/kernels/gemm/named_policies.hpp>

#include "static_report.hpp"

namespace tilewright {

/// What the model says of a problem with one kernel.
struct gemm_estimate {
  index_t policy = 0;  // in named_policies
  index_t split_k = 1;
  double seconds = 0;
  double loop_seconds = 0, memory_seconds = 0;  // the larger of the two counts
  double idle = 0;                              // part of the compute units' time that tile quantisation leaves unused
};

namespace detail {

/// The facts that the model of AMD Instinct GPUs needs; nullptr for other GPUs.
constexpr const arch::cdna_gpu* cdna_facts(const arch::gpu_facts& gpu) {
  for (const arch::cdna_gpu& known : arch::cdna_gpus)
    if (known.compute_units == gpu.compute_units && known.tera_16bit == gpu.tera_16bit) return &known;
  return nullptr;
}

}  // namespace detail

/// On an MI300X or MI355X: predict_gemm(). Elsewhere: blocks go to compute units in equal numbers, rounded up. A block
/// takes, for each tile along k, the largest of its clocks in the matrix units (and those lost to LDS accesses at the
/// same time), in the LDS and for its bytes from L2, the latency of the LDS at each barrier where no other block fills
/// it (see gemm_static_report), and 4000 clocks and its result's bytes to begin and to end, during which other blocks
/// of its compute unit go on. Nothing is faster than the bytes of A, B and C, each once, at the memory's rate. A
/// workspace costs its bytes, written and read, after the rest, and a second launch of 5 us. Rows are taken to follow
/// each other without gaps.
constexpr gemm_estimate estimate(const gemm_static_report& r, const arch::gpu_facts& gpu, long_index_t m,
                                 long_index_t n, long_index_t k, index_t split_k) {
  gemm_estimate e{.split_k = split_k};
  const long_index_t tiles = ceil_div<long_index_t>(m, r.tile.m) * ceil_div<long_index_t>(n, r.tile.n) * split_k;
  const long_index_t k_tiles = ceil_div<long_index_t>(ceil_div<long_index_t>(k, r.tile.k), split_k);
  const long_index_t each = ceil_div<long_index_t>(tiles, gpu.compute_units);
  e.idle = 1 - double(tiles) / double(each * gpu.compute_units);
  if (const arch::cdna_gpu* cdna = detail::cdna_facts(gpu)) {
    const cdna_gemm_time t = predict_gemm(*cdna, r.as_cdna_kernel(split_k), m, n, k);
    e.loop_seconds = t.compute_us * 1e-6;
    e.memory_seconds = t.memory_us * 1e-6;
    e.seconds = t.us * 1e-6;
    return e;
  }
  const long_index_t turns = ceil_div<long_index_t>(each, r.blocks_per_cu());
  const double step_clocks = r.step_clocks(gpu, k * r.element_bytes % 32 == 0);
  e.loop_seconds = (double(each * k_tiles) * step_clocks + r.other_clocks(gpu) * double(turns)) / (gpu.clock_ghz * 1e9);
  const double workspace = split_k > 1 ? 2.0 * double(split_k) * double(m) * double(n) * 4 : 0;
  const double bytes =
      (double(m) * double(k) + double(n) * double(k)) * r.element_bytes + double(m) * double(n) * r.result_bytes;
  e.memory_seconds = bytes / (gpu.memory_gigabytes_per_second * 1e9);
  e.seconds = (e.loop_seconds > e.memory_seconds ? e.loop_seconds : e.memory_seconds) +
              workspace / (gpu.memory_gigabytes_per_second * 1e9) + (split_k > 1 ? 5e-6 : 0);
  return e;
}

/// The best of some kernels, given by their reports, with k split into up to 16 parts where
/// that leaves each part 8 tiles or more.
template <index_t N>
constexpr gemm_estimate best_estimate(const array<gemm_static_report, N>& reports, const arch::gpu_facts& gpu,
                                      long_index_t m, long_index_t n, long_index_t k) {
  gemm_estimate best;
  for (index_t i = 0; i < N; ++i) {
    for (index_t split = 1; split <= 16; split *= 2) {
      if (split > 1 && k < long_index_t(split) * 8 * reports[i].tile.k) break;
      gemm_estimate e = estimate(reports[i], gpu, m, n, k, split);
      e.policy = i;
      if (best.seconds == 0 || e.seconds < best.seconds) best = e;
    }
  }
  return best;
}

/// The reports of named_policies, in their order.
template <class Arch, class T, operand_major AMajor, operand_major BMajor, index_t Vector>
constexpr auto named_reports() {
  return apply([]<class... Ps>(Ps...) { return array<gemm_static_report, sizeof...(Ps)>{{static_report<Ps>...}}; },
               named_policies<Arch, T, AMajor, BMajor, Vector>());
}

/// Which of named_policies, and how many parts of k, the model picks for a problem on the GPU of a target.
template <class Arch, class T, operand_major AMajor, operand_major BMajor, index_t Vector = 16 / index_t(sizeof(T))>
constexpr gemm_estimate best_policy(const arch::gpu_facts& gpu, long_index_t m, long_index_t n, long_index_t k) {
  return best_estimate(named_reports<Arch, T, AMajor, BMajor, Vector>(), gpu, m, n, k);
}

}  // namespace tilewright
