// SPDX-License-Identifier: MIT
// What bounds a GEMM kernel, computed from its policy: clocks of matrix instructions and of the LDS, bytes,
// registers, occupancy.
#pragma once

#include <tilewright/core/arch/gpu_facts.hpp>
#include <tilewright/core/arch/occupancy.hpp>
#include <tilewright/kernels/gemm/choice/cdna_gemm_model.hpp>
#include <tilewright/kernels/gemm/lds_prediction.hpp>

namespace tilewright {

/// Which of a compute unit's parts is busy for longer in the loop over k.
enum class gemm_bound : signed char { matrix_instructions, lds, l2 };

/// Clocks from an access to LDS to its end when there is no other, and from a barrier to the first matrix instruction
/// after it: assumed.
inline constexpr index_t lds_latency = 64;

/// What one block needs for one tile along k, and all the time.
struct gemm_static_report {
  const arch::target* target = nullptr;         ///< of the policy
  block_tile tile;                              ///< of a block
  arch::matrix_element element{};               ///< of A and B
  index_t element_bytes = 0, result_bytes = 0;  ///< of an element of A and B, and of C
  double operations = 0;                        ///< 2 m n k of the tile
  index_t lds_read_clocks = 0;                  ///< of all waves; where the target's table has no clocks: phases
  index_t lds_write_clocks = 0;                 ///< of all waves
  index_t global_bytes = 0;                     ///< of A and B
  index_t rows_along_k = 0;                     ///< of operands that are contiguous along k: each is copied for itself
  index_t lds_bytes = 0;                        ///< of a block
  index_t registers = 0;                        ///< of a thread, as its pipeline estimates them
  bool conflict_free = false;                   ///< no LDS access has bank conflicts
  index_t waits = 0;  ///< barriers at which all waves stand, with nothing to multiply that does not wait
  index_t role_exchanges =
      0;  ///< or, in ping-pong: how often the waves that move operands wait while the others multiply
  index_t tiles_in_flight = 1;   ///< from memory, while one is multiplied
  bool copies_directly = false;  ///< to LDS, past registers

  /// Clocks of the accesses of a tile; each turn adds the latency of its first access.
  constexpr index_t lds_clocks() const { return lds_read_clocks + lds_write_clocks + role_exchanges * lds_latency; }
  /// Clocks that the matrix units of one compute unit need for the tile.
  constexpr double matrix_clocks(const arch::gpu_facts& gpu) const {
    return operations / gpu.operations_per_clock(element);
  }
  /// The same, with those lost to LDS accesses at the same time.
  constexpr double matrix_clocks_beside_lds(const arch::gpu_facts& gpu) const {
    return matrix_clocks(gpu) + gpu.lds_interference * lds_clocks();
  }
  /// Clocks that its bytes take from L2, in sectors of 32 bytes: rows that begin within one touch one more.
  constexpr double l2_clocks(const arch::gpu_facts& gpu, bool rows_begin_sectors = true) const {
    if (gpu.l2_bytes_per_clock == 0) return 0;
    return (global_bytes + (rows_begin_sectors ? 0 : 32 * rows_along_k)) / gpu.l2_bytes_per_clock;
  }
  /// What the loop over k waits for.
  constexpr gemm_bound bound(const arch::gpu_facts& gpu) const {
    const double matrix = 1.001 * matrix_clocks_beside_lds(gpu);
    if (l2_clocks(gpu) > matrix && l2_clocks(gpu) > lds_clocks()) return gemm_bound::l2;
    return lds_clocks() > matrix ? gemm_bound::lds : gemm_bound::matrix_instructions;
  }
  /// The rate that the loop over k cannot exceed, in 10^12 operations per second.
  constexpr double tera_bound(const arch::gpu_facts& gpu) const {
    return gpu.tera_operations(element) * matrix_clocks(gpu) / step_clocks(gpu);
  }
  /// Barrier stalls; 0 if another resident block hides them.
  constexpr index_t wait_clocks() const { return blocks_per_cu() > 1 ? 0 : waits * lds_latency; }
  /// Clocks that a block takes for a tile along k.
  constexpr double step_clocks(const arch::gpu_facts& gpu, bool rows_begin_sectors = true) const {
    const double matrix = matrix_clocks_beside_lds(gpu), lds = lds_clocks(), l2 = l2_clocks(gpu, rows_begin_sectors);
    return max(max(matrix, lds), l2) + wait_clocks();
  }
  /// Clocks that a block takes to begin and to end: its tile of C goes to L2.
  constexpr double other_clocks(const arch::gpu_facts& gpu) const {
    const double c_bytes = double(tile.m) * tile.n * result_bytes;
    return 4000 + (gpu.l2_bytes_per_clock == 0 ? 0 : c_bytes / gpu.l2_bytes_per_clock);
  }
  /// The kernel as the model of AMD Instinct GPUs sees it. Pipelines that copy past registers or have roles are ordered
  /// by hand.
  constexpr cdna_gemm_kernel as_cdna_kernel(index_t split_k) const {
    const bool scheduled = copies_directly || tiles_in_flight > 1 || role_exchanges > 0;
    return {.m = tile.m,
            .n = tile.n,
            .k = tile.k,
            .waves = tile.num_waves(),
            .waves_n = tile.waves_n,
            .element_bits = 8 * element_bytes,
            .result_bytes = result_bytes,
            .stages = tiles_in_flight,
            .split_k = split_k,
            .split = cdna_split::fix_up,
            .loop = scheduled ? cdna_loop::scheduled : cdna_loop::compiled,
            .lds_clocks = lds_read_clocks + (copies_directly ? 0 : lds_write_clocks),
            .blocks_per_cu = blocks_per_cu()};
  }
  /// Blocks that a compute unit holds at once; at least 1.
  constexpr index_t blocks_per_cu() const {
    return max(1, arch::resident_blocks(*target, lds_bytes, tile.block_size(), registers) / target->cus_per_pool);
  }
};

/// predict_lds<Policy>() as a constant, which the compiler works out once.
template <class Policy>
inline constexpr gemm_lds_prediction lds_prediction_of = predict_lds<Policy>();

namespace detail {

template <class Arch>
constexpr index_t lds_clocks_of(const lds_access_analysis& access) {
  const arch::lds_service& service = Arch::value.find(access.op)->readings[0];
  const index_t phases = service.phases.num_phases(), clocks = service.clocks > 0 ? service.clocks : phases;
  return access.cycles * clocks / phases;
}

template <class Policy>
constexpr gemm_static_report make_static_report() {
  using Arch = typename Policy::arch;
  using T = typename Policy::element_type;
  constexpr block_tile tile = Policy::tile;
  constexpr const gemm_lds_prediction& lds = lds_prediction_of<Policy>;
  gemm_static_report r;
  r.target = &Arch::value;
  r.tile = tile;
  r.element = arch::matrix_element_v<T>;
  r.element_bytes = sizeof(T);
  r.result_bytes = sizeof(typename Policy::result_type);
  r.operations = 2.0 * tile.m * tile.n * tile.k;
  r.lds_read_clocks = lds_clocks_of<Arch>(lds.a_read) + lds_clocks_of<Arch>(lds.b_read);
  r.lds_write_clocks = lds_clocks_of<Arch>(lds.a_write) + lds_clocks_of<Arch>(lds.b_write);
  r.global_bytes = (tile.m + tile.n) * tile.k * index_t(sizeof(T));
  r.rows_along_k =
      (Policy::a_major == operand_major::k ? tile.m : 0) + (Policy::b_major == operand_major::k ? tile.n : 0);
  r.lds_bytes = gemm_kernel<Policy>::lds_bytes;
  r.registers = Policy::pipeline::template registers<Policy>();
  if constexpr (requires { Policy::pipeline::template halves_per_tile<Policy>(); }) {
    r.role_exchanges = Policy::pipeline::template halves_per_tile<Policy>();
  } else if (!copies_directly<typename Policy::pipeline> || Policy::copies_by_wave) {
    // Where each lane copies for itself, a step's operands are in registers before the barrier.
    r.waits = Policy::pipeline::barriers_per_tile;
  }
  if constexpr (copies_directly<typename Policy::pipeline>) {
    r.copies_directly = true;
    r.tiles_in_flight = Policy::pipeline::num_stages - 1;
  } else if constexpr (__is_same(typename Policy::pipeline, one_wave_per_simd_pipeline)) {
    r.tiles_in_flight = 2;
  }
  r.conflict_free = true;
  for (const lds_access_analysis* access :
       {&lds.a_write, &lds.b_write, &lds.a_read, &lds.b_read, &lds.c_write, &lds.c_read})
    r.conflict_free = r.conflict_free && access->is_conflict_free();
  return r;
}

}  // namespace detail

/// What gemm_kernel<Policy> needs, from its layouts, its pipeline and the target's tables; a gpu_facts then says what
/// bounds it there.
template <class Policy>
inline constexpr gemm_static_report static_report = detail::make_static_report<Policy>();

}  // namespace tilewright
