// SPDX-License-Identifier: MIT
// Moves a matrix instruction's operands and results between LDS and registers, whole or step by step along k: which
// lane addresses which elements, reads, and writes by stmatrix.
#pragma once

#include <tilewright/core/arch/matrix_instruction.hpp>
#include <tilewright/core/arch/target.hpp>
#include <tilewright/core/arch/transposing_read.hpp>
#include <tilewright/core/distribution/embed_encoding.hpp>
#include <tilewright/core/distribution/lane_map_encoding.hpp>
#include <tilewright/core/lds/lds_fault.hpp>
#include <tilewright/tile/copy/load_store.hpp>

namespace tilewright {
namespace detail {

/// Operands of these instructions are read with ldmatrix: the lane that gives an
/// address is not the lane that gets the data.
TILEWRIGHT_HD constexpr bool uses_ldmatrix(arch::matrix_op op) { return op == arch::matrix_op::mma_m16n8k16_x2; }

}  // namespace detail

/// How an operand of an instruction is read from LDS, where its rows (k) or, `transposed`, its columns are contiguous:
/// the kind of access for proofs (lds_access, analyze_lds_access) of block_gemm's windows.
TILEWRIGHT_HD constexpr lds_access_kind fragment_access(arch::matrix_op op, bool transposed = false) {
  if (detail::uses_ldmatrix(op)) return lds_access_kind::ldmatrix;
  return transposed ? lds_access_kind::transposing_read : lds_access_kind::read;
}

/// Whether a target can read an operand of the instruction whose columns (m or n) are contiguous in LDS: by ldmatrix,
/// or by transposing reads (gfx950). Where it cannot, a_lds_distribution<tile, true> must not be used: give the
/// layout in LDS contiguous rows (k), by writing the operand transposed (load_tile_transpose, operand_windows).
TILEWRIGHT_HD constexpr bool reads_transposed(const arch::target& target, arch::matrix_op op) {
  const arch::lds_op read = arch::transposing_read_op(arch::element_bytes(op));
  return detail::uses_ldmatrix(op) || (read != arch::lds_op::read_b64 && target.supports(read));
}

namespace detail {

/// Which lane gives the address of which 16 bytes, for four 8x8 matrices in the order of the operand's registers:
/// lane l of matrix l / 8 addresses row l % 8.
TILEWRIGHT_HD constexpr arch::lane_map ldmatrix_address_map(const arch::lane_map& operand) {
  arch::lane_map addresses;
  addresses.lane = arch::bits(operand.lane[2], operand.lane[3], operand.lane[4], operand.reg[1], operand.reg[2]);
  addresses.reg = arch::bits(operand.reg[0], operand.lane[0], operand.lane[1]);
  return addresses;
}

/// Lanes and the elements that they address when an operand is read from LDS, where its rows or (transposed) its
/// columns are contiguous.
TILEWRIGHT_HD constexpr arch::lane_map load_map(arch::matrix_op op, const arch::lane_map& operand,
                                                bool transposed = false) {
  if (!transposed) return uses_ldmatrix(op) ? ldmatrix_address_map(operand) : operand;
  const arch::lds_op read =
      uses_ldmatrix(op) ? arch::lds_op::ldmatrix : arch::transposing_read_op(arch::element_bytes(op));
  return arch::address_map(arch::exchange_of(read), operand);
}

/// Accesses Is of a window, for the instruction's operand. Its vectors run along k,
/// or along the rows of a transposed operand.
template <arch::matrix_op Op, class Tile, class Window, index_t... Is>
TILEWRIGHT_HD void read_fragments(Tile& tile, const Window& window, index_t lds_bytes, sequence<Is...> accesses) {
  constexpr bool transposed = detail::vector_dim_x<Window> == 0;
  if constexpr (detail::uses_ldmatrix(Op)) {
    constexpr bool reads_16_bytes = Window::vector_length == 8;
    static_assert(reads_16_bytes, "load_fragments: ldmatrix reads rows of 16 contiguous bytes");
    // Either way an access fills 8 registers, in the order of the operand's tiles.
    load_accesses_exchanging<transposed ? lds_read::ldmatrix_transposed : lds_read::ldmatrix>(tile, window, lds_bytes,
                                                                                              accesses);
  } else if constexpr (transposed) {
    constexpr bool reads_8_bytes = Window::vector_length * Window::element_bytes == 8;
    static_assert(reads_8_bytes, "load_fragments: a transposing read takes 8 contiguous bytes");
    load_accesses_exchanging<lds_read::transposing>(tile, window, lds_bytes, accesses);
  } else {
    load_accesses(tile, window, in_bounds<>{}, lds_bytes, accesses);
  }
}

}  // namespace detail

/// Reads Count of the KSteps steps that the instruction takes along k, from First on, of an operand (rows, k) in LDS:
/// from a window of a_lds_distribution or b_lds_distribution, `lds_bytes` further on, into a tile of a_distribution or
/// b_distribution. All lanes of the wave call it; the caller orders it after the writes by a barrier.
template <arch::matrix_op Op, index_t KSteps, index_t First, index_t Count, class T, class Result, class View,
          class Distribution>
TILEWRIGHT_HD void load_fragment_steps(static_distributed_tensor<T, Result>& tile,
                                       const tile_window<View, Distribution>& window, index_t lds_bytes,
                                       exec::call_site where = {}) {
  const exec::call_scope scope(where);
  using window_type = tile_window<View, Distribution>;
  constexpr index_t num_access = window_type::num_access;
  static_assert(num_access % KSteps == 0,
                "load_fragment_steps: the window's accesses are not the same for each step along k");
  static_assert(0 <= First && 0 <= Count && First + Count <= KSteps,
                "load_fragment_steps: there are fewer steps along k");
  // Accesses iterate over (rows, steps along k, parts of a fragment).
  constexpr index_t parts = window_type::num_access / (window_type::distribution_type::encoding.y_length(0) * KSteps);
  [&]<index_t... Is>(sequence<Is...>) TILEWRIGHT_INLINE_LAMBDA {
    detail::read_fragments<Op>(tile, window, lds_bytes,
                               sequence<((Is / (Count * parts) * KSteps + First) * parts + Is % (Count * parts))...>{});
  }(make_sequence<num_access / KSteps * Count>{});
}

namespace detail {

/// LDS instructions that read one step of KSteps along k.
template <class Window, index_t KSteps>
inline constexpr index_t reads_per_step = Window::num_access / KSteps;

/// Reads First to Last - 1 of those of one step: for kernels that place them among matrix instructions.
template <arch::matrix_op Op, index_t KSteps, index_t Step, index_t First, index_t Last, class T, class Result,
          class View, class Distribution>
TILEWRIGHT_HD void load_fragment_accesses(static_distributed_tensor<T, Result>& tile,
                                          const tile_window<View, Distribution>& window, index_t lds_bytes,
                                          exec::call_site where = {}) {
  const exec::call_scope scope(where);
  using window_type = tile_window<View, Distribution>;
  constexpr bool has_these_accesses =
      0 <= Step && Step < KSteps && 0 <= First && First <= Last && Last <= detail::reads_per_step<window_type, KSteps>;
  static_assert(has_these_accesses,
                "load_fragment_accesses: there are fewer steps along k, or fewer reads in a step; see reads_per_step");
  constexpr index_t parts = detail::reads_per_step<window_type, KSteps> / Distribution::encoding.y_length(0);
  [&]<index_t... Is>(sequence<Is...>) TILEWRIGHT_INLINE_LAMBDA {
    detail::read_fragments<Op>(tile, window, lds_bytes,
                               sequence<(((First + Is) / parts * KSteps + Step) * parts + (First + Is) % parts)...>{});
  }(make_sequence<Last - First>{});
}

/// The whole window.
template <arch::matrix_op Op, TileDistribution Result, class View, class Distribution>
TILEWRIGHT_HD auto load_fragments(const tile_window<View, Distribution>& window, index_t lds_bytes,
                                  exec::call_site where = {}) {
  static_distributed_tensor<typename View::element_type, Result> tile;
  load_fragment_steps<Op, 1, 0, 1>(tile, window, lds_bytes, where);
  return tile;
}

/// The tile of one wave that consists of `repeat_n` results of an instruction next to each other.
TILEWRIGHT_HD constexpr distribution_encoding wave_tile_encoding(index_t repeat_n, const arch::lane_map& result) {
  distribution_encoding outer;
  outer.h.push_back({});
  outer.h.push_back({});
  outer.h[1].push_back(repeat_n);
  outer.y.push_back({2, 0});
  return embed(outer, encoding_of(result));
}

#if TILEWRIGHT_HOPPER_PASS

/// Writes a tile with the distribution of results to a window with the distribution of the addresses
/// (ldmatrix_address_map). The window's addresses are moved by `lds_bytes`.
template <class View, class Addresses, class T, class Distribution>
TILEWRIGHT_HD void store_fragments(const tile_window<View, Addresses>& window,
                                   const static_distributed_tensor<T, Distribution>& tile, index_t lds_bytes) {
  using window_type = tile_window<View, Addresses>;
  static_assert(window_type::vector_length == 8, "store_fragments: stmatrix writes rows of 16 contiguous bytes");
  const auto offsets = window.offsets(typename window_type::access_sequence{});
  unroll<window_type::num_access>([&](auto i) {
    array<unsigned, 4> words;
    __builtin_memcpy(&words, tile.thread_buffer.data() + constant(window_type::accesses::list.first_register[i.value]),
                     sizeof(words));
    exec::stmatrix_x4<vector_dim_x<window_type> == 0>(window.view.buffer, offsets[i.value] + lds_bytes, words);
  });
}

#endif

}  // namespace detail

}  // namespace tilewright
