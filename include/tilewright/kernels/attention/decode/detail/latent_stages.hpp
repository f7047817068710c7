// SPDX-License-Identifier: MIT
// The two stages of latent decoding on Hopper: where everything lies in LDS, tiles of keys, and their barriers.
#pragma once

#include <tilewright/block/mma/wgmma_operand.hpp>
#include <tilewright/core/arch/tensor_map.hpp>
#include <tilewright/kernels/attention/decode/attention_decode.hpp>
#include <tilewright/machine/exec/hopper.hpp>

namespace tilewright::detail {

template <class Args>
struct latent_device_args {
  exec::tensor_map k;
  Args args;
  index_t box_rows;  // of a TMA box: a step's keys if they are always in one page, else 16
};

/// Whether the producer converts elements of 8 bits; and whether it brings rows itself, without TMA. Where a row has
/// one scale for all columns, that multiplies S and P, elements are converted to half_t exactly, and Q becomes half_t.
template <class Policy>
inline constexpr bool latent_converts = sizeof(typename Policy::cache_type) == 1;
template <class Policy>
inline constexpr bool latent_gathers = latent_converts<Policy> || Policy::has_token_lists;
template <class Policy>
inline constexpr bool latent_scales_scores = latent_converts<Policy> && !Policy::has_16_bit_rope;
/// What is multiplied: elements of Q, K, V and P in LDS and registers.
template <class Policy>
using latent_element = conditional_t<latent_scales_scores<Policy>, half_t, typename Policy::element_type>;

/// Tiles of keys are numbered through all pieces of a block. That of an even number belongs to consumer 0 and stage 0.
/// Its half of V that its owner multiplies, near, is filled and released before the rest of the row, far.
enum class latent_part : index_t { near, far };

/// Where everything lies in a block's LDS: stages of K, which are V, too; Q; offsets of rows and sums; scales of keys;
/// barriers.
/// A stage's boxes are halves of V, then the columns of K that V does not have. Once its S is complete, P is there.
template <class Policy>
struct latent_lds {
  static constexpr index_t rows = 64, keys = 64, stages = 2, half_dim = Policy::value_dim / 2;
  static constexpr wgmma_operand q{rows, 2, true, Policy::head_dim}, k{keys, 2, true, Policy::head_dim},
      half{keys, 2, true, half_dim}, box{keys, 2, true, 64}, v{half_dim, 2, false, keys};
  static constexpr index_t box_bytes = k.box_bytes(), half_boxes = half.num_boxes(), half_bytes = half.bytes();
  static_assert(v.box_bytes() == box_bytes && rows == keys);

  TILEWRIGHT_HD static constexpr index_t p_in_stage() { return 2 * half_bytes; }
  TILEWRIGHT_HD static constexpr index_t stage(index_t i) {
    return i * (p_in_stage() + max(k.num_boxes() - 2 * half_boxes, 1) * box_bytes);
  }
  TILEWRIGHT_HD static constexpr index_t queries() { return stage(stages); }
  TILEWRIGHT_HD static constexpr index_t offsets(index_t stage) { return queries() + q.bytes() + stage * 128 * 8; }
  TILEWRIGHT_HD static constexpr index_t sums(index_t consumer) { return offsets(stages) + consumer * 128 * 16; }
  /// Those of V are another copy of K's: ptxas would keep them in registers from S to P.
  TILEWRIGHT_HD static constexpr index_t scales(index_t stage, bool of_v = false) {
    return sums(2) + (2 * stage + of_v) * keys * 4;
  }
  TILEWRIGHT_HD static constexpr index_t barriers() { return scales(latent_scales_scores<Policy> ? stages : 0); }
  static constexpr index_t num_barriers = stages * (k.num_boxes() + 3);  ///< a box: full; a part: empty; P: there
  TILEWRIGHT_HD static constexpr index_t bytes() { return barriers() + 8 * num_barriers; }
  /// The boxes of a consumer's tiles in their order: its half of V; columns that V does not have, so that no wave still
  /// multiplies them when another one writes P there; the other half. A 16-bit rope, which comes late, is last.
  TILEWRIGHT_HD static constexpr index_t box_of(index_t consumer, index_t i) {
    constexpr index_t others = k.num_boxes() - 2 * half_boxes, before = Policy::has_16_bit_rope ? 0 : others;
    if (i < half_boxes) return i + consumer * half_boxes;
    if (i < half_boxes + before) return i + half_boxes;
    return i < 2 * half_boxes + before ? i - before - consumer * half_boxes : i;
  }
  TILEWRIGHT_HD static constexpr index_range boxes_of(latent_part part) {
    return part == latent_part::near ? index_range{0, half_boxes} : index_range{half_boxes, k.num_boxes()};
  }
};

/// The rows of a block and the keys of a piece: first to end - 1, from a multiple of 16 on. Waves of both warpgroups
/// have the same rows.
struct latent_problem : decode_problem {
  index_t first, end;
  index_t start;  // of the first tile: at most first

  TILEWRIGHT_HD latent_problem(const attention_decode_args& args, index_t row, index_t of_head,
                               const decode_piece& piece, index_t box_rows)
      : decode_problem(locate_decode(args, row, of_head, piece.batch)) {
    const index_t last_row = min(rows, first_row + 64) - 1;
    const index_range seen =
        decode_problem::seen_by_any(args.window, divide(max(last_row, 0), group) + 1 - first_query);
    const index_t of_piece = piece.of.first_key + piece.first * decode_keys;
    first = max(seen.first & -decode_keys, of_piece);
    end = max(min(of_piece + piece.count() * decode_keys, seen.last), first);
    start = first & -box_rows;
  }
  TILEWRIGHT_HD index_t num_tiles(index_t tile_keys) const {
    return first < end ? ceil_div(end - start, tile_keys) : 0;
  }
  TILEWRIGHT_HD index_t query_of(index_t row) const { return decode_problem::query_of(row & 63); }
  TILEWRIGHT_HD index_t head_of(index_t row) const { return decode_problem::head_of(row & 63); }
  TILEWRIGHT_HD index_t first_key(const attention_window& w, index_t query) const {
    return max(first, decode_problem::first_key(w, query));
  }
  TILEWRIGHT_HD index_t last_key(const attention_window& w, index_t query) const {
    return min(end, decode_problem::last_key(w, query));
  }
};

#if TILEWRIGHT_HOPPER_PASS
/// The barriers of tiles of keys. Each box of 64 columns is full by itself, so that S begins with the first one; a
/// part is empty once O has it. 16-bit rows that a token list names are copied by cp.async: consumers fence, so that
/// wgmma sees what it wrote.
template <class Policy>
struct latent_pipeline {
  static constexpr latent_lds<Policy> lds_of{};
  static constexpr index_t stages = lds_of.stages, boxes = lds_of.k.num_boxes();

  unsigned barriers;  // LDS address of the first one

  TILEWRIGHT_HD exec::mbarrier full(index_t tile, index_t box) const { return at(box * stages + (tile & 1)); }
  TILEWRIGHT_HD exec::mbarrier empty(index_t tile, latent_part part) const {
    return at((boxes + index_t(part)) * stages + (tile & 1));
  }
  TILEWRIGHT_HD exec::mbarrier p_is_there(index_t tile) const { return at((boxes + 2) * stages + (tile & 1)); }
  TILEWRIGHT_HD static unsigned phase(index_t tile) { return unsigned(tile >> 1) & 1; }

  TILEWRIGHT_HD void init() const {
    for (index_t i = 0; i < lds_of.num_barriers; ++i) at(i).init(i < boxes * stages ? arrivals_of_box : 4);
  }
  TILEWRIGHT_HD void acquire(index_t tile, latent_part part) const { empty(tile, part).wait(phase(tile) ^ 1); }
  TILEWRIGHT_HD void wait_for_box(index_t tile, index_t box) const {
    full(tile, box).wait(phase(tile));
    if constexpr (latent_gathers<Policy> && !latent_converts<Policy>) exec::fence_async_proxy();
  }
  /// All lanes of a wave, after they have read a part.
  TILEWRIGHT_HD void release(index_t tile, latent_part part) const { arrive(empty(tile, part)); }
  /// All lanes of a wave: one arrival, after what they all did.
  TILEWRIGHT_HD static void arrive(exec::mbarrier barrier) {
    exec::wave_sync();
    if (exec::lane_id() == 0) barrier.arrive();
  }

 private:
  static constexpr index_t arrivals_of_box = latent_converts<Policy> ? 2 : latent_gathers<Policy> ? 64 : 1;
  TILEWRIGHT_HD exec::mbarrier at(index_t i) const { return {barriers + unsigned(i) * exec::mbarrier::bytes}; }
};
#endif

}  // namespace tilewright::detail
