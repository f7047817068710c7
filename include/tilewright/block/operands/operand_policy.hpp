// SPDX-License-Identifier: MIT
// How a block copies the operands of its tile to LDS: who copies and reads what, and layouts without bank conflicts.
#pragma once

#include <tilewright/block/mma/block_tile.hpp>
#include <tilewright/block/operands/operand_copy.hpp>
#include <tilewright/core/arch/matrix_element.hpp>
#include <tilewright/core/arch/target.hpp>
#include <tilewright/core/lds/layout_solver.hpp>

namespace tilewright {

namespace detail {

template <class Arch>
TILEWRIGHT_HD constexpr distribution_encoding operand_copy(const block_tile& tile, operand_major major,
                                                           bool is_transposed, index_t rows, index_t vector) {
  const index_t waves = tile.num_waves(), wave_size = Arch::value.wave_size;
  if (!is_transposed) return operand_copy_encoding(major, rows, tile.k, waves, wave_size, vector, vector);
  return with_dimensions_exchanged(
      operand_copy_encoding(operand_major::k, tile.k, rows, waves, wave_size, vector, vector));
}

/// Elements that a thread copies at once of an operand of `rows` rows: `vector`, or with may_halve, where k is
/// contiguous, half of them; 0: the threads cannot share the tile so.
template <class Arch>
TILEWRIGHT_HD constexpr index_t shared_copy_vector(const block_tile& tile, operand_major major, index_t rows,
                                                   index_t vector, bool may_halve) {
  const auto fits = [&](index_t v) {
    return operand_copy_fits(major, rows, tile.k, tile.num_waves(), Arch::value.wave_size, v, v);
  };
  if (fits(vector)) return vector;
  return may_halve && major == operand_major::k && fits(vector / 2) ? vector / 2 : 0;
}

template <class Arch, class T>
constexpr lds_layout_choice operand_layout(const block_tile& tile, bool is_transposed, index_t rows,
                                           const distribution_encoding& copy, const distribution_encoding& read) {
  const lds_access_kind kind = fragment_access(tile.op, is_transposed);
  if (is_transposed) {
    return choose_lds_layout<Arch>(lds_tile{tile.k, rows, sizeof(T)},
                                   lds_use{with_dimensions_exchanged(copy), lds_access_kind::write},
                                   lds_use{with_dimensions_exchanged(read), kind});
  }
  return choose_lds_layout<Arch>(lds_tile{rows, tile.k, sizeof(T)}, lds_use{copy, lds_access_kind::write},
                                 lds_use{read, kind});
}

/// Whether two distributions differ in nothing but the positions of waves, which do not matter for bank conflicts.
TILEWRIGHT_HD constexpr bool waves_access_alike(const distribution_encoding& a, const distribution_encoding& b) {
  return a.h == b.h && a.y == b.y && a.p.back() == b.p.back();
}

TILEWRIGHT_HD constexpr tensor_graph operand_graph(const swizzled_layout& layout, bool is_transposed) {
  tensor_graph graph = make_lds_graph(layout);
  if (is_transposed) {
    const signed char first = graph.top[0];
    graph.top[0] = graph.top[1];
    graph.top[1] = first;
  }
  return graph;
}

/// The operands of a block tile, wherever they pass.
template <class Arch, class T, operand_major AMajor, operand_major BMajor, index_t Vector, block_tile Tile>
struct operand_choices {
  static_assert(Arch::value.supports(Tile.op, arch::matrix_element_v<T>),
                "operand_policy: the target does not have this matrix instruction for these elements");
  static_assert(
      is_power_of_two(Vector) && Vector * index_t(sizeof(T)) <= 16,
      "operand_policy: Vector must be a power of two, and at most 16 bytes; 1 where memory guarantees nothing");
  static_assert(Tile.is_sound(),
                "operand_policy: the block tile is not a whole number of matrix instructions for each wave");

  using arch = Arch;
  using element_type = T;    // of A
  using b_element_type = T;  // of B
  static constexpr block_tile tile = Tile;
  static constexpr operand_major a_major = AMajor;
  static constexpr operand_major b_major = BMajor;
  static constexpr index_t vector = Vector;
};

}  // namespace detail

/// Operands A (m x k) and B (n x k) of a block tile that pass through LDS. Vector: elements that memory allows to move
/// at once. CopiesDirectly: without registers, so that an operand lies in LDS as it does in memory.
template <class Arch, class T, operand_major AMajor, operand_major BMajor, index_t Vector, block_tile Tile,
          bool CopiesDirectly>
struct operand_policy : detail::operand_choices<Arch, T, AMajor, BMajor, Vector, Tile> {
  static_assert(!tilewright::arch::is_wgmma(Tile.op),
                "operand_policy: wgmma reads its operands from LDS; use warp_specialized_pipeline");
  /// Elements along k that stay together in LDS: 16 bytes.
  static constexpr index_t k_pack = 16 / index_t(sizeof(T));
  /// What a thread may have while two waves, or as many as the block has more, share a SIMD.
  static constexpr index_t registers_per_thread = Arch::value.max_vgprs / max(2, Tile.num_waves() / 4);
  static_assert(detail::is_power_of_two(Tile.k), "operand_policy: k of the block tile must be a power of two");

  /// Bytes of each lane that an instruction of a wave_copy moves; 0: operands are copied otherwise.
  static constexpr index_t wave_copy_bytes = !CopiesDirectly || !tilewright::arch::is_amd(Arch::value) ? 0
                                             : Arch::value.supports_direct_to_lds(16)                  ? 16
                                             : Arch::value.supports_direct_to_lds(4)                   ? 4
                                                                                                       : 0;
  /// Such a target fills LDS lane after lane, so lanes move what belongs at their place.
  static constexpr bool copies_by_wave = wave_copy_bytes > 0;
  /// Elements that a thread copies to LDS at once.
  static constexpr index_t copy_vector = copies_by_wave ? wave_copy_bytes / index_t(sizeof(T)) : k_pack;
  /// The same of A's tile: half of them for 48 or 80 rows, which the threads cannot share in whole vectors.
  static constexpr index_t a_copy_vector =
      detail::shared_copy_vector<Arch>(Tile, AMajor, Tile.m, copy_vector, !CopiesDirectly && Tile.m % 32 != 0);
  /// The same of B's tile.
  static constexpr index_t b_copy_vector =
      detail::shared_copy_vector<Arch>(Tile, BMajor, Tile.n, copy_vector, !CopiesDirectly && Tile.n % 32 != 0);
  static_assert(a_copy_vector > 0 && b_copy_vector > 0,
                "operand_policy: the block tile has less than 16 bytes of each operand for each thread, or the threads "
                "cannot share them in whole vectors; use fewer waves or a larger block tile");

  /// Whether columns of the operand's tile, not rows, are contiguous in LDS, as they are in memory: where the target
  /// can read them so.
  static constexpr bool keeps_columns =
      CopiesDirectly || (tilewright::arch::is_amd(Arch::value) && reads_transposed(Arch::value, Tile.op));
  /// Columns of A's tile are contiguous in LDS.
  static constexpr bool a_transposed = keeps_columns && AMajor == operand_major::mn;
  /// Columns of B's tile are contiguous in LDS.
  static constexpr bool b_transposed = keeps_columns && BMajor == operand_major::mn;
  static_assert(
      !CopiesDirectly || Vector % copy_vector == 0,
      "operand_policy: this pipeline copies vectors of 16 bytes, on gfx90a and gfx942 of 4; give a Vector of so "
      "many elements, or use another pipeline");
  static_assert(
      reads_transposed(Arch::value, Tile.op) || !(a_transposed || b_transposed),
      "operand_policy: without ldmatrix or transposing reads an operand whose rows are not contiguous must pass "
      "through registers on its way to LDS; use another pipeline");

  /// Who copies which elements of an operand's tile to LDS, and who reads (for ldmatrix: addresses) which from there.
  static constexpr distribution_encoding a_copy =
      number<detail::operand_copy<Arch>(Tile, AMajor, a_transposed, Tile.m, a_copy_vector)>::value;
  /// The same of B's tile.
  static constexpr distribution_encoding b_copy =
      number<detail::operand_copy<Arch>(Tile, BMajor, b_transposed, Tile.n, b_copy_vector)>::value;
  /// Who reads (for ldmatrix: addresses) which elements of A's tile from LDS.
  static constexpr distribution_encoding a_read = number<detail::a_encoding(Tile, true, a_transposed)>::value;
  /// The same of B's tile.
  static constexpr distribution_encoding b_read = number<detail::b_encoding(Tile, true, b_transposed)>::value;

  /// Whether waves access A and B alike: they then have the same layout, which is searched for once.
  static constexpr bool have_same_lanes = a_transposed == b_transposed && Tile.m == Tile.n &&
                                          detail::waves_access_alike(a_copy, b_copy) &&
                                          detail::waves_access_alike(a_read, b_read);
  /// How the operand tiles lie in LDS: chosen so that writing and reading them is free of
  /// bank conflicts where that is possible.
  static constexpr lds_layout_choice a_layout =
      number<detail::operand_layout<Arch, T>(Tile, a_transposed, Tile.m, a_copy, a_read)>::value;
  /// The same of B's tile.
  static constexpr lds_layout_choice b_layout = number<(
      have_same_lanes ? a_layout : detail::operand_layout<Arch, T>(Tile, b_transposed, Tile.n, b_copy, b_read))>::value;
  /// The same as graphs from (row, k).
  static constexpr tensor_graph a_lds = number<detail::operand_graph(a_layout.layout, a_transposed)>::value;
  /// The same of B's tile.
  static constexpr tensor_graph b_lds =
      number<(have_same_lanes ? a_lds : detail::operand_graph(b_layout.layout, b_transposed))>::value;
};

}  // namespace tilewright
