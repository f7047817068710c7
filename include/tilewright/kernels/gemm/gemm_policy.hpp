// SPDX-License-Identifier: MIT
// The choices that make a GEMM kernel, and good ones for each target.
#pragma once

#include <tilewright/block/mma/default_block_tile.hpp>
#include <tilewright/block/operands/operand_policy.hpp>
#include <tilewright/block/schedule/grid_order.hpp>
#include <tilewright/core/base/type_traits.hpp>
#include <tilewright/kernels/gemm/epilogue/epilogue.hpp>

namespace tilewright {

/// How the kernel of a policy splits k, so that several blocks share a tile of C:
///
///   kernel                                k is split by                    accumulators are added up by
///   gemm_kernel, none                     no: gemm_args::split_k is 1
///   gemm_kernel, workspace                gemm_args::split_k               split_k_reduction, launched after it
///   gemm_kernel, fix_up                   gemm_args::split_k               the block of the tile that ends last
///   stream_k_gemm, none                   the kernel, in a round of tiles  the block of the tile that ends last
///                                         that does not fill the GPU
///   gemm_kernel, Hopper, split_k = 1      the kernel, in the last round    a block of the tile (stream-K); without a
///                                         of tiles                         workspace k is not split
///   gemm_kernel, Hopper, split_k > 1      gemm_args::split_k               the kernel launched after it
///   small_m_gemm                          the kernel                       the tile's last block; without a workspace
///                                                                          k is not split
enum class split_k_kind : signed char { none, workspace, fix_up };

struct double_buffered_pipeline;
struct one_wave_per_simd_pipeline;
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

/// What is written for operands of T: accumulators of int8_t as int, those of 8-bit floating-point numbers as float,
/// else T.
template <class T>
using default_result_t =
    detail::conditional_t<__is_same(T, int8_t), int, detail::conditional_t<sizeof(T) == 1, float, T>>;

namespace detail {

/// single_buffered_pipeline on AMD GPUs where k of the block tile is at least two steps of the matrix instruction;
/// multi_stage_pipeline with four stages, or as many as fit LDS,
/// on NVIDIA GPUs where memory allows vectors of 16 bytes; else double_buffered_pipeline.
struct default_pipeline;

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

template <class Arch, class T, operand_major AMajor, operand_major BMajor, index_t Vector, block_tile Tile,
          class Pipeline>
using chosen_pipeline = typename pipeline_or_default<Pipeline, default_stages<Arch, T>(Tile, AMajor, BMajor, Vector),
                                                     is_amd(Arch::value) && (Tile.num_k_steps() > 1)>::type;

template <class Policy>
inline constexpr index_t tensor_cluster_of = 1;
template <class Policy>
  requires requires { Policy::tensor_cluster; }
inline constexpr index_t tensor_cluster_of<Policy> = Policy::tensor_cluster;

/// What a policy chooses besides operands and pipeline.
template <class Arch, class T>
struct gemm_choices {
  using result_type = default_result_t<T>;
  using epilogue = tilewright::epilogue::alpha_beta;
  using args_type = gemm_args;
  /// Products that share A. With two, each has half of the block tile's columns; see gemm_args::product_stride_b.
  static constexpr index_t products = 1;
  static constexpr group_kind groups = group_kind::none;
  static constexpr bool is_block_scaled = false;
  /// Rows of A are those that expert_args::source names.
  static constexpr bool gathers_a = false;
  static constexpr grid_order order = default_grid_order<Arch>();
  static constexpr split_k_kind split_k = split_k_kind::none;
};

}  // namespace detail

/// Everything that gemm_kernel must know at compile time. Name a struct that derives from it, and the kernel's symbol
/// stays short; such a struct may also replace these members (with their defaults):
///
///   result_type     of C: T; float for 8-bit floating-point numbers, int for int8_t
///   epilogue        epilogue::alpha_beta
///   args_type       gemm_args
///   products        GEMMs that share A, 1 or 2: 1
///   order           a grid_order: default_grid_order<Arch>()
///   split_k         a split_k_kind: none
///   b_element_type  T; with 8-bit floating-point numbers it may be the other format
///
/// Vector: elements that are moved at once where memory allows; a kernel with Vector > 1 needs lengths along contiguous
/// dimensions, leading dimensions and pointers that are multiples of it. Pipeline: by default single_buffered_pipeline
/// on AMD GPUs where k of the tile is at least two steps of the matrix instruction; on NVIDIA GPUs, where memory allows
/// vectors of 16 bytes, multi_stage_pipeline with four stages, or as many as fit LDS; else double_buffered_pipeline.
template <class Arch, class T, operand_major AMajor, operand_major BMajor, index_t Vector,
          block_tile Tile = default_block_tile<Arch, T, Vector>(), class Pipeline = detail::default_pipeline>
struct gemm_policy
    : detail::gemm_choices<Arch, T>,
      operand_policy<
          Arch, T, AMajor, BMajor, Vector, Tile,
          detail::copies_directly<detail::chosen_pipeline<Arch, T, AMajor, BMajor, Vector, Tile, Pipeline>>> {
  using pipeline = detail::chosen_pipeline<Arch, T, AMajor, BMajor, Vector, Tile, Pipeline>;
};

}  // namespace tilewright
