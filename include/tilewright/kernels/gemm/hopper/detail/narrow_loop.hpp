// SPDX-License-Identifier: MIT
// The main loop of small-M GEMM with a B in a narrow format: a ring of stages in LDS, decoded into mma operands.
#pragma once

#include <tilewright/block/mma/block_gemm.hpp>
#include <tilewright/kernels/gemm/check_gemm.hpp>
#include <tilewright/kernels/gemm/hopper/detail/narrow_lds.hpp>
#include <tilewright/kernels/gemm/hopper/detail/small_m_loop.hpp>

namespace tilewright::detail {

/// A step computes C (rows, n) += A (rows, k) decode(B (n, k))^T, as (n, rows) for mma: columns of B are its rows. A
/// wave has 32 columns. Lane (g, t) decodes word t of 16 bytes of columns g and g + 8, and multiplies them with the
/// same k of rows g and g + 8 of A.
///
///   copies  | stage i + 2            | stage i + 3           |   cp.async by all threads
///   scales  | copies for i + 3, of i + 1 from stored to used |   thread j: those of column j
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
  static constexpr bool scales_elements = F::group != 0 && F::group < memory::piece,
                        scales_accumulators = !memory::by_column && !scales_elements;
  static_assert(block_size == tile.n, "narrow_policy: a thread loads the scales of a column");

  /// In units of 0.7 us: 16 KiB of B for each resident block of an H100 take 2.8 us.
  static constexpr split_cost cost{.k_tile = 4, .wait = 5, .read = 1, .change = 4, .crossing = 1};

  /// Sums of a lane: columns g and g + 8 of each mma tile, rows 2t and 2t + 1 of each half.
  struct accumulators {
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
  /// The thread's share of the copies of a work tile: a 16-byte piece of several columns of B and rows of A.
  /// Neighbouring threads copy the pieces of a column. Columns after the last one repeat it: they are multiplied, but
  /// not written.
  struct operand_stream {
    static constexpr index_t pieces = memory::pieces, columns = pieces, in_row = memory::a_pieces,
                             rows = ceil_div(tile.m * in_row, block_size);
    const char *b[columns], *a[rows];
    index_t left;        ///< elements along k that are still to be copied
    index_t valid_rows;  ///< of A

    TILEWRIGHT_HD operand_stream(const narrow_args& g, const work_tile& work, index_t k0, index_t k_end)
        : left(k_end - k0), valid_rows(g.m) {
      const char* const all_b = static_cast<const char*>(g.b) +
                                (work.tile.batch * g.batch_stride_b + long_index_t(k0)) * F::bits / 8 + b_piece() * 16;
      for (index_t i = 0; i < columns; ++i) {
        const index_t column = min(work.tile.col * tile.n + b_column(i), g.n - 1);
        b[i] = all_b + long_index_t(column) * (long_index_t(g.ldb) * F::bits / 8);
      }
      const char* const all_a =
          static_cast<const char*>(g.a) + 2 * (work.tile.batch * g.batch_stride_a + k0) + a_piece() * 16;
      for (index_t i = 0; i < rows; ++i) a[i] = all_a + min(a_row(i), g.m - 1) * (2 * long_index_t(g.lda));
    }
    TILEWRIGHT_HD static index_t b_piece() { return modulo(exec::thread_id(), pieces); }
    /// With four pieces columns c and c + 4 are neighbours: their pieces are in different banks.
    TILEWRIGHT_HD static index_t b_column(index_t i) {
      const index_t number = divide(exec::thread_id(), pieces), in_eight = modulo(number, 8),
                    order = pieces == 4 ? divide(in_eight, 2) + modulo(in_eight, 2) * 4 : in_eight;
      return number - in_eight + order + i * (block_size / pieces);
    }
    TILEWRIGHT_HD static index_t a_piece() { return modulo(exec::thread_id(), in_row); }
    TILEWRIGHT_HD static index_t a_row(index_t i) {
      return divide(exec::thread_id(), in_row) + i * (block_size / in_row);
    }

    /// Starts the copies of the next step; zeros after the end of k.
    TILEWRIGHT_HD void copy(exec::lds_pointer stage) {
      if (left >= tile.k)
        copy(stage, [](index_t, index_t) { return 16; });
      else if (left > 0)
        copy(stage,
             [&](index_t piece, index_t bits) { return min(max(ceil_div(left * bits, 8) - piece * 16, 0), 16); });
      left -= tile.k;
    }
    template <class Size>
    TILEWRIGHT_HD void copy(exec::lds_pointer stage, Size size) {
      TILEWRIGHT_UNROLL_ALL
      for (index_t i = 0; i < columns; ++i) {
        exec::async_load_first_bytes<16>(b[i], size(b_piece(), F::bits), stage,
                                         b_column(i) * memory::b_pitch + b_piece() * 16);
        b[i] += Policy::column_bytes;
      }
      TILEWRIGHT_UNROLL_ALL
      for (index_t i = 0; i < rows; ++i) {
        if (a_row(i) < valid_rows)  // others are not read
          exec::async_load_first_bytes<16>(a[i], size(a_piece(), 16), stage,
                                           memory::a_at + a_row(i) * memory::a_pitch + a_piece() * 16);
        a[i] += 2 * tile.k;
      }
    }
  };

  template <class V>
  TILEWRIGHT_HD static V masked_element(const V* from, long_index_t at, bool exists) {
    return exec::masked_load<V>(exec::make_global_buffer(from + at, long_index_t{1} << 62), 0, exists);
  }

  /// The scales and zero points of the thread's column. They pass through LDS that is the thread's own:
  /// loads to registers would arrive after the copies of B that are in flight.
  struct column_scales {
    const Scale* from;
    const Zero* zeros_from;
    index_t in_column;  ///< of all k
    bool is_aligned;    ///< chunks may be copied at once

    TILEWRIGHT_HD column_scales(const narrow_args& g, const work_tile& work)
        : in_column(memory::by_column ? 1 : ceil_div(g.k, max(F::group, 1))) {
      const index_t ld = g.ld_b_scales == 0 ? in_column : g.ld_b_scales;
      const long_index_t at = work.tile.batch * g.batch_stride_b_scales +
                              long_index_t(min(work.tile.col * tile.n + exec::thread_id(), g.n - 1)) * ld;
      from = static_cast<const Scale*>(g.b_scales) + at;
      zeros_from = static_cast<const Zero*>(g.b_zeros) + at;
      is_aligned = detail::is_aligned(from) &&
                   (!F::has_zero_points || detail::is_aligned(zeros_from, min(memory::zero_chunk_bytes, 16)));
    }
    TILEWRIGHT_HD static index_t chunk_of(index_t step) { return divide(step, memory::steps_of_chunk); }
    TILEWRIGHT_HD static index_t slot_of(index_t chunk) {
      return modulo(chunk, memory::chunks) * tile.n + exec::thread_id();
    }

    /// Starts the copy of a step's chunk, if the step is the first of it. is_first: no copy has been started.
    TILEWRIGHT_HD void copy(exec::lds_pointer lds, index_t step, bool is_first = false) const {
      if (!is_first && modulo(step, memory::steps_of_chunk) != 0) return;
      const index_t chunk = chunk_of(step), group = chunk * memory::in_chunk, slot = slot_of(chunk);
      if (group >= in_column) return;
      const bool is_whole = is_aligned && group + memory::in_chunk <= in_column;
      copy_chunk<memory::chunk_bytes>(lds + (memory::chunks_at + slot * memory::chunk_bytes), from, group, is_whole);
      if constexpr (F::has_zero_points)
        copy_chunk<memory::zero_chunk_bytes>(lds + (memory::zero_chunks_at + slot * memory::zero_chunk_bytes),
                                             zeros_from, group, is_whole);
    }
    template <index_t Bytes, class V>
    TILEWRIGHT_HD void copy_chunk(exec::lds_pointer to, const V* all, index_t group, bool is_whole) const {
      constexpr index_t at_once = min(Bytes, 16);
      if (is_whole) {
        for (index_t i = 0; i < Bytes; i += at_once)
          exec::async_load_first_bytes<at_once>(reinterpret_cast<const char*>(all + group) + i, at_once, to, i);
      } else {
        for (index_t j = 0; j < memory::in_chunk; ++j) {
          const bool exists = group + j < in_column;
          exec::lds_store(to, j * index_t(sizeof(V)), masked_element(all, exists ? group + j : 0, exists));
        }
      }
    }
    /// Writes the scales of a step, whose chunk has arrived, as they multiply.
    TILEWRIGHT_HD static void store(exec::lds_pointer lds, index_t buffer, index_t step) {
      const index_t to = buffer * memory::scale_bytes + exec::thread_id() * 4, chunk = chunk_of(step),
                    slot = slot_of(chunk), first = divide(step * tile.k, max(F::group, 1)) - chunk * memory::in_chunk;
      const auto scales = load_stored<Scale>(lds + (memory::chunks_at + slot * memory::chunk_bytes), first);
      array<Zero, groups> zeros;
      if constexpr (F::has_zero_points)
        zeros = load_stored<Zero>(lds + (memory::zero_chunks_at + slot * memory::zero_chunk_bytes), first);
      TILEWRIGHT_UNROLL_ALL
      for (index_t j = 0; j < groups; ++j) {
        const float scale = scale_of_pairs<F, T>(scales[j]);
        const index_t at = to + j * memory::scale_pitch * 4;
        exec::lds_store(lds, memory::scales_at + at,
                        scales_elements ? bits_of_pair<T>(scale, scale) : bit_cast<unsigned>(scale));
        if constexpr (F::has_zero_points) exec::lds_store(lds, memory::zeros_at + at, unsigned(zeros[j]));
      }
    }
    /// Those of a step, from number `first` of a chunk on. The chunk is read as a whole: without bank conflicts.
    template <class V>
    TILEWRIGHT_HD static array<V, groups> load_stored(exec::lds_pointer chunk, index_t first) {
      using unit = conditional_t<groups * sizeof(V) % 4 == 0, unsigned, V>;
      constexpr index_t all = memory::in_chunk * index_t(sizeof(V)) / index_t(sizeof(unit)),
                        of_step = all / (memory::in_chunk / groups), at_once = min(all, 16 / index_t(sizeof(unit)));
      array<unit, all> stored;
      for (index_t i = 0; i < all; i += at_once) {
        const auto some = exec::lds_load<array<unit, at_once>>(chunk, i * index_t(sizeof(unit)));
        for (index_t j = 0; j < at_once; ++j) stored[i + j] = some[j];
      }
      array<unit, of_step> result;
      for (index_t begin = 0; begin < all; begin += of_step)
        for (index_t j = 0; j < of_step; ++j)
          if (begin == 0 || first * of_step == begin * groups) result[j] = stored[begin + j];
      return bit_cast<array<V, groups>>(result);
    }
  };

  /// Asks for the first bytes of B of the block's work tile, while the previous kernel may still run; see the loop of
  /// 16-bit elements.
  TILEWRIGHT_HD static void prefetch_b(const narrow_args& g, const work_tile& work) {
    const index_t k0 = work.k_begin * tile.k, column = work.tile.col * tile.n + exec::thread_id(),
                  bytes = min(min(g.k, work.k_end * tile.k) - k0, Policy::stages * tile.k) * F::bits / 8 & ~15;
    if (!work.is_empty() && column < g.n && bytes > 0)
      exec::prefetch_to_l2(static_cast<const char*>(g.b) +
                               (work.tile.batch * g.batch_stride_b + long_index_t(column) * g.ldb + k0) * F::bits / 8,
                           bytes);
  }

  /// C (m, n) of the wave in a work tile.
  TILEWRIGHT_HD static accumulators multiply(const narrow_args& g, const work_tile& work, exec::lds_pointer lds) {
    constexpr index_t ahead = Policy::stages - 1;
    const index_t first = work.k_begin * tile.k, steps = work.k_end - work.k_begin;
    operand_stream operands(g, work, first, min(g.k, work.k_end * tile.k));
    const column_scales scales(g, work);
    if constexpr (groups > 0) scales.copy(lds, work.k_begin, true);
    exec::async_end_group();
    index_t to = 0, from = 0;
    const auto next = [](index_t stage) { return stage + 1 == Policy::stages ? 0 : stage + 1; };
    for (index_t i = 0; i < ahead; ++i, to = next(to)) {
      operands.copy(lds + to * memory::stage_bytes);
      if constexpr (groups > 0) scales.copy(lds, work.k_begin + i + 1);
      exec::async_end_group();
    }
    exec::async_wait_groups<ahead>();
    if constexpr (groups > 0) column_scales::store(lds, 0, work.k_begin);
    accumulators c{};
    TILEWRIGHT_UNROLL(1)
    for (index_t i = 0; i < steps; ++i, to = next(to), from = next(from)) {
      exec::async_wait_groups<ahead - 1>();
      exec::block_sync();  // stage i is in LDS; stage i - 1 and the scales of step i - 1 have been read
      operands.copy(lds + to * memory::stage_bytes);
      if constexpr (groups > 0) scales.copy(lds, work.k_begin + i + ahead + 1);
      exec::async_end_group();
      if constexpr (groups > 0)
        if (i + 1 < steps) column_scales::store(lds, (i + 1) % 2, work.k_begin + i + 1);
      add_step(c, lds + from * memory::stage_bytes, lds, i % 2, g.m);
    }
    exec::async_wait_groups<0>();
    if constexpr (memory::by_column) scale_columns(c, g, work);
    return c;
  }

  /// Column `number` of an mma tile's two that the lane has.
  TILEWRIGHT_HD static index_t column_of(index_t mma_tile, index_t number) {
    return exec::wave_id() * (16 * mma_tiles) + mma_tile * 16 + number * 8 + divide(exec::lane_id(), 4);
  }

  /// The lane's elements of 16 bytes of a column of B, from its word. Format's decode_pairs is used where there is one.
  TILEWRIGHT_HD static array<T, F::elements> load_b(exec::lds_pointer stage, exec::lds_pointer lds, index_t buffer,
                                                    index_t column, index_t piece, Zero zero) {
    const index_t lane = modulo(exec::lane_id(), 4);
    const auto word = exec::lds_load<unsigned>(stage + (column * memory::b_pitch + lane * 4), piece * 16);
    const auto elements = decode_word<F, T, true>(word, zero);
    if constexpr (scales_elements) {
      const index_t group = divide(piece * memory::piece + lane * F::elements, F::group);
      return multiply_elements(elements,
                               exec::lds_load<unsigned>(lds, scale_at(memory::scales_at, buffer, group, column)));
    } else {
      return elements;
    }
  }
  TILEWRIGHT_HD static index_t scale_at(index_t begin, index_t buffer, index_t group, index_t column) {
    return begin + buffer * memory::scale_bytes + (group * memory::scale_pitch + column) * 4;
  }

  /// c += a stage's products.
  TILEWRIGHT_HD static void add_step(accumulators& c, exec::lds_pointer stage, exec::lds_pointer lds, index_t buffer,
                                     index_t valid_rows) {
    constexpr index_t of_group = groups > 0 && !scales_elements ? memory::pieces / groups : memory::pieces;
    accumulators group_c{};
    accumulators& to = scales_accumulators ? group_c : c;
    Zero zeros[mma_tiles][2] = {};
    TILEWRIGHT_UNROLL_ALL
    for (index_t piece = 0; piece < memory::pieces; ++piece) {
      const index_t group = piece / of_group;
      array<T, F::elements> a[2] = {};
      for (index_t half = 0; half < halves; ++half) a[half] = load_a(stage, half, piece, valid_rows);
      TILEWRIGHT_UNROLL_ALL
      for (index_t mma_tile = 0; mma_tile < mma_tiles; ++mma_tile) {
        array<T, F::elements> b[2];
        for (index_t j = 0; j < 2; ++j) {
          const index_t column = column_of(mma_tile, j);
          if constexpr (F::has_zero_points)
            if (piece % of_group == 0)
              zeros[mma_tile][j] =
                  static_cast<Zero>(exec::lds_load<unsigned>(lds, scale_at(memory::zeros_at, buffer, group, column)));
          b[j] = load_b(stage, lds, buffer, column, piece, zeros[mma_tile][j]);
        }
        multiply_pieces(to.of[mma_tile], b, a);
        for (index_t j = 0; j < 2 && scales_accumulators && (piece + 1) % of_group == 0; ++j) {
          const auto scale =
              exec::lds_load<float>(lds, scale_at(memory::scales_at, buffer, group, column_of(mma_tile, j)));
          for (index_t i = 0; i < 2 * halves; ++i) {
            const index_t r = i / 2 * 4 + j * 2 + i % 2;
            c.of[mma_tile][r] += scale * group_c.of[mma_tile][r];
            group_c.of[mma_tile][r] = 0;
          }
        }
      }
    }
  }

  /// The k of row g + 8 half of A that belong to the lane's word, in the order in which its elements are decoded.
  TILEWRIGHT_HD static array<T, F::elements> load_a(exec::lds_pointer stage, index_t half, index_t piece,
                                                    index_t valid_rows) {
    constexpr index_t bytes = F::elements * 2;
    const index_t row = half * 8 + divide(exec::lane_id(), 4), lane = modulo(exec::lane_id(), 4);
    array<unsigned, F::elements / 2> x{};  // pairs: elements of 16 bits would be selected one by one
    if (row < valid_rows)                  // lanes of other rows take no time of LDS
      x = exec::lds_load<array<unsigned, F::elements / 2>>(
          stage + (memory::a_at + row * memory::a_pitch + lane * bytes), piece * 4 * bytes);
    if constexpr (has_decode_pairs<F, T>)
      x = {{exec::gather_halves(x[0], x[2], 0), exec::gather_halves(x[0], x[2], 1), exec::gather_halves(x[1], x[3], 0),
            exec::gather_halves(x[1], x[3], 1)}};
    return bit_cast<array<T, F::elements>>(x);
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

  TILEWRIGHT_HD static void scale_columns(accumulators& c, const narrow_args& g, const work_tile& work) {
    const index_t ld = g.ld_b_scales == 0 ? 1 : g.ld_b_scales;
    for (index_t mma_tile = 0; mma_tile < mma_tiles; ++mma_tile) {
      for (index_t j = 0; j < 2; ++j) {
        const index_t column = work.tile.col * tile.n + column_of(mma_tile, j);
        const long_index_t at = work.tile.batch * g.batch_stride_b_scales + long_index_t(column) * ld;
        const bool exists = column < g.n;
        const float scale =
            scale_of_pairs<F, T>(masked_element(static_cast<const Scale*>(g.b_scales), exists ? at : 0, exists));
        for (index_t i = 0; i < 2 * halves; ++i) c.of[mma_tile][i / 2 * 4 + j * 2 + i % 2] *= scale;
      }
    }
  }

  /// Whether C has row vector * waves + wave_id(), that of a thread's vector; more need not be moved.
  TILEWRIGHT_HD static bool has_rows(index_t vector, index_t m) { return vector * Policy::waves + exec::wave_id() < m; }
  /// The accumulators in the order in which C is written.
  TILEWRIGHT_HD static auto add_up_waves(const accumulators& c, exec::lds_pointer lds) {
    exec::block_sync();  // the last stage has been read
    for (index_t mma_tile = 0; mma_tile < mma_tiles; ++mma_tile) {
      for (index_t i = 0; i < 4 * halves; ++i) {
        const index_t row = i / 4 * 8 + modulo(exec::lane_id(), 4) * 2 + i % 2, column = column_of(mma_tile, i / 2 % 2);
        exec::lds_store(lds, (row * memory::sum_pitch + column) * 4, c.of[mma_tile][i]);
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
