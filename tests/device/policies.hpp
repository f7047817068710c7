// SPDX-License-Identifier: MIT
// The policies whose kernels the emulator runs, and on which targets: one list for kernels, tests and documents.
#pragma once

#include <tilewright/kernels/gemm/choice/cdna_tile_family.hpp>
#include <tilewright/kernels/gemm/gemm_kernel.hpp>
#include <tilewright/kernels/gemm/named_policies.hpp>
#include <tilewright/kernels/gemm/portable/multi_stage_pipeline.hpp>
#include <tilewright/kernels/gemm/portable/tensor_move_pipeline.hpp>
#include <tilewright/kernels/gemm/stream_k_gemm.hpp>

#include <type_traits>

namespace policies {

namespace tw = tilewright;
using tw::operand_major;
using enum operand_major;

template <class Arch, class T, tw::index_t M, tw::index_t N, tw::index_t WavesM = 2, tw::index_t WavesN = 2,
          tw::index_t K = 0>
inline constexpr tw::block_tile tile{M,      N,      K == 0 ? tw::default_block_tile<Arch, T>().k : K,
                                     WavesM, WavesN, tw::default_block_tile<Arch, T>().op};

template <class Arch>
using fp8_t = std::conditional_t<Arch::value.fp8 == tw::arch::fp8_kind::fnuz, tw::fp8_fnuz_t, tw::fp8_ocp_t>;
template <class Arch>
using bf8_t = std::conditional_t<Arch::value.fp8 == tw::arch::fp8_kind::fnuz, tw::bf8_fnuz_t, tw::bf8_ocp_t>;

// Block tiles.
template <class Arch>
using tile_64x64 = tw::gemm_policy<Arch, tw::half_t, k, mn, 8, tile<Arch, tw::half_t, 64, 64>>;
template <class Arch>
using tile_128x64 = tw::gemm_policy<Arch, tw::bfloat16_t, mn, k, 8, tile<Arch, tw::bfloat16_t, 128, 64>>;
template <class Arch>
using tile_128x128 = tw::gemm_policy<Arch, tw::half_t, k, mn, 8>;
template <class Arch>
using tile_256x256 = tw::gemm_policy<Arch, tw::half_t, k, k, 8, tile<Arch, tw::half_t, 256, 256, 2, 4>>;

// Elements.
template <class Arch>
using f32 = tw::gemm_policy<Arch, float, k, k, 4, tile<Arch, float, 64, 64>>;
/// With 64 elements along k: the emulator does not know that no more than 63 loads of a wave can be under way.
template <class Arch>
using int8 = tw::gemm_policy<Arch, tw::int8_t, mn, k, 1, tile<Arch, tw::int8_t, 64, 64, 2, 2, 64>>;
template <class Arch>
struct fp8 : tw::gemm_policy<Arch, fp8_t<Arch>, k, mn, 16, tile<Arch, fp8_t<Arch>, 64, 64>> {
  using result_type = tw::half_t;
};
template <class Arch>
struct bf8 : tw::gemm_policy<Arch, bf8_t<Arch>, mn, k, 16, tile<Arch, bf8_t<Arch>, 64, 64>> {
  using result_type = bf8_t<Arch>;
};
template <class Arch>
struct fp8_and_bf8 : tw::gemm_policy<Arch, fp8_t<Arch>, k, k, 16, tile<Arch, fp8_t<Arch>, 64, 64>> {
  using b_element_type = bf8_t<Arch>;
};

// Pipelines.
template <class Arch>
using double_buffered =
    tw::gemm_policy<Arch, tw::half_t, mn, k, 8, tile<Arch, tw::half_t, 64, 64>, tw::double_buffered_pipeline>;
template <class Arch>
using multi_stage =
    tw::gemm_policy<Arch, tw::half_t, k, k, 8, tile<Arch, tw::half_t, 64, 64>, tw::multi_stage_pipeline<3>>;
template <class Arch>
using multi_stage_pairs = tw::gemm_policy<Arch, tw::bfloat16_t, k, k, 2, tile<Arch, tw::bfloat16_t, 64, 64, 2, 2, 32>,
                                          tw::multi_stage_pipeline<2>>;

template <class Arch>
using multi_stage_fp8 = tw::gemm_policy<Arch, fp8_t<Arch>, k, k, 16, tile<Arch, fp8_t<Arch>, 64, 64, 2, 2, 64>,
                                        tw::multi_stage_pipeline<4>>;
template <class Arch>
using multi_stage_columns =
    tw::gemm_policy<Arch, tw::half_t, mn, mn, 8, tile<Arch, tw::half_t, 64, 64>, tw::multi_stage_pipeline<2>>;

template <class Arch>
using tensor_move = tw::tensor_move_policy<Arch, tw::half_t, 8, tile<Arch, tw::half_t, 64, 64>, 3>;
template <class Arch>
using tensor_move_fp8 = tw::tensor_move_policy<Arch, fp8_t<Arch>, 16, tile<Arch, fp8_t<Arch>, 32, 64, 1, 2, 128>, 2>;

template <class Arch>
using tensor_move_cluster = tw::tensor_move_policy<Arch, tw::half_t, 8, tile<Arch, tw::half_t, 64, 64>, 3, 2>;

template <class Arch>
using ping_pong = tw::gemm_ping_pong<Arch, tw::half_t, k, mn, 8>;
template <class Arch>
using fp8_ping_pong = tw::gemm_ping_pong<Arch, fp8_t<Arch>, mn, mn, 16>;
template <class Arch>
using one_wave = tw::gemm_one_wave<Arch, tw::bfloat16_t, k, k, 8>;

template <class Arch>
using small_m = tw::gemm_16x64<Arch, tw::bfloat16_t, k, k, 8>;

// Tiles of the family: deep pipelines for small M on every CDNA target, then those of gfx950 alone.
template <class Arch, tw::cdna_tile Tile>
using family_tile = tw::gemm_cdna_tile<Arch, tw::bfloat16_t, k, k, 8, Tile>;
template <class Arch>
using deep_16x64 = family_tile<Arch, tw::cdna_tile{16, 64, 64, 1, 2, (Arch::value.lds_bytes > 65536 ? 8 : 4)}>;
template <class Arch>
struct deep_32x64 : family_tile<Arch, tw::cdna_tile{32, 64, 64, 1, 4, 4}> {
  using epilogue = tw::epilogue::chain<tw::epilogue::alpha, tw::epilogue::bias, tw::epilogue::beta>;
  static constexpr tw::split_k_kind split_k = tw::split_k_kind::fix_up;
};
template <class Arch>
using wide_16x64 = family_tile<Arch, tw::cdna_tile{16, 64, 256, 1, 4, 3}>;
template <class Arch>
using wide_32x64 = family_tile<Arch, tw::cdna_tile{32, 64, 128, 1, 4, 4}>;
template <class Arch>
using deep_32x128 = family_tile<Arch, tw::cdna_tile{32, 128, 64, 1, 4, 4}>;
template <class Arch>
using deep_48x64 = family_tile<Arch, tw::cdna_tile{48, 64, 128, 1, 4, 4}>;
template <class Arch>
using deep_64x64 = family_tile<Arch, tw::cdna_tile{64, 64, 64, 2, 2, (Arch::value.lds_bytes > 65536 ? 4 : 3)}>;
template <class Arch>
using deep_64x128 = family_tile<Arch, tw::cdna_tile{64, 128, 64, 2, 2, 4}>;
template <class Arch>
using deep_96x128 = family_tile<Arch, tw::cdna_tile{96, 128, 64, 2, 2, 4}>;
template <class Arch>
using deep_128x64 = family_tile<Arch, tw::cdna_tile{128, 64, 64, 2, 2, 4}>;
template <class Arch>
using deep_128x128 = family_tile<Arch, tw::cdna_tile{128, 128, 32, 2, 2, 4}>;
template <class Arch>
using tile_128x256 = family_tile<Arch, tw::cdna_tile{128, 256, 64, 2, 4, 2}>;
template <class Arch>
using tile_256x128 = family_tile<Arch, tw::cdna_tile{256, 128, 64, 4, 2, 2}>;
template <class Arch>
struct tile_128x160 : family_tile<Arch, tw::cdna_tile{128, 160, 64, 4, 1, 3}> {
  static constexpr tw::split_k_kind split_k = tw::split_k_kind::fix_up;
};
template <class Arch>
using tile_128x192 = family_tile<Arch, tw::cdna_tile{128, 192, 64, 2, 2, 3}>;
template <class Arch>
using tile_256x160 = family_tile<Arch, tw::cdna_tile{256, 160, 64, 4, 1, 3}>;
template <class Arch>
using tile_256x192 = family_tile<Arch, tw::cdna_tile{256, 192, 64, 2, 2, 2}>;
template <class Arch>
using direct_one_wave = family_tile<Arch, tw::cdna_tile{256, 256, 64, 2, 2, 2}>;

// What happens to sums.
template <class Arch>
struct fused : tw::gemm_policy<Arch, tw::half_t, k, k, 1, tile<Arch, tw::half_t, 64, 64>> {
  using epilogue =
      tw::epilogue::chain<tw::epilogue::alpha, tw::epilogue::scale, tw::epilogue::row_scale, tw::epilogue::column_scale,
                          tw::epilogue::bias, tw::epilogue::activation<tw::activation::gelu>, tw::epilogue::residual,
                          tw::epilogue::beta>;
  static constexpr tw::grid_order order{.curve = tw::grid_curve::hilbert, .dies = 3};
};
template <class Arch>
struct fixing_up : fused<Arch> {
  static constexpr tw::split_k_kind split_k = tw::split_k_kind::fix_up;
};
template <class Arch>
struct reducing : tile_64x64<Arch> {
  using epilogue = tw::epilogue::chain<tw::epilogue::alpha, tw::epilogue::bias,
                                       tw::epilogue::activation<tw::activation::relu>, tw::epilogue::beta>;
  static constexpr tw::split_k_kind split_k = tw::split_k_kind::workspace;
};

// Blocks that share tiles.
template <class Arch>
struct shared_64x64 : tile_64x64<Arch> {
  static constexpr bool shares_tiles = true;
  using epilogue = tw::epilogue::chain<tw::epilogue::alpha, tw::epilogue::bias, tw::epilogue::beta>;
};
template <class Arch>
struct shared_deep_16x64 : deep_16x64<Arch> {
  static constexpr bool shares_tiles = true;
};

template <class Policy>
inline constexpr bool shares_tiles = requires { Policy::shares_tiles; };
/// The kernel of a policy.
template <class Policy>
using kernel_of = std::conditional_t<shares_tiles<Policy>, tw::stream_k_gemm<Policy>, tw::gemm_kernel<Policy>>;

// Targets. With TILEWRIGHT_FEW_POLICIES, as in ./dev test, gfx908, gfx90a and gfx1100 have only what `always` is said
// of: instructions that the other targets lack.
constexpr bool always(const tw::arch::target&) { return true; }
#if defined(TILEWRIGHT_FEW_POLICIES)
constexpr bool every(const tw::arch::target& t) { return t.fp8 != tw::arch::fp8_kind::none; }
#else
constexpr bool every(const tw::arch::target&) { return true; }
#endif
constexpr bool with_bf16(const tw::arch::target& t) { return every(t) && t.multiplies_bf16; }
constexpr bool every_or_only_f16(const tw::arch::target& t) { return every(t) || !t.multiplies_bf16; }
constexpr bool cdna(const tw::arch::target& t) { return every(t) && t.isa == tw::arch::instruction_set::cdna; }
constexpr bool cdna_with_8bit_floats(const tw::arch::target& t) { return cdna(t) && t.fp8 != tw::arch::fp8_kind::none; }
constexpr bool with_8bit_floats(const tw::arch::target& t) { return t.fp8 != tw::arch::fp8_kind::none; }
constexpr bool with_copies_of_4_bytes_at_most(const tw::arch::target& t) {
  return with_bf16(t) && t.supports_direct_to_lds(4) && !t.supports_direct_to_lds(16);
}
constexpr bool copies_of_4_bytes(const tw::arch::target& t) {
  return cdna_with_8bit_floats(t) && !t.supports_direct_to_lds(16);
}
constexpr bool with_transposing_reads(const tw::arch::target& t) {
  return t.supports(tw::arch::lds_op::read_b64_tr_b16);
}
// Tiles whose code is that of others but for lengths.
#if defined(TILEWRIGHT_FEW_POLICIES)
constexpr bool gfx950_at_night(const tw::arch::target&) { return false; }
#else
constexpr bool gfx950_at_night(const tw::arch::target& t) { return with_transposing_reads(t); }
#endif

constexpr bool with_tensor_mover(const tw::arch::target& t) { return t.has_tensor_mover; }

}  // namespace policies

/// X(policy, targets, what): kernels of one problem that policies.emu.cpp runs, each at its edges.
#define TILEWRIGHT_TEST_POLICIES(X)                                                                      \
  X(tile_64x64, every_or_only_f16, "f16, row-major A and B, 64 x 64")                                    \
  X(tile_128x64, with_bf16, "bf16, column-major A and B, 128 x 64")                                      \
  X(tile_128x128, every, "f16, row-major A and B, 128 x 128")                                            \
  X(tile_256x256, cdna, "f16, row-major A, column-major B, 256 x 256")                                   \
  X(f32, cdna, "f32, single_buffered_pipeline")                                                          \
  X(int8, always, "int8 to int, vectors of 1, column-major A and B")                                     \
  X(fp8, with_8bit_floats, "fp8 to f16, row-major A and B")                                              \
  X(bf8, with_8bit_floats, "bf8 to bf8, column-major A and B")                                           \
  X(fp8_and_bf8, with_8bit_floats, "A of fp8, B of bf8 to f32")                                          \
  X(double_buffered, every, "double_buffered_pipeline")                                                  \
  X(multi_stage, every, "multi_stage_pipeline, 3 stages; without registers on gfx9")                     \
  X(multi_stage_pairs, with_copies_of_4_bytes_at_most, "multi_stage_pipeline, vectors of 4 bytes")       \
  X(multi_stage_fp8, with_8bit_floats, "multi_stage_pipeline, 4 stages of 64 elements along k")          \
  X(tensor_move, with_tensor_mover, "tensor_move_pipeline, 3 stages")                                    \
  X(tensor_move_fp8, with_tensor_mover, "tensor_move_pipeline, fp8, 2 stages of 128 elements along k")   \
  X(multi_stage_columns, with_transposing_reads, "multi_stage_pipeline, A column-major, B row-major")    \
  X(ping_pong, cdna_with_8bit_floats, "ping_pong_pipeline, 256 x 256, row-major A and B")                \
  X(fp8_ping_pong, with_transposing_reads, "ping_pong_pipeline, fp8, A column-major, B row-major")       \
  X(one_wave, cdna_with_8bit_floats, "one_wave_per_simd_pipeline, 256 x 256, bf16")                      \
  X(small_m, cdna_with_8bit_floats, "bf16, 16 x 64; without registers on gfx950")                        \
  X(deep_16x64, cdna_with_8bit_floats, "bf16, 16 x 64, 8 or 4 stages without registers")                 \
  X(deep_32x64, cdna_with_8bit_floats, "bf16, 32 x 64, k split, added up by the last block of a tile")   \
  X(wide_16x64, with_transposing_reads, "bf16, 16 x 64 x 256, 3 stages without registers")               \
  X(wide_32x64, with_transposing_reads, "bf16, 32 x 64 x 128, 4 stages without registers")               \
  X(deep_32x128, with_transposing_reads, "bf16, 32 x 128, 4 stages without registers")                   \
  X(deep_48x64, with_transposing_reads, "bf16, 48 x 64 x 128, 4 stages without registers")               \
  X(deep_64x64, cdna_with_8bit_floats, "bf16, 64 x 64, 4 or 3 stages without registers")                 \
  X(deep_64x128, with_transposing_reads, "bf16, 64 x 128, 4 stages without registers")                   \
  X(deep_96x128, with_transposing_reads, "bf16, 96 x 128, 4 stages without registers")                   \
  X(deep_128x64, with_transposing_reads, "bf16, 128 x 64, 4 stages without registers")                   \
  X(deep_128x128, copies_of_4_bytes, "bf16, 128 x 128 x 32, 4 stages without registers")                 \
  X(tile_128x256, with_transposing_reads, "bf16, 128 x 256, 2 stages without registers")                 \
  X(tile_256x128, with_transposing_reads, "bf16, 256 x 128, 2 stages without registers")                 \
  X(tile_128x160, with_transposing_reads, "bf16, 128 x 160, k split, 3 stages without registers")        \
  X(tile_128x192, gfx950_at_night, "bf16, 128 x 192, 3 stages without registers")                        \
  X(tile_256x160, gfx950_at_night, "bf16, 256 x 160, a wave for each SIMD, without registers")           \
  X(tile_256x192, gfx950_at_night, "bf16, 256 x 192, a wave for each SIMD, without registers")           \
  X(direct_one_wave, with_transposing_reads, "bf16, 256 x 256, a wave for each SIMD, without registers") \
  X(fixing_up, every, "as fused, k split, added up by the last block of a tile")                         \
  X(shared_64x64, every, "stream_k_gemm, f16, row-major A and B, 64 x 64")                               \
  X(shared_deep_16x64, cdna_with_8bit_floats, "stream_k_gemm, bf16, 16 x 64, without registers")         \
  X(fused, every, "every scale, bias, gelu, residual; Hilbert's curve; vectors of 1")                    \
  X(reducing, every, "k split, a workspace and split_k_reduction, relu")

/// X(policy, targets, blocks): the same, in clusters of `blocks` blocks.
#define TILEWRIGHT_TEST_CLUSTERS(X) X(tensor_move_cluster, with_tensor_mover, 2)
