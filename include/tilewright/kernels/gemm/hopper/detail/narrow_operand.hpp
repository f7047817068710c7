// SPDX-License-Identifier: MIT
// Narrow weights of a k tile in LDS, as they are in memory, and the lanes that read and decode them for wgmma.
#pragma once

#include <tilewright/block/mma/wgmma_operand.hpp>
#include <tilewright/block/operands/operand_format.hpp>
#include <tilewright/core/arch/sm90.hpp>
#include <tilewright/core/distribution/distribution_encoding.hpp>
#include <tilewright/core/lds/lds_access.hpp>
#include <tilewright/kernels/gemm/hopper/detail/e2m1_to_fp8.hpp>
#include <tilewright/machine/exec/exec.hpp>
#include <tilewright/machine/exec/gather_bytes.hpp>

namespace tilewright::detail {

/// Scales, or zero points, of a stage: for each row of weights those of the groups of k, in a piece of 4 to 16 bytes.
struct group_pieces {
  index_t element_bytes, groups;  // of a row in a stage; 0 groups: there are none

  /// Aligned to as many bytes in memory; it may begin before the stage's first group.
  TILEWRIGHT_HD constexpr index_t piece_bytes() const { return groups == 0 ? 0 : max(4, element_bytes * groups); }
  /// Bytes of a row before its first group in a piece.
  TILEWRIGHT_HD constexpr index_t skipped_bytes(index_t first_group) const {
    return modulo(first_group * element_bytes, max(piece_bytes(), 1));
  }
  /// The group after a piece.
  TILEWRIGHT_HD constexpr index_t end_of_piece(index_t first_group) const {
    return groups == 0 ? 0 : first_group + divide(piece_bytes() - skipped_bytes(first_group), element_bytes);
  }
  TILEWRIGHT_HD constexpr bool is_sound() const {
    return groups == 0 || (is_power_of_two(groups * element_bytes) && piece_bytes() <= 16);
  }
};

/// A stage's weights: `rows` x k elements of `bits` bits in rows of 64 or 128 bytes with TMA's swizzle; then pieces of
/// scales, then those of zero points.
struct narrow_operand {
  index_t rows, k, bits;                 // bits: of an element, 4 or 8
  index_t group;                         // elements along k that share a scale; 0: all
  index_t scale_bytes, zero_bytes;       // of a scale and a zero point; 0: there are none
  static constexpr index_t step_k = 64;  // elements along k that a consumer decodes at once

  TILEWRIGHT_HD constexpr index_t row_bytes() const { return k * bits / 8; }
  TILEWRIGHT_HD constexpr index_t pitch() const { return row_bytes() <= 64 ? 64 : 128; }
  /// With one group for all of k a stage has no scales: they are factors of the accumulators.
  TILEWRIGHT_HD constexpr index_t groups() const { return group == 0 ? 0 : ceil_div(k, group); }
  TILEWRIGHT_HD constexpr index_t first_group(index_t k0) const { return divide(k0, max(group, 1)); }
  TILEWRIGHT_HD constexpr group_pieces scales() const { return {scale_bytes, groups()}; }
  TILEWRIGHT_HD constexpr group_pieces zeros() const { return {zero_bytes, zero_bytes == 0 ? 0 : groups()}; }
  TILEWRIGHT_HD constexpr index_t scales_offset() const { return rows * pitch(); }
  TILEWRIGHT_HD constexpr index_t zeros_offset() const { return scales_offset() + rows * scales().piece_bytes(); }
  TILEWRIGHT_HD constexpr index_t bytes() const {
    return round_up(zeros_offset() + rows * zeros().piece_bytes(), 1024);
  }
  TILEWRIGHT_HD constexpr swizzled_layout layout() const { return tma_swizzle(rows, pitch(), 4); }

  /// Lanes 4 g to 4 g + 3 read the same 16 bytes of rows g and g + 8, of which each uses 4: those of its elements of
  /// wgmma's operand A.
  TILEWRIGHT_HD constexpr distribution_encoding lanes() const {
    distribution_encoding e;
    e.r.push_back(4);
    e.h.push_back({{2, 8}});
    e.h.push_back({{row_bytes() / 16, 4}});
    e.p.push_back({{rh_id{1, 1}, rh_id{0, 0}}});
    for (const rh_id id : {rh_id{1, 0}, rh_id{2, 0}, rh_id{2, 1}}) e.y.push_back(id);
    return e;
  }
  TILEWRIGHT_HD constexpr bool is_free_of_conflicts() const {
    return analyze_lds_access(arch::sm90::value, make_lds_graph(layout()), lanes(), 4, lds_access_kind::read)
        .is_conflict_free();
  }

  TILEWRIGHT_HD constexpr bool is_sound() const {
    const bool known_group = group == 0 || (group % 16 == 0 && (k % group == 0 || group % k == 0));
    return (bits == 4 || bits == 8) && rows % 128 == 0 && rows <= 256 && k % step_k == 0 && row_bytes() <= 128 &&
           known_group && scales().is_sound() && zeros().is_sound();
  }
};

/// The elements of four bytes of words in pairs, before their scales.
template <class Format, class T>
TILEWRIGHT_HD array<unsigned, 16 / Format::bits> decode_bytes(unsigned bytes, typename Format::zero_type zero) {
  using word = typename Format::word_type;
  constexpr index_t pairs = Format::elements / 2;
  array<unsigned, 16 / Format::bits> result;
  unroll<4 / index_t(sizeof(word))>([&](auto i) TILEWRIGHT_INLINE_LAMBDA {
    const auto decoded = bit_cast<array<unsigned, pairs>>(
        decode_word<Format, T>(static_cast<word>(bytes >> 8 * index_t(sizeof(word)) * i), zero));
    for (index_t p = 0; p < pairs; ++p) result[i * pairs + p] = decoded[p];
  });
  return result;
}

/// Of 16 bytes of a row, what lane t of four multiplies: of each 16 elements 2 t, 2 t + 1, 2 t + 8 and 2 t + 9; in
/// pairs, before their scales.
template <class Format, class T>
TILEWRIGHT_HD array<unsigned, 16 / Format::bits> decode_own(const array<unsigned, 4>& chunk,
                                                            typename Format::zero_type zero) {
  const auto t = unsigned(exec::lane_id()) % 4;
  if constexpr (Format::bits == 4 && has_decode_pairs<Format, T>) {
    // A pair is a byte. Its first element where decode_pairs takes the first one from, its second where the other is.
    array<unsigned, 4> pairs;
    unroll<4>([&](auto i) TILEWRIGHT_INLINE_LAMBDA {
      const unsigned byte = exec::permute_bytes(chunk[i], 0, t | 0x4440);
      pairs[i] = bit_cast<array<unsigned, 4>>(decode_word<Format, T, true>(byte * 0x1001u, zero))[0];
    });
    return pairs;
  } else {
    const unsigned two_bytes = Format::bits == 4 ? t | (t + 4) << 4 : 2 * t | (2 * t + 1) << 4;
    return decode_bytes<Format, T>(exec::gather_halves(exec::permute_bytes(chunk[0], chunk[1], two_bytes),
                                                       exec::permute_bytes(chunk[2], chunk[3], two_bytes), 0),
                                   zero);
  }
}

/// A lane's elements of wgmma's operand A for step_k elements along k and Repeat times 64 rows, `Stride` rows apart:
/// for each instruction's k and each 64 rows 4 registers, as the instruction takes them.
template <narrow_operand Operand, class Format, class T, index_t Repeat, index_t Stride>
struct narrow_fragments {
  static constexpr index_t chunk_k = 128 / Operand.bits,  // elements of 16 bytes: a lane's are one word
      chunks = Operand.step_k / chunk_k, pairs = 16 / Operand.bits, instruction_k = 32 / index_t(sizeof(T));
  static constexpr bool is_fp8 = sizeof(T) == 1;
  static constexpr index_t groups = Operand.group == 0 ? 0 : max(1, Operand.step_k / max(Operand.group, 1));
  using scale_type = typename Format::scale_type;
  using zero_type = typename Format::zero_type;
  static_assert(
      Operand.is_sound() && number<Operand.is_free_of_conflicts()>::value,
      "hopper_narrow_gemm: a stage has 128 or 256 rows of weights of 4 or 8 bits, at most 128 bytes of each; groups "
      "are multiples of 16 that divide the tile's k, or are divided by it, with at most 16 bytes of scales");
  static_assert(
      4 % sizeof(typename Format::word_type) == 0 && Format::elements % 2 == 0 &&
          (!Format::has_zero_points || (Operand.group != 0 && Operand.group % chunk_k == 0)),
      "hopper_narrow_gemm: a format has words of 1, 2 or 4 bytes of an even number of elements; groups with zero "
      "points have at least 32 elements of 4 bits or 16 of 8");

  static_assert(!is_fp8 || (Format::bits == 4 && Operand.group % chunk_k == 0 && Operand.k % 128 == 0),
                "hopper_narrow_gemm: with an A of e4m3 groups have a multiple of 32 elements, and stages 128 along k");

  static constexpr index_t rows = 2 * Repeat;  // of a lane: g and g + 8 of each 64
  using row_exponents = array<index_t, rows>;  // of their largest scales, biased

  /// A step as it is in LDS.
  struct raw {
    array<unsigned, 4> of[chunks][rows];
    array<scale_type, max(groups, 1)> scales[rows];
    array<zero_type, max(groups, 1)> zeros[rows];

    /// Step `step` of a stage with groups from first_group on. first_row: of the lane.
    TILEWRIGHT_HD void load(exec::lds_pointer stage, index_t first_row, index_t step, index_t first_group) {
      constexpr narrow_operand o = Operand;
      // The lane's rows have the same swizzle.
      const index_t row_byte = first_row * o.pitch(), swizzle = tma_swizzled_address(o.pitch(), row_byte) ^ row_byte;
      unroll<chunks>([&](auto c) TILEWRIGHT_INLINE_LAMBDA {
        const exec::lds_pointer at = stage + (row_byte + ((step * chunks + c) * 16 ^ swizzle));
        unroll<rows>([&](auto r) TILEWRIGHT_INLINE_LAMBDA {
          of[c][r] = exec::lds_load<array<unsigned, 4>>(at, row_of(r) * o.pitch());
        });
      });
      if constexpr (groups > 0) {
        const index_t in_stage = o.group >= o.k ? 0 : divide(step * o.step_k, max(o.group, 1));
        load_groups<o.scales()>(scales, stage + o.scales_offset(), first_row, in_stage, first_group);
        if constexpr (Format::has_zero_points)
          load_groups<o.zeros()>(zeros, stage + o.zeros_offset(), first_row, in_stage, first_group);
      }
    }
  };

  array<unsigned, Operand.step_k / instruction_k * Repeat * 4> words;

  /// Of e4m3: scales are powers of two, relative to the largest one of their row.
  TILEWRIGHT_HD void decode(const raw& step, const e2m1_tables& tables, const row_exponents& largest) {
    array<unsigned, 2> of_group[rows][groups];
    for (index_t r = 0; r < rows; ++r)
      for (index_t g = 0; g < groups; ++g) of_group[r][g] = tables.of(step.scales[r][g].bits, largest[r]);
    unroll<chunks * rows>([&](auto i) TILEWRIGHT_INLINE_LAMBDA {
      constexpr index_t c = i / rows, r = i % rows, first = (c * Repeat + r / 2) * 4 + r % 2;
      const auto decoded = decode_e2m1_to_fp8(step.of[c][r], of_group[r][c * groups / chunks]);
      words[first] = decoded[0], words[first + 2] = decoded[1];
    });
  }
  TILEWRIGHT_HD void decode(const raw& step) {
    constexpr narrow_operand o = Operand;
    unroll<rows>([&](auto r) TILEWRIGHT_INLINE_LAMBDA {
      unsigned factors[max(groups, 1)];
      for (index_t g = 0; g < groups; ++g) {
        const float scale = scale_of_pairs<Format, T>(step.scales[r][g]);
        factors[g] = bits_of_pair<T>(scale, scale);
      }
      unroll<chunks>([&](auto c) TILEWRIGHT_INLINE_LAMBDA {
        constexpr index_t first_k = c * chunk_k;
        const array<unsigned, pairs> decoded =
            decode_own<Format, T>(step.of[c][r], step.zeros[r][first_k * groups / o.step_k]);
        unroll<pairs>([&](auto i) TILEWRIGHT_INLINE_LAMBDA {
          constexpr index_t k_step = first_k / 16 + i / 2;
          unsigned& to = words[(k_step * Repeat + r / 2) * 4 + i % 2 * 2 + r % 2];
          to = decoded[i];
          if constexpr (groups > 0) to = exec::multiply_halves<T>(to, factors[k_step * 16 * groups / o.step_k]);
        });
      });
    });
  }

 private:
  TILEWRIGHT_HD static constexpr index_t row_of(index_t r) { return r / 2 * Stride + r % 2 * 8; }

  /// What the lane's rows have for the groups of a step.
  template <group_pieces Pieces, class E, index_t N>
  TILEWRIGHT_HD static void load_groups(array<E, N> (&to)[rows], exec::lds_pointer first_piece, index_t first_row,
                                        index_t first_in_stage, index_t first_group) {
    const exec::lds_pointer at = first_piece + (first_row * Pieces.piece_bytes() + Pieces.skipped_bytes(first_group) +
                                                first_in_stage * Pieces.element_bytes);
    unroll<rows>([&](auto r) TILEWRIGHT_INLINE_LAMBDA {
      constexpr index_t offset = row_of(r) * Pieces.piece_bytes();
      if constexpr (sizeof(E) == 1 && N == 2) {
        // Opaque, or nvcc makes two loads of it, and four of 16 bytes of weights.
        const index_t both = exec::lds_load<unsigned short>(at, offset);
        to[r] = bit_cast<array<E, N>>(static_cast<unsigned short>(exec::opaque(both)));
      } else {
        to[r] = exec::lds_load<array<E, N>>(at, offset);
      }
    });
  }
};

}  // namespace tilewright::detail
