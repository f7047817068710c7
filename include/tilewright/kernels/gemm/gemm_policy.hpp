// SPDX-License-Identifier: MIT
// The choices that make a GEMM kernel, and good ones for each target.
#pragma once

#include <tilewright/block/mma/block_tile.hpp>
#include <tilewright/block/operands/operand_copy.hpp>
#include <tilewright/block/schedule/grid_order.hpp>
#include <tilewright/core/arch/matrix_element.hpp>
#include <tilewright/core/arch/target.hpp>
#include <tilewright/core/base/type_traits.hpp>
#include <tilewright/core/lds/layout_solver.hpp>
#include <tilewright/kernels/gemm/epilogue/epilogue.hpp>

namespace tilewright {

/// Whether blocks may share a tile of C, each with a part of k: they write their sums to a workspace, and
/// split_k_reduction finishes.
enum class split_k_kind : signed char { none, workspace };

struct double_buffered_pipeline;
struct one_wave_pipeline;
struct ping_pong_pipeline;
struct single_buffered_pipeline;
template <index_t Stages>
struct multi_stage_pipeline;

namespace detail {

/// Whether a pipeline copies operands to LDS without registers. An operand then lies in LDS as it does in memory.
template <class Pipeline>
inline constexpr bool copies_directly = false;
template <index_t Stages>
inline constexpr bool copies_directly<multi_stage_pipeline<Stages>> = true;

}  // namespace detail

/// The block tile that a target's kernels use by default for elements of T: 128 x 128, and along k 128 bytes with MFMA,
/// 64 elements with WMMA, 32 elements on NVIDIA GPUs. There operands that pass through registers, because memory allows
/// narrower vectors than 16 bytes, need more waves.
template <class Arch, class T, index_t Vector = 16 / index_t(sizeof(T))>
TILEWRIGHT_HD constexpr block_tile default_block_tile() {
  using enum arch::matrix_op;
  using arch::matrix_op;
  constexpr arch::matrix_element element = arch::matrix_element_v<T>;
  constexpr index_t k = 128 / index_t(sizeof(T));
  for (const matrix_op op : {mfma_32x32x16, mfma_32x32x8_x2, mfma_32x32x64_b8, mfma_32x32x32_b8, mfma_32x32x16_b8_x2,
                             mfma_32x32x8_b8_x4, mfma_32x32x2_b32_x4}) {
    if (Arch::value.supports(op, element)) return {128, 128, k, 2, 2, op};
  }
  for (const matrix_op op :
       {wmma_16x16x16_gfx11, wmma_16x16x16_gfx12, wmma_16x16x16_b8_gfx11, wmma_16x16x16_b8_x2_gfx12}) {
    if (Arch::value.supports(op, element)) return {128, 128, 64, 2, 4, op};
  }
  return {128, 128, 32, 2, Vector == 16 / index_t(sizeof(T)) ? 2 : 4, mma_m16n8k16_x2};
}

/// What is written for operands of T: sums of int8_t as int, those of 8-bit floating-point numbers as float, else T.
template <class T>
using default_result_t =
    detail::conditional_t<__is_same(T, int8_t), int, detail::conditional_t<sizeof(T) == 1, float, T>>;

namespace detail {

/// single_buffered_pipeline on AMD GPUs where k of the block tile is at least two steps of the matrix instruction;
/// multi_stage_pipeline with four stages, or as many as fit LDS,
/// on NVIDIA GPUs where memory allows vectors of 16 bytes; else double_buffered_pipeline.
struct default_pipeline;

template <class Arch>
TILEWRIGHT_HD constexpr distribution_encoding operand_copy(const block_tile& tile, operand_major major,
                                                           bool is_transposed, index_t rows, index_t vector) {
  const index_t waves = tile.num_waves(), wave_size = Arch::value.wave_size;
  if (!is_transposed) return operand_copy_encoding(major, rows, tile.k, waves, wave_size, vector, vector);
  return with_dimensions_exchanged(
      operand_copy_encoding(operand_major::k, tile.k, rows, waves, wave_size, vector, vector));
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

/// Stages of the default pipeline that copies without registers; less than 2: it has another one.
template <class Arch, class T>
TILEWRIGHT_HD constexpr index_t default_stages(const block_tile& tile, operand_major a_major, operand_major b_major,
                                               index_t vector) {
  const index_t k_pack = 16 / index_t(sizeof(T)), waves = tile.num_waves();
  if (arch::is_amd(Arch::value) || vector != k_pack || !detail::uses_ldmatrix(tile.op)) return 0;
  const auto fits = [&](operand_major major, index_t rows) {
    return major == operand_major::k ||
           operand_copy_fits(operand_major::k, tile.k, rows, waves, Arch::value.wave_size, k_pack, k_pack);
  };
  if (!fits(a_major, tile.m) || !fits(b_major, tile.n)) return 0;
  return min(4, Arch::value.lds_bytes / ((tile.m + tile.n) * tile.k * index_t(sizeof(T))));
}

template <class Pipeline, index_t Stages, bool SingleBuffer>
struct pipeline_or_default {
  using type = Pipeline;
};
template <index_t Stages, bool SingleBuffer>
struct pipeline_or_default<default_pipeline, Stages, SingleBuffer> {
  using type = detail::conditional_t<SingleBuffer, single_buffered_pipeline, double_buffered_pipeline>;
};
template <index_t Stages>
  requires(Stages >= 2)
struct pipeline_or_default<default_pipeline, Stages, false> {
  using type = multi_stage_pipeline<Stages>;
};

/// The choices that every policy has, whatever its pipeline.
template <class Arch, class T, operand_major AMajor, operand_major BMajor, index_t Vector, block_tile Tile>
struct gemm_choices {
  static_assert(Arch::value.supports(Tile.op, arch::matrix_element_v<T>),
                "gemm_policy: the target does not have this matrix instruction for these elements");
  static_assert(is_power_of_two(Vector) && Vector * index_t(sizeof(T)) <= 16,
                "gemm_policy: Vector must be a power of two, and at most 16 bytes; 1 where memory promises nothing");
  static_assert(Tile.is_sound(),
                "gemm_policy: the block tile is not a whole number of matrix instructions for each wave");

  using arch = Arch;
  using element_type = T;    // of A
  using b_element_type = T;  // of B
  using result_type = default_result_t<T>;
  using epilogue = tilewright::epilogue::alpha_beta;
  using args_type = gemm_args;
  /// Products that share A. With two, each has half of the block tile's columns; see gemm_args::product_stride_b.
  static constexpr index_t products = 1;
  static constexpr group_kind groups = group_kind::none;
  static constexpr bool is_block_scaled = false;
  static constexpr grid_order order = default_grid_order<Arch>();
  static constexpr split_k_kind split_k = split_k_kind::none;
  static constexpr block_tile tile = Tile;
  static constexpr operand_major a_major = AMajor;
  static constexpr operand_major b_major = BMajor;
  static constexpr index_t vector = Vector;
};

}  // namespace detail

/// Everything that gemm_kernel must know at compile time. Name a struct that derives from it, and the kernel's symbol
/// stays short; such a struct may also replace result_type, epilogue, args_type, products, order and split_k, and with
/// 8-bit floating-point numbers b_element_type. Vector: elements that are moved at once where memory allows; a kernel
/// with Vector > 1 needs lengths along contiguous dimensions, leading dimensions and pointers that are multiples of it.
template <class Arch, class T, operand_major AMajor, operand_major BMajor, index_t Vector,
          block_tile Tile = default_block_tile<Arch, T, Vector>(), class Pipeline = detail::default_pipeline>
struct gemm_policy : detail::gemm_choices<Arch, T, AMajor, BMajor, Vector, Tile> {
  static_assert(!tilewright::arch::is_wgmma(Tile.op),
                "gemm_policy: wgmma reads its operands from LDS; use warp_specialized_pipeline");
  /// Elements along k that stay together in LDS: 16 bytes.
  static constexpr index_t k_pack = 16 / index_t(sizeof(T));
  static constexpr bool prefers_single_buffer = tilewright::arch::is_amd(Arch::value) && Tile.num_k_steps() > 1;
  using pipeline =
      typename detail::pipeline_or_default<Pipeline, detail::default_stages<Arch, T>(Tile, AMajor, BMajor, Vector),
                                           prefers_single_buffer>::type;
  /// What a thread may have while two waves, or as many as the block has more, share a SIMD.
  static constexpr index_t registers_per_thread = Arch::value.max_vgprs / max(2, Tile.num_waves() / 4);
  static_assert(detail::is_power_of_two(Tile.m) && detail::is_power_of_two(Tile.n) && detail::is_power_of_two(Tile.k),
                "gemm_policy: m, n and k of the block tile must be powers of two");
  static_assert(detail::operand_copy_fits(AMajor, Tile.m, Tile.k, Tile.num_waves(), Arch::value.wave_size, k_pack,
                                          k_pack) &&
                    detail::operand_copy_fits(BMajor, Tile.n, Tile.k, Tile.num_waves(), Arch::value.wave_size, k_pack,
                                              k_pack),
                "gemm_policy: the block tile has less than 16 bytes of each operand for each thread; use fewer waves "
                "or a larger block tile");

  /// Bytes of each lane that an instruction of a wave_copy moves; 0: operands are copied otherwise.
  static constexpr index_t wave_copy_bytes =
      !detail::copies_directly<pipeline> || !tilewright::arch::is_amd(Arch::value) ? 0
      : Arch::value.supports_direct_to_lds(16)                                     ? 16
      : Arch::value.supports_direct_to_lds(4)                                      ? 4
                                                                                   : 0;
  /// Such a target fills LDS lane after lane, so lanes move what belongs at their place.
  static constexpr bool copies_by_wave = wave_copy_bytes > 0;
  /// Elements that a thread copies to LDS at once.
  static constexpr index_t copy_vector = copies_by_wave ? wave_copy_bytes / index_t(sizeof(T)) : k_pack;

  /// Whether columns of the operand's tile, not rows, are contiguous in LDS, as they are in memory: where the target
  /// can read them so.
  static constexpr bool keeps_columns =
      detail::copies_directly<pipeline> ||
      (tilewright::arch::is_amd(Arch::value) && detail::reads_transposed(Arch::value, Tile.op));
  static constexpr bool a_transposed = keeps_columns && AMajor == operand_major::mn;
  static constexpr bool b_transposed = keeps_columns && BMajor == operand_major::mn;
  static_assert(!detail::copies_directly<pipeline> || Vector % copy_vector == 0,
                "gemm_policy: this pipeline copies vectors of 16 bytes, on gfx90a and gfx942 of 4; give a Vector of so "
                "many elements, or use another pipeline");
  static_assert(detail::reads_transposed(Arch::value, Tile.op) || !(a_transposed || b_transposed),
                "gemm_policy: without ldmatrix or transposing reads an operand whose rows are not contiguous must pass "
                "through registers on its way to LDS; use another pipeline");

  /// Who copies which elements of an operand's tile to LDS, and who reads (for ldmatrix: addresses) which from there.
  static constexpr distribution_encoding a_copy =
      number<detail::operand_copy<Arch>(Tile, AMajor, a_transposed, Tile.m, copy_vector)>::value;
  static constexpr distribution_encoding b_copy =
      number<detail::operand_copy<Arch>(Tile, BMajor, b_transposed, Tile.n, copy_vector)>::value;
  static constexpr distribution_encoding a_read = number<detail::a_encoding(Tile, true, a_transposed)>::value;
  static constexpr distribution_encoding b_read = number<detail::b_encoding(Tile, true, b_transposed)>::value;

  /// Whether waves access A and B alike: they then have the same layout, which is searched for once.
  static constexpr bool have_same_lanes = a_transposed == b_transposed && Tile.m == Tile.n &&
                                          detail::waves_access_alike(a_copy, b_copy) &&
                                          detail::waves_access_alike(a_read, b_read);
  /// How the operand tiles lie in LDS: chosen so that writing and reading them is free of
  /// bank conflicts where that is possible.
  static constexpr lds_layout_choice a_layout =
      number<detail::operand_layout<Arch, T>(Tile, a_transposed, Tile.m, a_copy, a_read)>::value;
  static constexpr lds_layout_choice b_layout = number<(
      have_same_lanes ? a_layout : detail::operand_layout<Arch, T>(Tile, b_transposed, Tile.n, b_copy, b_read))>::value;
  /// The same as graphs from (row, k).
  static constexpr tensor_graph a_lds = number<detail::operand_graph(a_layout.layout, a_transposed)>::value;
  static constexpr tensor_graph b_lds =
      number<(have_same_lanes ? a_lds : detail::operand_graph(b_layout.layout, b_transposed))>::value;
};

}  // namespace tilewright
