// SPDX-License-Identifier: MIT
// The choices that make an attention kernel, and good ones for each target.
#pragma once

#include <tilewright/block/mma/chained_products.hpp>
#include <tilewright/block/mma/default_block_tile.hpp>
#include <tilewright/block/operands/operand_policy.hpp>
#include <tilewright/core/base/tuple.hpp>
#include <tilewright/kernels/attention/attention_args.hpp>
#include <tilewright/tile/registers/static_distributed_tensor.hpp>

namespace tilewright {

namespace detail {

template <class Arch>
inline constexpr bool is_amd_v = arch::is_amd(Arch::value);

/// A head dimension as a sum of powers of two, the largest first: LDS layouts are solved for powers of two.
using head_chunks = inplace_vector<index_t, 12>;

TILEWRIGHT_HD constexpr head_chunks split_head(index_t dim, index_t largest) {
  head_chunks chunks;
  for (index_t size = largest; size >= 32; size /= 2) {
    for (; dim >= size; dim -= size) chunks.push_back(size);
  }
  return chunks;
}

/// Whether kernels of attention forward have this head dimension; `least` is a multiple of 32.
TILEWRIGHT_HD constexpr bool is_head_dim(index_t dim, index_t least) {
  return least <= dim && dim <= 512 && dim % (dim > 256 ? 128 : 32) == 0;
}

/// The first element of part `i`.
TILEWRIGHT_HD constexpr index_t first_column_of_chunk(const head_chunks& chunks, index_t i) {
  index_t begin = 0;
  for (index_t p = 0; p < i; ++p) begin += chunks[p];
  return begin;
}

/// A step's operand of one part is read from LDS at once, and RDNA's waves have 256 registers.
template <class Arch>
inline constexpr index_t largest_head_chunk = is_amd_v<Arch> && Arch::value.wave_size == 32 ? 64 : 256;

}  // namespace detail

/// Rows of Q of a block, keys of a step, and waves, each of which owns rows of Q. All waves do the same (together), or,
/// on CDNA, eight waves form two groups (ping_pong), one of which multiplies while the other computes exponentials and
/// moves K and V.
struct attention_tile {
  enum form_kind : signed char { together, ping_pong };
  /// Rows of Q of a block, keys of a step, waves of a block.
  index_t queries, keys, waves;
  bool queries_in_lds = false;   ///< else in registers
  form_kind form = together;     ///< how waves share the work
  bool copies_directly = false;  ///< K and V to LDS without registers: gfx950; NVIDIA GPUs always do
  /// Places for K and V of a step in LDS.
  TILEWRIGHT_HD constexpr index_t stages() const { return form == together ? 1 : copies_directly ? 3 : 2; }
  friend constexpr bool operator==(const attention_tile&, const attention_tile&) = default;
};

namespace detail {

/// The matrix instruction of both products: the target's default one, unless a part of a head dimension is shorter than
/// its k.
template <class Arch, class T, index_t HeadDim>
TILEWRIGHT_HD constexpr arch::matrix_op attention_op() {
  constexpr arch::matrix_op op = default_block_tile<Arch, T>().op;
  return HeadDim % arch::describe(op).k == 0 ? op : arch::matrix_op::mfma_32x32x16_b8_x2;
}

/// The same for head dimensions beyond 256. CDNA alone has registers for Q.
template <class Arch, class T>
TILEWRIGHT_HD constexpr attention_tile attention_tile_of_wide_heads(index_t head_dim) {
  const arch::matrix_instruction op = arch::describe(default_block_tile<Arch, T>().op);
  const bool is_cdna = arch::is_amd(Arch::value) && Arch::value.wave_size == 64;
  const index_t waves = arch::is_amd(Arch::value) && !is_cdna && head_dim > 256 && sizeof(T) == 2 ? 2 : 4;
  const index_t keys = sizeof(T) == 2 && (is_cdna || !arch::is_amd(Arch::value)) ? 32 : op.k;
  return {op.m * waves, keys, waves, !is_cdna};
}

/// Each wave has the rows of one instruction. Steps have as many keys as a lane's registers can hold the scores of.
template <class Arch, class T>
TILEWRIGHT_HD constexpr attention_tile default_attention_tile(index_t head_dim, index_t value_dim) {
  const index_t rows = arch::describe(default_block_tile<Arch, T>().op).m, waves = arch::is_amd(Arch::value) ? 4 : 8;
  const index_t dim = max(head_dim, value_dim);
  if (dim > 256) return attention_tile_of_wide_heads<Arch, T>(head_dim);
  // Of a part of 32 elements 32 keys are less than a vector for each of 256 threads, 16 keys for each of 128.
  const bool has_narrow_part = head_dim % 64 != 0 || value_dim % 64 != 0;
  if (sizeof(T) == 1) {
    const bool is_wide = head_dim % 128 == 0 && value_dim % 128 == 0 && dim > 128;
    const index_t k = arch::describe(default_block_tile<Arch, T>().op).k;
    return {rows * waves,
            is_wide                                                         ? k
            : Arch::value.wave_size == 64 && (has_narrow_part || dim <= 64) ? 128
                                                                            : 64,
            waves};
  }
  if (arch::is_amd(Arch::value) && Arch::value.wave_size == 32 && dim > 64) {
    // gfx11 holds each element of A twice.
    const index_t fewest = arch::describe(default_block_tile<Arch, T>().op).k;
    const bool needs_space = dim > 128 || arch::describe(default_block_tile<Arch, T>().op).repeats_operands();
    if (has_narrow_part && dim > 224) return {rows * 2, fewest, 2, true};  // LDS
    return {rows * waves, needs_space && !has_narrow_part ? fewest : 32, waves, needs_space};
  }
  // 32 rows for each wave: a read of K or V then feeds four mma.sync, and LDS is no longer what bounds them.
  if (!arch::is_amd(Arch::value) && dim <= 128 && head_dim % 64 == 0 && value_dim % 64 == 0)
    return {128, 64, 4, dim > 64};
  return {rows * waves,
          dim > 128 && !has_narrow_part                                           ? 32
          : dim <= 64 && arch::is_amd(Arch::value) && Arch::value.wave_size == 64 ? 128
                                                                                  : 64,
          waves};
}

}  // namespace detail

/// Everything that attention_forward must know at compile time. Name a struct that derives from it; it may replace
/// score_function, args_type and result_type. HeadDim: of Q and K, ValueDim: of V and O; multiples of 32 up to 256, and
/// of 128 up to 512. Beyond 256 columns of V a block computes a half of those of O.
/// T: half_t, bfloat16_t, or the 8-bit float with 3 bits of mantissa that the target multiplies.
template <class Arch, class T, index_t HeadDim, index_t ValueDim = HeadDim,
          attention_tile Tile = detail::default_attention_tile<Arch, T>(HeadDim, ValueDim)>
struct attention_policy : detail::attention_choices<Arch, T, HeadDim, ValueDim, attention_args> {
  static_assert(__is_same(T, half_t) || __is_same(T, bfloat16_t) || __is_same(T, fp8_ocp_t) || __is_same(T, fp8_fnuz_t),
                "attention_policy: the elements are half_t, bfloat16_t, fp8_ocp_t or fp8_fnuz_t");
  static_assert(detail::is_head_dim(HeadDim, 32) && detail::is_head_dim(ValueDim, 32),
                "attention_policy: head dimensions are multiples of 32, from 32 to 256, or 384 or 512");
  static constexpr attention_tile tile = Tile;  ///< how a block works
  /// the matrix instruction of both products
  static constexpr tilewright::arch::matrix_op op = detail::attention_op<Arch, T, HeadDim>();
  static_assert(
      Arch::value.supports(op, arch::matrix_element_v<T>),
      "attention_policy: this target has no matrix instruction for these elements: fp8_fnuz_t is gfx942's, "
      "fp8_ocp_t that of gfx950 and gfx12, and gfx908 takes half_t only; for sm_90 see hopper_attention_policy");
  static_assert(Tile.queries % (Tile.waves * tilewright::arch::describe(op).m) == 0 &&
                    detail::is_power_of_two(Tile.keys),
                "attention_policy: each wave needs whole matrix instructions of queries, and the keys of a step are a "
                "power of two");
  static_assert(!Tile.copies_directly || Arch::value.supports_direct_to_lds(16) || !detail::is_amd_v<Arch>,
                "attention_policy: this target does not copy 16 bytes to LDS without registers; leave copies_directly "
                "false");
  static_assert(Tile.form == attention_tile::together ||
                    (Arch::value.isa == tilewright::arch::instruction_set::cdna && Tile.waves == 8),
                "attention_policy: ping_pong is for CDNA and eight waves, two groups of one wave for each SIMD");
};

namespace detail {

/// Whether the probabilities, C of an attention step's first product, can be A of the second without leaving their
/// lanes.
template <class Policy>
inline constexpr bool probabilities_stay_in_lanes =
    can_chain(block_tile{Policy::tile.queries, Policy::tile.keys, arch::describe(Policy::op).k, Policy::tile.waves, 1,
                         Policy::op},
              block_tile{Policy::tile.queries, 32, Policy::tile.keys, Policy::tile.waves, 1, Policy::op});

TILEWRIGHT_HD constexpr block_tile scores_tile(const attention_tile& t, arch::matrix_op op, index_t dim) {
  return {t.queries, t.keys, dim, t.waves, 1, op};
}
TILEWRIGHT_HD constexpr block_tile values_tile(const attention_tile& t, arch::matrix_op op, index_t dim, bool chained) {
  const block_tile plain{t.queries, dim, t.keys, t.waves, 1, op};
  return chained ? make_chain(scores_tile(t, op, 32), plain).second : plain;
}

/// The products of an attention step for one part of the head dimension: S = Q K^T (Major: k) or O = P V (mn). Operand
/// B, of K or V, goes to LDS, lies there, and is read as in a GEMM of these tiles.
template <class Policy, operand_major Major, index_t Chunk>
struct attention_product {
  static constexpr bool is_scores = Major == operand_major::k;
  static constexpr index_t head_dim =
      is_scores ? Policy::head_dim : Policy::value_dim / parts_of_values(Policy::value_dim);
  static constexpr head_chunks chunks = split_head(head_dim, largest_head_chunk<typename Policy::arch>);
  static constexpr index_t dim = chunks[Chunk], first = first_column_of_chunk(chunks, Chunk);
  static constexpr block_tile tile =
      is_scores ? detail::scores_tile(Policy::tile, Policy::op, dim)
                : detail::values_tile(Policy::tile, Policy::op, dim, probabilities_stay_in_lanes<Policy>);
  using a = a_distribution<tile>;
  using c = c_distribution<tile>;
  static constexpr bool copies_directly = Policy::tile.copies_directly || !is_amd_v<typename Policy::arch>;
  using plan = operand_policy<typename Policy::arch, typename Policy::element_type, operand_major::k, Major,
                              Policy::vector, tile, copies_directly>;
  using b_copy = tile_distribution<plan::b_copy>;
  using b_read = tile_distribution<plan::b_read>;
  using a_copy = tile_distribution<plan::a_copy>;
  using a_read = tile_distribution<plan::a_read>;
  static constexpr tensor_graph a_lds = plan::a_lds;
  static constexpr tensor_graph b_lds = plan::b_lds;
};

/// The numbers of the parts of the head dimension of K (Major: k) or V (mn), as a sequence.
template <class Policy, operand_major Major>
using attention_chunks = make_sequence<attention_product<Policy, Major, 0>::chunks.size()>;

template <class Policy, class Chunks = attention_chunks<Policy, operand_major::mn>>
struct attention_outputs;
template <class Policy, index_t... Chunks>
struct attention_outputs<Policy, sequence<Chunks...>> {
  using type =
      tuple<static_distributed_tensor<float, typename attention_product<Policy, operand_major::mn, Chunks>::c>...>;
};

/// What a block holds in registers: the scores of a step (rows of Q x keys), and O in parts of the head dimension.
template <class Policy>
struct attention_registers {
  using scores = static_distributed_tensor<float, typename attention_product<Policy, operand_major::k, 0>::c>;
  using outputs = typename attention_outputs<Policy>::type;
};

}  // namespace detail

/// Attention forward, ready for launch(). Defined in attention_forward.hpp, and for hopper_attention_policy in
/// hopper_attention.hpp.
template <class Policy>
struct attention_forward;

}  // namespace tilewright
