// SPDX-License-Identifier: MIT
// The time that a GEMM takes on an AMD Instinct GPU, predicted from the block tile of its kernel.
#pragma once

#include <tilewright/core/arch/cdna_gpu.hpp>
#include <tilewright/core/base/math.hpp>

namespace tilewright {

/// How the loop over k is ordered.
enum class cdna_loop : signed char {
  compiled,   ///< By the compiler, between barriers: copies pass through registers. CK.
  scheduled,  ///< By hand, or by eight waves in two groups: copies run beside the multiplication. Assembly.
};

/// How slices of k are added up.
enum class cdna_split : signed char {
  atomics,        ///< By atomic additions to a C that is cleared before. CK.
  second_launch,  ///< By a kernel of its own. Assembly.
  fix_up,         ///< By the block of a tile that is finished last. This library, FlyDSL.
};

/// A GEMM kernel as the model sees it.
struct cdna_gemm_kernel {
  index_t m = 128, n = 128, k = 64;  ///< Block tile, elements. >= 1.
  index_t waves = 4, waves_n = 2;    ///< Of a block; those of them next to each other along n. waves_n divides waves.
  index_t waves_k = 1;               ///< Those that share results and divide k. waves_n * waves_k divides waves.
  index_t element_bits = 16;         ///< Of A and B: 4, 8 or 16.
  index_t result_bytes = 2;          ///< Of an element of C.
  index_t scale_k = 0;               ///< Elements along k that share a scale of the accumulators; 0: no such scales.
  bool b_in_lds = true;              ///< false: B goes from memory to registers (preshuffled weights).
  index_t stages = 1;                ///< Tiles along k that are requested ahead of the one multiplied. >= 1.
  index_t split_k = 1;               ///< Slices of k. >= 1.
  bool stream_k = false;             ///< stream_k_gemm: split_k blocks share the tiles of a last round instead.
  cdna_split split = cdna_split::atomics;  ///< How they are added up.
  cdna_loop loop = cdna_loop::compiled;    ///< How it is ordered.
  index_t vector_clocks = 0;  ///< Of the vector units for a tile along k; 0: from scale_k and a fitted constant.
  index_t lds_clocks = 0;     ///< Of all LDS accesses of a tile along k; 0: without conflicts, from the tile.
  index_t blocks_per_cu = 0;  ///< That a compute unit holds at once; 0: from the tile.

  /// Whether stream_k_gemm has the registers: 96 accumulators of a lane at most, as ping-pong with 128 spills.
  TILEWRIGHT_HD constexpr bool fits_stream_k() const { return m * n <= 96 * 64 * waves; }
  /// Bytes of A and B for one tile along k.
  TILEWRIGHT_HD constexpr double step_bytes() const { return double(m + n) * k * element_bits / 8; }
};

/// What data sheets do not say: fitted to one half of the measurements of docs/amd_predictions.md, by
/// `tilewright-predict --fit`. Arrays without a note: by cdna_loop.
struct cdna_gemm_constants {
  double launch_us = 2.02;        ///< From the launch to the first instruction, and from the last one to the end.
  double ramp_us = 1.6;           ///< Of the memory time, before loads and work of blocks overlap.
  double latency_ns = 341;        ///< Of a load that misses L2.
  double memory_share = 0.817;    ///< Of HBM's peak, that GEMMs reach.
  double exposed_memory = 0.132;  ///< Of the shorter of memory time and compute time: what the longer does not hide.
  double exposed_units[2] = {0.463, 0.462};  ///< Within a step, of all units but the busiest: not hidden by others.
  double exposed_alone = 0.775;              ///< The same of a block alone with a compiled loop.
  double exposed_block = 0.103;              ///< Of a block's own clocks: what comes on top of the wait for its loads.
  double step_clocks[2] = {31.9, 298};       ///< Of a tile along k: barriers, addresses, waits.
  double mx_clocks = 139;                    ///< Of a tile along k of 4-bit elements: loads of their scales.
  double tile_clocks = 313;                  ///< Of a block before its loop and after it.
  double store_bytes_per_clock = 6.38;       ///< Of C, by a compute unit, with conversions and addresses.
  double scale_clocks = 2.45;  ///< Of the vector units of a compute unit, for each 64 accumulators and scale.
  double idle_clock = 0.839;   ///< How the clock grows, up to its peak, with the share of compute units that idle.
  double split_us[3] = {3.78, 2.4, 0.522};  ///< Of slices of k, by cdna_split: clearing C, a launch, waiting.
};

/// Clocks of a compute unit's units for one tile along k of one block.
struct cdna_gemm_step {
  double matrix = 0, lds = 0, vector = 0, load = 0;  ///< Matrix and vector units, LDS accesses, loads from L2.

  /// Of all units, one after the other.
  TILEWRIGHT_HD constexpr double sum() const { return matrix + lds + vector + load; }
  /// Of the unit that is busy for longest.
  TILEWRIGHT_HD constexpr double busiest() const { return max(max(matrix, lds), max(vector, load)); }
};

/// A predicted time and what it is made of, in microseconds.
struct cdna_gemm_time {
  double us = 0;          ///< From launch to end.
  double compute_us = 0;  ///< Of the compute unit with the most blocks.
  double memory_us = 0;   ///< Of A, B and C from and to HBM, or of what the dies load from the Infinity Cache.
  double bound_us = 0;    ///< Roofline: peak of matrix instructions or of HBM. No kernel is faster.
};

namespace detail {

TILEWRIGHT_HD constexpr double rounded_up(double x, double divisor) {
  return double(ceil_div(long_index_t(x), long_index_t(divisor)));
}

/// Bytes of LDS of a block: one tile, or one for each stage where copies go there directly.
TILEWRIGHT_HD constexpr double cdna_lds_bytes(const cdna_gemm_kernel& r) {
  const double tile = double(r.m + (r.b_in_lds ? r.n : 0)) * r.k * r.element_bits / 8;
  return r.loop == cdna_loop::scheduled ? tile * r.stages : tile;
}

/// Registers of a lane: accumulators, twice with scales; tiles on their way and at work; 40 for the rest.
TILEWRIGHT_HD constexpr double cdna_registers(const cdna_gemm_kernel& r) {
  const double lanes = 64.0 * r.waves, accumulators = double(r.m) * r.n / lanes;
  return accumulators * (r.scale_k > 0 ? 2 : 1) + 2 * r.step_bytes() / 4 / lanes + 40;
}

TILEWRIGHT_HD constexpr index_t cdna_blocks_per_cu(const arch::cdna_gpu& gpu, const cdna_gemm_kernel& r) {
  if (r.blocks_per_cu > 0) return r.blocks_per_cu;
  const index_t by_lds = index_t(double(gpu.isa->lds_bytes) / cdna_lds_bytes(r));
  const index_t waves_per_simd = index_t(512 / max(64.0, min(512.0, cdna_registers(r))));
  return max(1, min(by_lds, waves_per_simd * gpu.isa->simds_per_cu / r.waves));
}

}  // namespace detail

/// Clocks of the units: each wave reads its rows of A and its columns of B from LDS, and the block writes both there
/// once.
TILEWRIGHT_HD constexpr cdna_gemm_step step_of(const arch::cdna_gpu& gpu, const cdna_gemm_kernel& r,
                                               const cdna_gemm_constants& c = {}) {
  const double row_bytes = double(r.k) * r.element_bits / 8, waves_m = double(r.waves) / r.waves_n / r.waves_k;
  const double read = (r.m * double(r.waves_n) + (r.b_in_lds ? r.n * waves_m : 0)) * row_bytes;
  const double written = r.loop == cdna_loop::scheduled ? 0.0 : (r.m + (r.b_in_lds ? r.n : 0)) * row_bytes;
  cdna_gemm_step step;
  step.matrix = 2.0 * r.m * r.n * r.k / gpu.operations_per_clock(r.element_bits);
  step.lds = r.lds_clocks > 0 ? r.lds_clocks
                              : read / gpu.lds_read_bytes_per_clock() + written / gpu.lds_write_bytes_per_clock();
  step.vector = r.vector_clocks > 0 ? r.vector_clocks
                : r.scale_k > 0     ? c.scale_clocks * r.m * r.n / 64 * r.k / r.scale_k
                                    : 0;
  step.load = r.step_bytes() / gpu.load_bytes_per_clock;
  return step;
}

namespace detail {

/// Clocks of the compute unit that has the most blocks, `each`. Resident blocks share its units; one block alone waits
/// for its loads as well. A block with `segments` of two tiles starts its pipeline and stores twice.
TILEWRIGHT_HD constexpr double cdna_compute_clocks(const arch::cdna_gpu& gpu, const cdna_gemm_kernel& r, double steps,
                                                   double each, const cdna_gemm_constants& c, double segments) {
  const cdna_gemm_step units = step_of(gpu, r, c);
  const auto step = [&](double exposed,
                        double count) {  // waves of `count` blocks; fewer than the SIMDs leave some idle
    cdna_gemm_step u = units;
    const double idle = max(1.0, gpu.isa->simds_per_cu / (count * r.waves));
    u.matrix *= idle, u.vector *= idle;
    return u.busiest() + exposed * (u.sum() - u.busiest()) + c.step_clocks[index_t(r.loop)] +
           (r.element_bits == 4 ? c.mx_clocks : 0);
  };
  const double exposed = c.exposed_units[index_t(r.loop)];
  const double loads = (c.latency_ns * gpu.loaded_clock_ghz + units.load) / r.stages;
  const double alone = max(step(r.loop == cdna_loop::compiled ? c.exposed_alone : exposed, 1),
                           loads + c.exposed_block * (units.sum() - units.load));
  const double store = segments * r.m * r.n * r.result_bytes / c.store_bytes_per_clock;
  const double other = segments * c.tile_clocks + (segments - 1) * c.latency_ns * gpu.loaded_clock_ghz;
  const auto blocks = [&](double count) {
    return count > 0 ? max(steps * alone + other + store, count * (steps * step(exposed, count) + store)) : 0.0;
  };
  const double resident = min(double(cdna_blocks_per_cu(gpu, r)), each);
  const double full = double(long_index_t(each / resident));
  return full * blocks(resident) + blocks(each - full * resident);
}

/// Bytes that the dies load from the Infinity Cache. The blocks of a die that run together have a tile of A in common
/// and tiles of B next to each other.
TILEWRIGHT_HD constexpr double cdna_mall_bytes(const arch::cdna_gpu& gpu, const cdna_gemm_kernel& r, double n_tiles,
                                               double tiles, double steps) {
  const double together = min(tiles, double(gpu.compute_units) * cdna_blocks_per_cu(gpu, r));
  const double on_die = max(1.0, together / gpu.dies);
  const double loaded = (r.m + min(n_tiles, on_die) * r.n) * double(r.k) * r.element_bits / 8;
  const double of_step = min(on_die * r.step_bytes(), loaded) * gpu.dies;
  return of_step * steps * (tiles / together);
}

/// Microseconds for the partial sums of `tiles` slices of tiles: written and read after the loop, in the Infinity Cache
/// if they fit.
TILEWRIGHT_HD constexpr double cdna_split_us(const arch::cdna_gpu& gpu, const cdna_gemm_kernel& r, double tiles,
                                             const cdna_gemm_constants& c) {
  const double bytes = tiles * r.m * r.n * 4;
  const double rate = bytes <= gpu.mall_bytes ? gpu.mall_gb_s : gpu.memory_gb_s * c.memory_share;
  return c.split_us[index_t(r.split)] + 2 * bytes / (rate * 1e3);
}

}  // namespace detail

/// The time that no kernel beats: operations at the peak of matrix instructions, or A, B and C once at HBM's peak. In
/// microseconds.
TILEWRIGHT_HD constexpr double cdna_bound_us(const arch::cdna_gpu& gpu, index_t element_bits, index_t result_bytes,
                                             long_index_t m, long_index_t n, long_index_t k) {
  const double bytes = (double(m) + double(n)) * double(k) * element_bits / 8 + double(m) * double(n) * result_bytes;
  return max(2.0 * double(m) * double(n) * double(k) / (gpu.tera_operations(element_bits) * 1e6),
             bytes / (gpu.memory_gb_s * 1e3));
}

namespace detail {

/// The work of a launch: `tiles` blocks of `steps` tiles along k, then `shared` ones of a last round (stream-K).
struct cdna_gemm_work {
  double tiles = 0, steps = 0;
  double shared = 0, shared_steps = 0, segments = 1;  ///< Segments of tiles that one of them has.
  double partial_sums = 0;                            ///< Tiles of them, of all blocks.
};

TILEWRIGHT_HD constexpr cdna_gemm_work cdna_work_of(const cdna_gemm_kernel& r, double tiles, long_index_t k) {
  const double steps = rounded_up(double(k), r.k);
  if (!r.stream_k) {
    const double all = tiles * r.split_k;
    return {.tiles = all, .steps = rounded_up(steps, r.split_k), .partial_sums = r.split_k > 1 ? all : 0};
  }
  const double whole = double(long_index_t(tiles) / r.split_k * r.split_k), left = tiles - whole;
  if (left == 0) return {.tiles = tiles, .steps = steps};
  return {.tiles = whole,
          .steps = steps,
          .shared = double(r.split_k),
          .shared_steps = rounded_up(left * steps, r.split_k),
          .segments = r.split_k % long_index_t(left) == 0 ? 1.0 : 2.0,
          .partial_sums = r.split_k + left};
}

/// Microseconds of the compute unit that has the most blocks of `tiles` that take `steps` each.
TILEWRIGHT_HD constexpr double cdna_compute_us(const arch::cdna_gpu& gpu, const cdna_gemm_kernel& r, double tiles,
                                               double steps, const cdna_gemm_constants& c, double segments) {
  if (tiles == 0) return 0;
  const double each = rounded_up(tiles, gpu.compute_units);
  // Compute units that have one block less leave their power to the others.
  const auto clocks = [&](double count) { return cdna_compute_clocks(gpu, r, steps, count, c, segments); };
  const double idle = each - tiles / gpu.compute_units, before = each > 1 ? clocks(each - 1) : 0;
  const double clock = min(gpu.clock_ghz, gpu.loaded_clock_ghz * (1 + c.idle_clock * idle));
  return (before / gpu.loaded_clock_ghz + (clocks(each) - before) / clock) / 1e3;
}

}  // namespace detail

/// Predicts C (m, n) = A (m, k) B (k, n), `batch` times. Lengths are >= 1; the GPU has matrix instructions for the
/// elements. Operands are taken to come from HBM.
TILEWRIGHT_HD constexpr cdna_gemm_time predict_gemm(const arch::cdna_gpu& gpu, const cdna_gemm_kernel& r,
                                                    long_index_t m, long_index_t n, long_index_t k,
                                                    const cdna_gemm_constants& c = {}, long_index_t batch = 1) {
  const double n_tiles = detail::rounded_up(double(n), r.n);
  const detail::cdna_gemm_work work =
      detail::cdna_work_of(r, detail::rounded_up(double(m), r.m) * n_tiles * double(batch), k);
  const double bytes = double(batch) * ((double(m) + double(n)) * double(k) * r.element_bits / 8 +
                                        double(m) * double(n) * r.result_bytes);
  // Blocks of a shared round are at different k, so that they have no loads in common.
  const double loaded = (work.tiles > 0 ? detail::cdna_mall_bytes(gpu, r, n_tiles, work.tiles, work.steps) : 0) +
                        work.shared * work.shared_steps * r.step_bytes();
  cdna_gemm_time t;
  t.compute_us = detail::cdna_compute_us(gpu, r, work.tiles, work.steps, c, 1) +
                 detail::cdna_compute_us(gpu, r, work.shared, work.shared_steps, c, work.segments);
  t.memory_us = max(bytes / (gpu.memory_gb_s * c.memory_share), loaded / gpu.mall_gb_s) / 1e3;
  t.us = c.launch_us + min(t.memory_us, c.ramp_us) + max(t.compute_us, t.memory_us) +
         c.exposed_memory * min(t.compute_us, t.memory_us);
  if (work.partial_sums > 0) t.us += detail::cdna_split_us(gpu, r, work.partial_sums, c);
  t.bound_us = double(batch) * cdna_bound_us(gpu, r.element_bits, r.result_bytes, m, n, k);
  return t;
}

/// The kernel of a list, and its slices of k, with the shortest predicted time.
struct cdna_gemm_choice {
  index_t kernel = 0;     ///< Its number in the list.
  index_t split_k = 1;    ///< Slices of k, or with stream_k its blocks.
  bool stream_k = false;  ///< Whether stream_k_gemm computes it.
  cdna_gemm_time time{};  ///< Predicted.
};

/// The number of slices of k that is tried after `split_k`: 1 to 8, then steps of about a quarter.
TILEWRIGHT_HD constexpr index_t next_split(index_t split_k) { return split_k + max(1, split_k / 4); }

/// Calls consider(kernel) for the ways in which k may be split: into up to 32 slices of 2 tiles or more; with
/// `stream_k` by stream_k_gemm, too, for one block or as many as fit on each compute unit.
template <class Function>
TILEWRIGHT_HD constexpr void for_each_split(const arch::cdna_gpu& gpu, cdna_gemm_kernel r, long_index_t k,
                                            bool stream_k, Function consider) {
  for (r.split_k = 1; r.split_k <= 32; r.split_k = next_split(r.split_k)) {
    if (r.split_k > 1 && k < long_index_t(r.split_k) * 2 * r.k) break;
    consider(r);
  }
  if (!stream_k || !r.fits_stream_k()) return;
  r.stream_k = true;
  const index_t most = min(detail::cdna_blocks_per_cu(gpu, r), 1024 / gpu.compute_units);
  for (index_t each = 1; each <= most; ++each) {
    r.split_k = each * gpu.compute_units;
    consider(r);
  }
}

/// Chooses from `count` >= 1 kernels. With `may_split`, k is split as for_each_split() does. `batch`: problems of these
/// lengths. `stream_k`: stream_k_gemm is there.
TILEWRIGHT_HD constexpr cdna_gemm_choice choose_gemm(const arch::cdna_gpu& gpu, const cdna_gemm_kernel* kernels,
                                                     index_t count, long_index_t m, long_index_t n, long_index_t k,
                                                     bool may_split = true, long_index_t batch = 1,
                                                     bool stream_k = false) {
  cdna_gemm_choice best;
  for (index_t i = 0; i < count; ++i) {
    const auto consider = [&](const cdna_gemm_kernel& r) {
      const cdna_gemm_time time = predict_gemm(gpu, r, m, n, k, {}, batch);
      if (best.time.us == 0 || time.us < best.time.us) best = {i, r.split_k, r.stream_k, time};
    };
    if (may_split)
      for_each_split(gpu, kernels[i], k, stream_k, consider);
    else
      consider(kernels[i]);
  }
  return best;
}

}  // namespace tilewright
