// SPDX-License-Identifier: MIT
// Brings together what the waves and the blocks of attention_decode found out about their shares of the keys.
#pragma once

#include <tilewright/core/base/block_index.hpp>
#include <tilewright/kernels/attention/decode/decode_tiles.hpp>
#include <tilewright/kernels/attention/decode/detail/decode_shares.hpp>
#include <tilewright/tile/copy/load_store.hpp>
#if !defined(__HIP__)
#include <tilewright/machine/exec/hopper.hpp>
#endif

namespace tilewright::detail {

/// The workspace: O of each row of each piece as float, then their log-sum-exps; and of each sequence its first and its
/// last share.
struct decode_workspace {
  float *o, *lse;
  index_t* shares;
  long_index_t rows;  // of a piece: of all key heads, for the most queries

  TILEWRIGHT_HD decode_workspace(const attention_decode_args& args, index_t value_dim)
      : o(static_cast<float*>(args.workspace)), rows(long_index_t(args.heads) * args.queries) {
    const long_index_t all = rows * (long_index_t(args.num_shares()) + args.batch);
    lse = o + all * value_dim;
    shares = reinterpret_cast<index_t*>(lse + all);
  }
  /// The number of a row of a piece: key head by key head, query by query, head by head.
  TILEWRIGHT_HD long_index_t row_of(const attention_decode_args& args, const decode_problem& p, index_t share,
                                    index_t row) const {
    return (long_index_t(share) + p.batch) * rows + long_index_t(p.kv_head) * decode_rows_of(args) + p.first_row + row;
  }
};

/// Thread 0 writes down a sequence's first and last share, for decode_combine.
TILEWRIGHT_HD void note_share(const attention_decode_args& args, const decode_piece& piece, index_t share,
                              index_t value_dim) {
  if (!args.has_shares() || exec::thread_id() != 0) return;
  const exec::global_buffer shares =
      exec::make_global_buffer(decode_workspace(args, value_dim).shares + 2 * piece.batch, 8);
  if (piece.begins()) exec::buffer_store(shares, 0, share);
  if (piece.ends()) exec::buffer_store(shares, 4, share);
}

/// Partial results of one row that are brought together: four elements of O, and the sum of exponentials.
struct decode_row_sum : exponential_sum {
  vector_t<float, 4> o{};

  /// Adds a partial result with the same `top` after multiplication by `factor`.
  TILEWRIGHT_HD void add_partial(float factor, float partial_sum, const vector_t<float, 4>& partial) {
    sum += factor * partial_sum;
    for (index_t i = 0; i < 4; ++i) o[i] += factor * partial[i];
  }
  TILEWRIGHT_HD void multiply(float factor) {
    for (index_t i = 0; i < 4; ++i) o[i] *= factor;
  }
  /// Adds the sink, and writes the elements from `column` on of row `row`, and with the first ones the log-sum-exp.
  template <class Policy>
  TILEWRIGHT_HD void write(const attention_decode_args& args, const decode_problem& p, index_t row, index_t column) {
    using T = typename Policy::element_type;
    const index_t head = p.head_of(row), query = p.query_of(row);
    const float factor = add(sink_of_head(args, head));
    multiply(factor * inverse());
    const vector_t<T, 4> rounded{
        {type_convert<T>(o[0]), type_convert<T>(o[1]), type_convert<T>(o[2]), type_convert<T>(o[3])}};
    const auto at = [&](const attention_strides& s) TILEWRIGHT_INLINE_LAMBDA {
      return offset_of_head(s, p.query_start, head) + long_index_t(query) * s.row;
    };
    const long_index_t everything = long_index_t(1) << 46;
    exec::buffer_store(exec::make_global_buffer(args.o, everything),
                       (at(args.o_strides) + column) * long_index_t(sizeof(T)), rounded);
    if (column == 0 && args.lse != nullptr)
      exec::buffer_store(exec::make_global_buffer(args.lse, everything), at(args.lse_strides) * 4, log_sum_exp());
  }
};

/// What a wave's softmax and O need in LDS.
template <class Policy>
inline constexpr index_t decode_wave_bytes = decode_rows * (Policy::value_columns + 4 + 2) * 4;

/// The softmax and O of a block's waves in LDS, each at the start of the wave's WaveBytes.
template <class Policy, index_t WaveBytes>
struct decode_waves {
  using softmax_type = attention_softmax<Policy>;
  static constexpr index_t dim = Policy::value_columns, ld = dim + 4, waves = Policy::waves,
                           wave_floats = WaveBytes / 4;

  exec::lds_pointer lds;

  TILEWRIGHT_HD void store(const softmax_type& softmax) const {
    constexpr auto space = address_space_enum::lds;
    const exec::lds_pointer own = lds + exec::wave_id() * (wave_floats * 4);
    [&]<index_t... Chunks>(sequence<Chunks...>) TILEWRIGHT_INLINE_LAMBDA {
      (store_part<Chunks>(softmax.o.template get<Chunks>(), own), ...);
    }(decode_chunks<Policy, dim>{});
    using rows = typename softmax_type::row_values::distribution_type;
    const auto row_sums = softmax.row_sums();
    if (!is_first_replica<rows>()) return;
    constexpr auto layout = make_naive_tensor_descriptor_packed(make_tuple(number<decode_rows>{}));
    const auto store_rows = [&](const auto& values, index_t first) TILEWRIGHT_INLINE_LAMBDA {
      store_tile(make_tile_window(make_tensor_view<space, float>(own + first * 4, layout),
                                  make_tuple(number<decode_rows>{}), {}, rows{}),
                 values);
    };
    store_rows(softmax.row_offsets(), decode_rows * ld);
    store_rows(row_sums, decode_rows * (ld + 1));
  }

  /// Adds up the waves' partial results and writes O, or the results of a piece of a sequence.
  TILEWRIGHT_HD void write(const attention_decode_args& args, const decode_problem& p, const decode_piece& piece,
                           index_t share) const {
    const index_t rows = min(decode_rows, p.rows - p.first_row);
    for (index_t i = exec::thread_id(); i < rows * (dim / 4); i += waves * Policy::arch::value.wave_size) {
      const index_t row = divide(i, dim / 4), column = (i - row * (dim / 4)) * 4;
      decode_row_sum total{{at(0, row, true)}};
      for (index_t w = 1; w < waves; ++w) total.top = exec::max(total.top, at(w, row, true));
      for (index_t w = 0; w < waves; ++w) {
        const auto partial = exec::lds_load<vector_t<float, 4>>(lds, (w * wave_floats + row * ld + column) * 4);
        total.add_partial(exec::exp2(at(w, row, true) - total.top), at(w, row, false), partial);
      }
      if (piece.is_whole()) {
        total.write<Policy>(args, p, row, p.first_column + column);
      } else {
        write_partial(args, p, share, row, p.first_column + column, total);
      }
    }
  }

 private:
  template <index_t Chunk, class Tile>
  TILEWRIGHT_HD static void store_part(const Tile& tile, exec::lds_pointer own) {
    constexpr number<decode_chunk_lengths<Policy, dim>[Chunk]> columns {};
    constexpr index_t begin = decode_chunk_begin<Policy, dim, Chunk> * 4;
    constexpr auto layout =
        make_naive_tensor_descriptor(make_tuple(number<decode_rows>{}, columns), make_tuple(number<ld>{}, number<1>{}));
    store_tile(make_tile_window(make_tensor_view<address_space_enum::lds, float>(own + begin, layout),
                                make_tuple(number<decode_rows>{}, columns), {}, typename Tile::distribution_type{}),
               tile);
  }
  /// A wave's offset or sum of a row.
  TILEWRIGHT_HD float at(index_t wave, index_t row, bool is_offset) const {
    return exec::lds_load<float>(lds, (wave * wave_floats + decode_rows * (ld + (is_offset ? 0 : 1)) + row) * 4);
  }
  TILEWRIGHT_HD static void write_partial(const attention_decode_args& args, const decode_problem& p, index_t share,
                                          index_t row, index_t column, decode_row_sum& total) {
    const decode_workspace space(args, Policy::value_dim);
    const long_index_t to = space.row_of(args, p, share, row), everything = long_index_t(1) << 46;
    total.multiply(total.inverse());
    exec::buffer_store(exec::make_global_buffer(space.o, everything), (to * Policy::value_dim + column) * 4, total.o);
    if (column == 0) exec::buffer_store(exec::make_global_buffer(space.lse, everything), to * 4, total.log_sum_exp());
  }
};

/// Adds up the pieces of each sequence: one block for each query and head. launch() queues it after attention_decode;
/// with one split, and for a sequence in one piece, there is nothing to do.
template <class Policy>
struct decode_combine {
  using arch = typename Policy::arch;
  using args_type = typename Policy::args_type;
  static constexpr index_t dim = Policy::value_dim, threads = dim / 4, teams = 256 / threads;
  static constexpr index_t block_size = 256;
  static constexpr index_t lds_bytes = teams * threads * 20;
  static constexpr bool overlaps_previous = arch::value.has_wgmma;  // Hopper

  static constexpr const char* check(const args_type&) { return nullptr; }

  static constexpr grid_size grid(const args_type& args) { return grid_of_decode_combine(args); }

  TILEWRIGHT_HD void operator()(const args_type& args) const {
    const exec::block_index block = exec::block_id();
    const exec::lds_pointer lds = exec::lds_allocate<lds_bytes>();
#if TILEWRIGHT_CPU_PASS || (defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900)
    if constexpr (overlaps_previous) exec::grid_dependency_wait();
#endif
    const decode_problem p = locate_decode(args, block.x, block.y, block.z);
    const decode_workspace space(args, dim);
    const index_t first = exec::load_element(space.shares + 2 * p.batch),
                  last = exec::load_element(space.shares + 2 * p.batch + 1);
    if (p.first_row >= p.rows || first == last) return;
    const long_index_t row = space.row_of(args, p, first, 0), everything = long_index_t(1) << 46;
    const exec::global_buffer o = exec::make_global_buffer(space.o + row * dim, everything),
                              lse = exec::make_global_buffer(space.lse + row, everything);
    // Groups of threads iterate over the pieces, interleaved; each thread has four elements of O.
    const index_t team = divide(exec::thread_id(), threads), thread = exec::thread_id() - team * threads,
                  pieces = last - first + 1;
    decode_row_sum total{{-1e30f}};
    const auto exponent_of = [&](index_t i) TILEWRIGHT_INLINE_LAMBDA {
      return exec::buffer_load<float>(lse, i * space.rows * 4) / ln_2;
    };
    if (team < teams) {
      for (index_t i = 0; i < pieces; ++i) total.top = exec::max(total.top, exponent_of(i));
      TILEWRIGHT_UNROLL(4)
      for (index_t i = team; i < pieces; i += teams) {
        const auto partial = exec::buffer_load<vector_t<float, 4>>(o, (i * space.rows * dim + thread * 4) * 4);
        total.add_partial(exec::exp2(exponent_of(i) - total.top), 1, partial);
      }
      exec::lds_store(lds, (team * threads + thread) * 16, total.o);
      exec::lds_store(lds, teams * threads * 16 + (team * threads + thread) * 4, total.sum);
    }
    exec::block_sync();
    if (team != 0) return;
    for (index_t other = 1; other < teams; ++other) {
      const index_t from = other * threads + thread;
      total.add_partial(1, exec::lds_load<float>(lds, teams * threads * 16 + from * 4),
                        exec::lds_load<vector_t<float, 4>>(lds, from * 16));
    }
    total.write<Policy>(args, p, 0, thread * 4);
  }
};

}  // namespace tilewright::detail
