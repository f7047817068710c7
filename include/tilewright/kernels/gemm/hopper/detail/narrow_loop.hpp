// SPDX-License-Identifier: MIT
// The main loop of small-M GEMM with a B in a narrow format: a ring of stages in LDS, decoded into mma operands.
#pragma once

#include <tilewright/block/mma/block_gemm.hpp>
#include <tilewright/kernels/gemm/hopper/detail/small_m_loop.hpp>
#include <tilewright/kernels/gemm/check_gemm.hpp>
#include <tilewright/kernels/gemm/hopper/narrow_policy.hpp>

namespace tilewright::detail {

/// What a block has in LDS. A column of B and a row of A are lines of 16-byte pieces; pieces are exchanged by XOR with
/// the line, so that the eight lines of an mma operand are in different banks.
template <class Policy>
struct narrow_lds {
  using F = typename Policy::b_format;
  static constexpr block_tile tile = Policy::tile;
  static constexpr index_t line_pieces = Policy::column_bytes / 16;  ///< of B
  static constexpr index_t piece = 4 * F::elements;                  ///< elements along k of 16 bytes of B
  static constexpr index_t a_pieces = tile.k / 8;                    ///< of a row of A
  static constexpr index_t stage_bytes = tile.n * Policy::column_bytes + tile.m * a_pieces * 16;
  /// Scales for each step are two buffers of (groups, n); zero points likewise.
  static constexpr bool by_column = F::group == 0;
  static constexpr index_t groups = by_column ? 0 : max(tile.k / max(F::group, 1), 1), scale_pitch = tile.n + 8,
                           scale_bytes = groups * scale_pitch * 4, scales_at = Policy::stages * stage_bytes,
                           zeros_at = scales_at + 2 * scale_bytes,
                           bytes = zeros_at + (F::has_zero_points ? 2 * scale_bytes : 0);
  /// C's sums, at the start.
  static constexpr index_t sum_pitch = tile.n + 4;
  static_assert(tile.m * sum_pitch * 4 <= bytes);

  TILEWRIGHT_HD static index_t b_at(index_t column, index_t number) {
    return column * Policy::column_bytes + (number ^ (column / 2 & (line_pieces - 1))) * 16;
  }
  TILEWRIGHT_HD static index_t a_at(index_t row, index_t number) {
    return tile.n * Policy::column_bytes + (row * a_pieces + (number ^ (row * (F::elements / 2) & 7))) * 16;
  }
};

/// A step computes C (rows, n) += A (rows, k) decode(B (n, k))^T, as (n, rows) for mma: columns of B are its rows. A
/// wave has 32 columns. Lane (g, t) decodes word t of 16 bytes of columns g and g + 8, and multiplies them with the
/// same k of rows g and g + 8 of A.
///
///   copies  | stage i + 3            | stage i + 4           |   cp.async by all threads
///   scales  | of i + 1 to LDS, loads of i + 2                |   thread j: those of column j
///   block   | barrier, decode and mma of stage i | barrier   |
template <class Policy>
  requires requires { typename Policy::b_format; }
struct small_m_loop<Policy> {
  using F = typename Policy::b_format;
  using T = typename Policy::element_type;
  using Scale = typename F::scale_type;
  using Zero = typename F::zero_type;
  using memory = narrow_lds<Policy>;
  static constexpr block_tile tile = Policy::tile;
  using result = tile_distribution<number<result_rows_encoding(tile.m, tile.n, Policy::waves, 32, 4)>::value>;
  static constexpr index_t block_size = Policy::waves * 32, lds_bytes = memory::bytes, k_of_block = tile.k,
                           blocks_at_once = min(4, Policy::arch::value.lds_bytes / lds_bytes), halves = tile.m / 8,
                           mma_tiles = 2, groups = memory::groups;
  /// Whether a lane's words have scales of their own, which multiply elements.
  static constexpr bool scales_elements = F::group != 0 && F::group < memory::piece;
  static_assert(block_size == tile.n, "narrow_policy: a thread loads the scales of a column");

  /// Sums of a lane: columns g and g + 8 of each mma tile, rows 2t and 2t + 1 of each half.
  struct sums_type {
    float of[mma_tiles][4 * halves];
  };

  static constexpr const char* check(const narrow_args& g) {
    if (!vector_alignment{8, 2}.is_met_by(g.a, 2, g.lda, g.batch_stride_a))
      return "A's rows must start at multiples of 16 bytes: a, lda and batch_stride_a";
    if (const char* why = check_narrow_b<F>(g)) return why;
    if (g.lda > 0x7fffffff / 2 / tile.m || g.ldb > 0x7fffffff / 2) return small_m_offsets;
    return nullptr;
  }

#if TILEWRIGHT_HOPPER_PASS
  /// A work tile: its first column, and where its operands are.
  struct block_operands {
    const char *a, *b;
    const Scale* scales;
    const Zero* zeros;
    index_t n0, n, m, k, ld_scales, in_column;
    long_index_t lda, column_bytes;

    TILEWRIGHT_HD block_operands(const narrow_args& g, const work_tile& work)
        : a(static_cast<const char*>(g.a) + 2 * work.tile.batch * g.batch_stride_a),
          b(static_cast<const char*>(g.b) + work.tile.batch * (g.batch_stride_b * F::bits / 8)),
          scales(static_cast<const Scale*>(g.b_scales) + work.tile.batch * g.batch_stride_b_scales),
          zeros(static_cast<const Zero*>(g.b_zeros) + work.tile.batch * g.batch_stride_b_scales),
          n0(work.tile.col * tile.n),
          n(g.n),
          m(g.m),
          k(min(g.k, work.k_end * tile.k)),
          in_column(scales_of_column<F>(g.k)),
          lda(2 * long_index_t(g.lda)),
          column_bytes(long_index_t(g.ldb) * F::bits / 8) {
      ld_scales = g.ld_b_scales == 0 ? in_column : g.ld_b_scales;
    }

    /// Starts the copies of the step at k0; zeros after the ends of operands.
    TILEWRIGHT_HD void copy(index_t k0, exec::lds_pointer stage) const {
      const index_t thread = exec::thread_id(), left = min(k - k0, tile.k), b_bytes = ceil_div(left * F::bits, 8);
      constexpr index_t pieces = memory::line_pieces, a_pieces = memory::a_pieces;
      const char* const from = b + long_index_t(k0) * F::bits / 8;
      TILEWRIGHT_UNROLL_ALL
      for (index_t i = 0; i < pieces; ++i) {
        const index_t number = modulo(thread, pieces), column = divide(thread, pieces) + i * (block_size / pieces);
        const index_t size = n0 + column < n ? min(max(b_bytes - number * 16, 0), 16) : 0;
        exec::async_load_first_bytes<16>(size > 0 ? from + (n0 + column) * column_bytes + number * 16 : b, size, stage,
                                         memory::b_at(column, number));
      }
      TILEWRIGHT_UNROLL_ALL
      for (index_t i = 0; i < ceil_div(tile.m * a_pieces, block_size); ++i) {
        const index_t number = modulo(thread, a_pieces), row = divide(thread, a_pieces) + i * (block_size / a_pieces);
        if (row >= tile.m) break;
        const index_t size = row < m ? min(max(left * 2 - number * 16, 0), 16) : 0;
        exec::async_load_first_bytes<16>(size > 0 ? a + row * lda + long_index_t(k0) * 2 + number * 16 : a, size, stage,
                                         memory::a_at(row, number));
      }
    }
  };

  template <class V>
  TILEWRIGHT_HD static V masked_element(const V* from, long_index_t at, bool exists) {
    return exec::masked_load<V>(exec::make_global_buffer(from, long_index_t{1} << 62), at * long_index_t(sizeof(V)),
                                exists);
  }

  /// The scales and zero points of the thread's column for a step, on their way to LDS.
  struct column_scales {
    Scale scales[max(groups, 1)];
    Zero zeros[max(groups, 1)];

    TILEWRIGHT_HD void load(const block_operands& o, index_t k0) {
      const index_t column = o.n0 + exec::thread_id(), first = divide(k0, max(F::group, 1));
      TILEWRIGHT_UNROLL_ALL
      for (index_t j = 0; j < groups; ++j) {
        const bool exists = column < o.n && k0 < o.k && first + j < o.in_column;
        const long_index_t at = exists ? long_index_t(column) * o.ld_scales + first + j : 0;
        scales[j] = masked_element(o.scales, at, exists);
        if constexpr (F::has_zero_points) zeros[j] = masked_element(o.zeros, at, exists);
      }
    }
    TILEWRIGHT_HD void store(exec::lds_pointer lds, index_t buffer) const {
      const index_t to = buffer * memory::scale_bytes + exec::thread_id() * 4;
      TILEWRIGHT_UNROLL_ALL
      for (index_t j = 0; j < groups; ++j) {
        const float scale = F::scale(scales[j]);
        const index_t at = to + j * memory::scale_pitch * 4;
        exec::lds_store(lds, memory::scales_at + at,
                        scales_elements ? bits_of_pair<T>(scale, scale) : bit_cast<unsigned>(scale));
        if constexpr (F::has_zero_points) exec::lds_store(lds, memory::zeros_at + at, unsigned(zeros[j]));
      }
    }
  };

  /// Asks for the first bytes of B of the block's work tile, while the previous kernel may still run; see the loop of
  /// 16-bit elements.
  TILEWRIGHT_HD static void prefetch_b(const narrow_args& g, const work_tile& work) {
    if (work.is_empty()) return;
    const block_operands o(g, work);
    const index_t k0 = work.k_begin * tile.k, column = o.n0 + exec::thread_id();
    const index_t bytes = min(o.k - k0, Policy::stages * tile.k) * F::bits / 8 & ~15;
    if (column < o.n && bytes > 0)
      exec::prefetch_to_l2(o.b + column * o.column_bytes + long_index_t(k0) * F::bits / 8, bytes);
  }

  /// The wave's sums of a work tile.
  TILEWRIGHT_HD static sums_type multiply(const narrow_args& g, const work_tile& work, exec::lds_pointer lds) {
    constexpr index_t ahead = Policy::stages - 1;
    const block_operands o(g, work);
    const index_t first = work.k_begin * tile.k, steps = work.k_end - work.k_begin;
    const auto stage = [&](index_t step) TILEWRIGHT_INLINE_LAMBDA {
      return lds + modulo(step, Policy::stages) * memory::stage_bytes;
    };
    sums_type sums{};
    column_scales next;
    next.load(o, first);
    next.store(lds, 0);
    next.load(o, first + tile.k);
    for (index_t i = 0; i < ahead; ++i) {
      if (i < steps) o.copy(first + i * tile.k, stage(i));
      exec::async_end_group();
    }
    TILEWRIGHT_UNROLL(1)
    for (index_t i = 0; i < steps; ++i) {
      exec::async_wait_groups<ahead - 1>();
      exec::block_sync();  // stage i is in LDS; stage i - 1 and the scales of step i - 1 have been read
      if (i + ahead < steps) o.copy(first + (i + ahead) * tile.k, stage(i + ahead));
      exec::async_end_group();
      next.store(lds, (i + 1) % 2);
      next.load(o, first + (i + 2) * tile.k);
      add_step(sums, stage(i), lds, i % 2);
    }
    exec::async_wait_groups<0>();
    if constexpr (memory::by_column) scale_columns(sums, o);
    return sums;
  }

  /// Column `number` of an mma tile's two that the lane has.
  TILEWRIGHT_HD static index_t column_of(index_t mma_tile, index_t number) {
    return exec::wave_id() * (16 * mma_tiles) + mma_tile * 16 + number * 8 + divide(exec::lane_id(), 4);
  }

  /// The lane's elements of 16 bytes of a column of B, from its word.
  TILEWRIGHT_HD static array<T, F::elements> load_b(exec::lds_pointer stage, exec::lds_pointer lds, index_t buffer,
                                                    index_t column, index_t piece) {
    const index_t lane = modulo(exec::lane_id(), 4);
    const auto word = exec::lds_load<unsigned>(stage, memory::b_at(column, piece) + lane * 4);
    if constexpr (memory::by_column) return decode_word<F, T>(word, Zero{});
    const index_t group = divide(piece * memory::piece + (scales_elements ? lane * F::elements : 0), max(F::group, 1)),
                  at = buffer * memory::scale_bytes + (group * memory::scale_pitch + column) * 4;
    Zero zero{};
    if constexpr (F::has_zero_points) zero = static_cast<Zero>(exec::lds_load<unsigned>(lds, memory::zeros_at + at));
    const auto elements = decode_word<F, T>(word, zero);
    if constexpr (scales_elements) {
      return multiply_elements(elements, exec::lds_load<unsigned>(lds, memory::scales_at + at));
    } else {
      return elements;
    }
  }

  /// sums += a stage's products.
  TILEWRIGHT_HD static void add_step(sums_type& sums, exec::lds_pointer stage, exec::lds_pointer lds, index_t buffer) {
    constexpr bool scales_sums = !memory::by_column && !scales_elements;
    constexpr index_t E = F::elements, pieces = memory::line_pieces,
                      of_group = scales_sums ? min(max(F::group / memory::piece, 1), pieces) : pieces;
    sums_type group_sums{};
    sums_type& to = scales_sums ? group_sums : sums;
    TILEWRIGHT_UNROLL_ALL
    for (index_t piece = 0; piece < pieces; ++piece) {
      array<T, E> a[2] = {};
      for (index_t half = 0; half < halves; ++half) a[half] = load_a(stage, half, piece);
      TILEWRIGHT_UNROLL_ALL
      for (index_t mma_tile = 0; mma_tile < mma_tiles; ++mma_tile) {
        array<T, E> b[2];
        for (index_t j = 0; j < 2; ++j) b[j] = load_b(stage, lds, buffer, column_of(mma_tile, j), piece);
        multiply_pieces(to.of[mma_tile], b, a);
        if (!scales_sums || (piece + 1) % of_group != 0) continue;
        const index_t at = memory::scales_at + buffer * memory::scale_bytes +
                           divide(piece * memory::piece, max(F::group, 1)) * memory::scale_pitch * 4;
        for (index_t j = 0; j < 2; ++j) {
          const auto scale = exec::lds_load<float>(lds, at + column_of(mma_tile, j) * 4);
          for (index_t i = 0; i < 2 * halves; ++i) {
            const index_t r = i / 2 * 4 + j * 2 + i % 2;
            sums.of[mma_tile][r] += scale * group_sums.of[mma_tile][r];
            group_sums.of[mma_tile][r] = 0;
          }
        }
      }
    }
  }

  /// The k of row g + 8 half of A that belong to the lane's word.
  TILEWRIGHT_HD static array<T, F::elements> load_a(exec::lds_pointer stage, index_t half, index_t piece) {
    const index_t row = half * 8 + divide(exec::lane_id(), 4),
                  byte = (piece * 4 + modulo(exec::lane_id(), 4)) * F::elements * 2;
    return exec::lds_load<array<T, F::elements>>(stage, memory::a_at(row, divide(byte, 16)) + modulo(byte, 16));
  }

  /// c (columns, rows) += b a^T, four k of each lane at a time: any order of k is right that both have.
  TILEWRIGHT_HD static void multiply_pieces(float* c, const array<T, F::elements>* b, const array<T, F::elements>* a) {
    float all[8] = {};
    for (index_t i = 0; i < 4 * halves; ++i) all[i] = c[i];
    TILEWRIGHT_UNROLL_ALL
    for (index_t k = 0; k < F::elements; k += 4) {
      const T columns[8] = {b[0][k],     b[0][k + 1], b[1][k],     b[1][k + 1],
                            b[0][k + 2], b[0][k + 3], b[1][k + 2], b[1][k + 3]};
      const T rows[8] = {a[0][k], a[0][k + 1], a[0][k + 2], a[0][k + 3],
                         a[1][k], a[1][k + 1], a[1][k + 2], a[1][k + 3]};
      exec::mma<tile.op>(all, columns, rows);
    }
    for (index_t i = 0; i < 4 * halves; ++i) c[i] = all[i];
  }

  TILEWRIGHT_HD static void scale_columns(sums_type& sums, const block_operands& o) {
    for (index_t mma_tile = 0; mma_tile < mma_tiles; ++mma_tile) {
      for (index_t j = 0; j < 2; ++j) {
        const index_t column = o.n0 + column_of(mma_tile, j);
        const float scale = F::scale(masked_element(o.scales, long_index_t(column) * o.ld_scales, column < o.n));
        for (index_t i = 0; i < 2 * halves; ++i) sums.of[mma_tile][i / 2 * 4 + j * 2 + i % 2] *= scale;
      }
    }
  }

  /// Whether C has row vector * waves + wave_id(), that of a thread's vector; more need not be moved.
  TILEWRIGHT_HD static bool has_rows(index_t vector, index_t m) { return vector * Policy::waves + exec::wave_id() < m; }
  /// The sums in the order in which C is written.
  TILEWRIGHT_HD static auto add_up_waves(const sums_type& sums, exec::lds_pointer lds) {
    exec::block_sync();  // the last stage has been read
    for (index_t mma_tile = 0; mma_tile < mma_tiles; ++mma_tile) {
      for (index_t i = 0; i < 4 * halves; ++i) {
        const index_t row = i / 4 * 8 + modulo(exec::lane_id(), 4) * 2 + i % 2, column = column_of(mma_tile, i / 2 % 2);
        exec::lds_store(lds, (row * memory::sum_pitch + column) * 4, sums.of[mma_tile][i]);
      }
    }
    exec::block_sync();
    constexpr auto lengths = make_tuple(number<tile.m>{}, number<tile.n>{});
    constexpr auto strides = make_tuple(number<memory::sum_pitch>{}, number<1>{});
    return load_tile(make_tile_window(make_tensor_view<address_space_enum::lds, float>(
                                          lds, make_naive_tensor_descriptor(lengths, strides, number<4>{})),
                                      lengths, {}, result{}));
  }
#endif
};

}  // namespace tilewright::detail
