// SPDX-License-Identifier: MIT
// The tiles of attention_decode: one wave multiplies 16 rows and 16 keys, with K and V in the registers that loads of
// 16 bytes fill.
#pragma once

#include <tilewright/block/mma/chained_products.hpp>
#include <tilewright/core/arch/matrix_element.hpp>
#include <tilewright/core/distribution/lane_map_encoding.hpp>
#include <tilewright/kernels/attention/decode/decode_args.hpp>
#include <tilewright/kernels/attention/detail/attention_softmax.hpp>

namespace tilewright {

namespace detail {

/// The matrix instruction with 16 rows that a target has for elements of T.
template <class Arch, class T>
TILEWRIGHT_HD constexpr arch::matrix_op decode_op() {
  using enum arch::matrix_op;
  for (const arch::matrix_op op : {mfma_16x16x16, wmma_16x16x16_gfx11, wmma_16x16x16_gfx12}) {
    if (Arch::value.supports(op, arch::matrix_element_v<T>)) return op;
  }
  return mma_m16n8k16_x2;
}

/// Lane maps of a tile of up to 64 x 64 elements: the instruction's, and the bits that count instructions.
TILEWRIGHT_HD constexpr arch::lane_map repeated(arch::lane_map map, arch::lane_map_bit::coordinate of, index_t from,
                                                index_t to) {
  for (index_t bit = 0; from << bit < to; ++bit)
    map.reg.push_back({of, static_cast<signed char>(log2_floor(from) + bit)});
  return map;
}

/// New numbers of a coordinate's bits, so that the lowest ones select registers: up to `vector` elements, 16 bytes,
/// that a lane loads at once; then those that select lanes, and the others.
TILEWRIGHT_HD constexpr array<signed char, 8> vector_first(const arch::lane_map& map, arch::lane_map_bit::coordinate of,
                                                           index_t vector) {
  array<signed char, 8> number{};
  signed char next = 0;
  const index_t most = log2_floor(vector);
  index_t left = most;
  for (const arch::lane_map_bit& b : map.reg) {
    if (b.of == of && left-- > 0) number[b.bit] = next++;
  }
  for (const arch::lane_map_bit& b : map.lane) {
    if (b.of == of) number[b.bit] = next++;
  }
  index_t seen = 0;
  for (const arch::lane_map_bit& b : map.reg) {
    if (b.of == of && seen++ >= most) number[b.bit] = next++;
  }
  return number;
}

TILEWRIGHT_HD constexpr arch::lane_map renumbered(arch::lane_map map, arch::lane_map_bit::coordinate of,
                                                  const array<signed char, 8>& number) {
  for (auto* list : {&map.lane, &map.reg}) {
    for (arch::lane_map_bit& b : *list) {
      if (b.of == of) b.bit = number[b.bit];
    }
  }
  return map;
}

/// The same lanes, with registers in the order of a coordinate: what a load of vectors along it fills.
TILEWRIGHT_HD constexpr arch::lane_map in_memory_order(const arch::lane_map& map, arch::lane_map_bit::coordinate of) {
  arch::lane_map result{map.lane, {}};
  for (signed char bit = 0; bit < 8; ++bit) {
    for (const arch::lane_map_bit& b : map.reg) {
      if (b.of == of && b.bit == bit) result.reg.push_back(b);
    }
  }
  for (const arch::lane_map_bit& b : map.reg) {
    if (b.of != of) result.reg.push_back(b);
  }
  return result;
}

/// The two products of a chunk of the head dimension of `dim` elements, 32, 64 or 128: S = Q K^T, and O = P V in the
/// order of keys that C of the first has, if the instruction allows that.
TILEWRIGHT_HD constexpr block_tile decode_scores_tile(arch::matrix_op op, index_t dim) {
  return {decode_rows, decode_keys, dim, 1, 1, op};
}
TILEWRIGHT_HD constexpr block_tile decode_values_tile(arch::matrix_op op, index_t dim) {
  const block_tile plain{decode_rows, dim, decode_keys, 1, 1, op};
  const block_tile scores = decode_scores_tile(op, 32);
  return can_chain(scores, plain) ? make_chain(scores, plain).second : plain;
}

/// One wave's lane maps of their operands. The products may take elements of the head dimension in any order if both
/// operands agree: in one that makes a lane's elements contiguous in memory, 16 bytes of `vector` elements at most.
struct decode_maps {
  arch::lane_map q, k, s, p, v, o;
};
TILEWRIGHT_HD constexpr decode_maps make_decode_maps(arch::matrix_op op, index_t dim, index_t vector) {
  using enum arch::lane_map_bit::coordinate;
  const arch::matrix_instruction i = arch::describe(op);
  const block_tile values = decode_values_tile(op, dim);
  const arch::lane_map c = values.transposes_c() ? with_rows_as_columns(i.c) : i.c;
  decode_maps maps{repeated(i.a, col, i.k, dim),
                   repeated(i.b, col, i.k, dim),
                   c,
                   in_k_order(i.a, values),
                   repeated(in_k_order(i.b, values), row, 16, dim),
                   repeated(c, col, 16, dim)};
  const auto dim_order = vector_first(maps.k, col, vector), value_dim_order = vector_first(maps.v, row, vector);
  maps.q = renumbered(maps.q, col, dim_order);
  maps.k = renumbered(maps.k, col, dim_order);
  maps.v = renumbered(maps.v, row, value_dim_order);
  maps.o = renumbered(maps.o, col, value_dim_order);
  return maps;
}

/// A copy of 16 rows of `dim` elements by one wave: neighbouring lanes move neighbouring vectors of a row.
TILEWRIGHT_HD constexpr arch::lane_map decode_copy_map(index_t dim, index_t wave_size, index_t vector) {
  arch::lane_map map;
  int row = 0, col = 0;
  for (; 1 << col < min(vector, decode_keys * dim / wave_size); ++col) map.reg.push_back(arch::col(col));
  for (; 1 << col < dim; ++col) map.lane.push_back(arch::col(col));
  while (map.num_lanes() < wave_size) map.lane.push_back(arch::row(row++));
  while (1 << row < decode_keys) map.reg.push_back(arch::row(row++));
  return map;
}

/// The same as distributions; those that end in _load have the registers that loads of vectors fill.
template <arch::matrix_op Op, index_t Dim, index_t Vector>
struct decode_product {
  static constexpr auto row = arch::lane_map_bit::coordinate::row, col = arch::lane_map_bit::coordinate::col;
  static constexpr block_tile scores = decode_scores_tile(Op, Dim), values = decode_values_tile(Op, Dim);
  static constexpr bool stays_in_lanes = can_chain(scores, values);
  static constexpr decode_maps maps = make_decode_maps(Op, Dim, Vector);
  using q = tile_distribution<number<encoding_of(maps.q)>::value>;
  using k = tile_distribution<number<encoding_of(maps.k)>::value>;
  using s = tile_distribution<number<encoding_of(maps.s)>::value>;
  using p = tile_distribution<number<encoding_of(maps.p)>::value>;
  using v = tile_distribution<number<encoding_of(maps.v)>::value>;
  using o = tile_distribution<number<encoding_of(maps.o)>::value>;
  using q_load = tile_distribution<number<encoding_of(in_memory_order(maps.q, col))>::value>;
  using k_load = tile_distribution<number<encoding_of(in_memory_order(maps.k, col))>::value>;
  using v_load = tile_distribution<number<encoding_of(in_memory_order(maps.v, row))>::value>;
  using k_copy = tile_distribution<number<encoding_of(decode_copy_map(Dim, maps.k.num_lanes(), Vector))>::value>;
};

}  // namespace detail

namespace detail {
/// Waves of a block by default: those of wide heads need more registers and LDS.
TILEWRIGHT_HD constexpr index_t default_decode_waves(const arch::target& t, index_t head_dim, index_t value_dim) {
  if (max(head_dim, value_dim) > 256) return t.wave_size == 64 ? 1 : 2;
  return value_dim > 128 ? 2 : 4;
}

/// Into how many parts the columns of V and O are divided: a wave of 64 lanes has registers for 512 columns of O, one
/// of 32 for 256, and gfx11, which holds operands twice, for 128.
template <class Arch, class T>
TILEWRIGHT_HD constexpr index_t decode_value_parts(index_t value_dim) {
  if (Arch::value.wave_size == 64 || value_dim <= 256) return 1;
  return arch::describe(decode_op<Arch, T>()).repeats_operands() && value_dim % 128 == 0 ? 4 : 2;
}
}  // namespace detail

/// Everything that attention_decode must know at compile time. Name a struct that derives from it; it may replace
/// score_function (see attention_policy) and args_type. HeadDim: of Q and K, ValueDim: of V and O; multiples of 32 up
/// to 256, for latent attention (MLA, with args.v = args.k) to 576 and 512. A block's Waves share its keys. Cache:
/// elements of K and V; those of 8 bits are multiplied by k_scales and v_scales, and converted to T when they are used.
template <class Arch, class T, index_t HeadDim, index_t ValueDim = HeadDim,
          index_t Waves = detail::default_decode_waves(Arch::value, HeadDim, ValueDim), class Cache = T>
struct attention_decode_policy : detail::attention_choices<Arch, T, HeadDim, ValueDim, attention_decode_args> {
  static_assert(sizeof(T) == 2, "attention_decode_policy: the elements are half_t or bfloat16_t");
  static_assert(__is_same(Cache, T) || __is_same(Cache, int8_t) || detail::is_fp8_v<Cache>,
                "attention_decode_policy: the cache has the elements of Q, int8_t or 8-bit floats");
  static_assert(HeadDim % 32 == 0 && ValueDim % 32 == 0 && 32 <= HeadDim && HeadDim <= 576 && 32 <= ValueDim &&
                    ValueDim <= 512,
                "attention_decode_policy: head dimensions are multiples of 32, K's from 32 to 576, V's from 32 to 512");
  /// parts of the columns of V and O, of which a block has one; and columns of a part
  static constexpr index_t value_parts = detail::decode_value_parts<Arch, T>(ValueDim),
                           value_columns = ValueDim / value_parts;
  static_assert(value_columns % 32 == 0,
                "attention_decode_policy: beyond 256 columns of values a block has a half: give a multiple of 64");
  static_assert(1 <= Waves && Waves <= 16, "attention_decode_policy: a block has 1 to 16 waves");
  using cache_type = Cache;                ///< elements of K and V
  static constexpr index_t waves = Waves;  ///< of a block
  /// the matrix instruction of both products
  static constexpr tilewright::arch::matrix_op op = detail::decode_op<Arch, T>();
};

namespace detail {

/// The chunks of a head dimension: powers of two of 32 elements and more, where copies go to LDS up to 128 bytes.
template <class Policy>
inline constexpr index_t cache_bytes = sizeof(typename Policy::cache_type);
template <class Policy, index_t Dim>
inline constexpr head_chunks decode_chunk_lengths =
    split_head(Dim, is_amd_v<typename Policy::arch> ? 64 : 128 / cache_bytes<Policy>);
template <class Policy, index_t Dim>
using decode_chunks = make_sequence<decode_chunk_lengths<Policy, Dim>.size()>;
template <class Policy, index_t Dim, index_t Chunk>
inline constexpr index_t decode_chunk_begin = first_column_of_chunk(decode_chunk_lengths<Policy, Dim>, Chunk);
template <class Policy, index_t Dim, index_t Chunk>
using decode_product_of =
    decode_product<Policy::op, decode_chunk_lengths<Policy, Dim>[Chunk], 16 / cache_bytes<Policy>>;
/// Any of them: what does not depend on the length of a chunk.
template <class Policy>
using decode_step = decode_product<Policy::op, 32, 16 / cache_bytes<Policy>>;

/// What Q and K are multiplied as. NVIDIA GPUs convert 8-bit elements to half_t in a fourth of the instructions that
/// bfloat16_t takes; rows of Q have powers of two for it.
template <class Policy>
inline constexpr bool converts_to_half = cache_bytes<Policy> == 1 && !is_amd_v<typename Policy::arch>;
template <class Policy>
using decode_key_type = conditional_t<converts_to_half<Policy>, half_t, typename Policy::element_type>;
/// What P and V are multiplied as. P times the scale of a key of an 8-bit cache may be beyond the range of half_t: see
/// value_range; 8-bit elements are numbers of both.
template <class Policy>
using decode_value_type =
    conditional_t<converts_to_half<Policy>, half_t,
                  conditional_t<cache_bytes<Policy> == 1, bfloat16_t, typename Policy::element_type>>;

/// Where a block's rows are: the queries of the heads that share a key head, heads first.
struct decode_problem : attention_problem {  // its first_query: of the block's first row
  index_t group;                             // heads that share the key head
  index_t first_row, rows;                   // the block's first, and those of the whole problem

  TILEWRIGHT_HD index_t query_of(index_t row) const { return divide(first_row + row, group); }
  TILEWRIGHT_HD index_t head_of(index_t row) const {
    return kv_head * group + (first_row + row) - query_of(row) * group;
  }
};

template <class Policy, class Chunks>
struct decode_outputs;
template <class Policy, index_t... Chunks>
struct decode_outputs<Policy, sequence<Chunks...>> {
  using type =
      tuple<static_distributed_tensor<float, typename decode_product_of<Policy, Policy::value_columns, Chunks>::o>...>;
};

/// What a wave of attention_decode holds in registers: scores of 16 rows and 16 keys, and O.
template <class Policy>
  requires(requires { Policy::waves; })
struct attention_registers<Policy> {
  using scores = static_distributed_tensor<float, typename decode_step<Policy>::s>;
  using outputs = typename decode_outputs<Policy, decode_chunks<Policy, Policy::value_columns>>::type;
};

}  // namespace detail

}  // namespace tilewright
