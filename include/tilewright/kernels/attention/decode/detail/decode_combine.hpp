// SPDX-License-Identifier: MIT
// Brings together what the waves and the blocks of attention_decode found out about their shares of the keys.
#pragma once

#include <tilewright/core/base/block_index.hpp>
#include <tilewright/kernels/attention/decode/decode_tiles.hpp>
#include <tilewright/machine/exec/hopper.hpp>
#include <tilewright/tile/copy/load_store.hpp>

namespace tilewright::detail {

/// A block's problem: `first_row` of the rows that share key head `kv_head`.
TILEWRIGHT_HD decode_problem locate_decode(const attention_decode_args& args, index_t first_row, index_t kv_head,
                                           index_t batch) {
  const index_t group = divide(args.heads, args.kv_heads);
  decode_problem p{locate_attention(args, divide(first_row, group), kv_head * group, batch), group, first_row,
                   args.queries * group};
  if (args.key_counts != nullptr) p.keys = args.key_counts[batch];
  return p;
}

/// The parts of args.splits blocks in the workspace: O of each row as float, then their log-sum-exps.
struct decode_workspace {
  float *o, *lse;
  long_index_t rows;  // of all sequences and heads

  TILEWRIGHT_HD decode_workspace(const attention_decode_args& args, index_t value_dim)
      : o(static_cast<float*>(args.workspace)), rows(long_index_t(args.batch) * args.heads * args.queries) {
    lse = o + rows * args.splits * value_dim;
  }
  /// The number of a row: sequence by sequence, key head by key head, query by query, head by head.
  TILEWRIGHT_HD static long_index_t row_of(const attention_decode_args& args, const decode_problem& p, index_t row) {
    return (long_index_t(p.batch) * args.kv_heads + p.kv_head) * p.rows + p.first_row + row;
  }
};

/// Where a row of O and its log-sum-exp go, in elements.
struct decode_result {
  long_index_t o, lse;
  TILEWRIGHT_HD decode_result(const attention_decode_args& args, const decode_problem& p, index_t row) {
    const long_index_t batch = p.batch, head = p.head_of(row), query = p.query_of(row);
    o = batch * args.o_strides.batch + head * args.o_strides.head + query * args.o_strides.row;
    lse = batch * args.lse_strides.batch + head * args.lse_strides.head + query * args.lse_strides.row;
  }
};

/// Partial results of one row that are brought together: four elements of O, and the sum of exponentials.
struct decode_row_sum {
  float top, sum = 0;  // an exponent of 2, and the sum of exponentials relative to it
  vector_t<float, 4> o{};

  /// Adds a part with the same `top` after multiplication by `factor`.
  TILEWRIGHT_HD void add(float factor, float part_sum, const vector_t<float, 4>& chunk) {
    sum += factor * part_sum;
    for (index_t i = 0; i < 4; ++i) o[i] += factor * chunk[i];
  }
  TILEWRIGHT_HD void divide_by_sum() {
    const float inverse = sum == 0.0f ? 0.0f : 1.0f / sum;
    for (index_t i = 0; i < 4; ++i) o[i] *= inverse;
  }
  TILEWRIGHT_HD float log_sum_exp() const { return sum == 0.0f ? minus_infinity() : (top + exec::log2(sum)) * ln_2; }
  /// Writes the elements from `column` on, and with the first ones the log-sum-exp.
  template <class Policy>
  TILEWRIGHT_HD void write(const attention_decode_args& args, const decode_result& at, index_t column) const {
    using T = typename Policy::element_type;
    const vector_t<T, 4> rounded{
        {type_convert<T>(o[0]), type_convert<T>(o[1]), type_convert<T>(o[2]), type_convert<T>(o[3])}};
    const long_index_t everything = long_index_t(1) << 46;
    exec::buffer_store(exec::make_global_buffer(args.o, everything), (at.o + column) * long_index_t(sizeof(T)),
                       rounded);
    if (column == 0 && args.lse != nullptr)
      exec::buffer_store(exec::make_global_buffer(args.lse, everything), at.lse * 4, log_sum_exp());
  }
};

/// What a wave's sums need in LDS.
template <class Policy>
inline constexpr index_t decode_sums_bytes = decode_rows * (Policy::value_dim + 4 + 2) * 4;

/// The sums of a block's waves in LDS, each at the start of the wave's WaveBytes.
template <class Policy, index_t WaveBytes>
struct decode_waves {
  using sums_type = attention_softmax<Policy>;
  static constexpr index_t dim = Policy::value_dim, ld = dim + 4, waves = Policy::waves, wave_floats = WaveBytes / 4;

  exec::lds_pointer lds;

  TILEWRIGHT_HD void store(const sums_type& sums) const {
    constexpr auto space = address_space_enum::lds;
    const exec::lds_pointer own = lds + exec::wave_id() * (wave_floats * 4);
    [&]<index_t... Chunks>(sequence<Chunks...>) TILEWRIGHT_INLINE_LAMBDA {
      (store_part<Chunks>(sums.o.template get<Chunks>(), own), ...);
    }(decode_chunks<dim>{});
    using rows = typename sums_type::row_values::distribution_type;
    const auto row_sums = sums.row_sums();
    if (!is_first_replica<rows>()) return;
    constexpr auto layout = make_naive_tensor_descriptor_packed(make_tuple(number<decode_rows>{}));
    const auto store_rows = [&](const auto& values, index_t first) TILEWRIGHT_INLINE_LAMBDA {
      store_tile(make_tile_window(make_tensor_view<space, float>(own + first * 4, layout),
                                  make_tuple(number<decode_rows>{}), {}, rows{}),
                 values);
    };
    store_rows(sums.row_offsets(), decode_rows * ld);
    store_rows(row_sums, decode_rows * (ld + 1));
  }

  /// Adds up the waves' parts and writes O, or the block's part of it.
  TILEWRIGHT_HD void write(const attention_decode_args& args, const decode_problem& p, index_t split) const {
    const index_t rows = min(decode_rows, p.rows - p.first_row);
    for (index_t i = exec::thread_id(); i < rows * (dim / 4); i += waves * Policy::arch::value.wave_size) {
      const index_t row = divide(i, dim / 4), column = (i - row * (dim / 4)) * 4;
      decode_row_sum total{at(0, row, true)};
      for (index_t w = 1; w < waves; ++w) total.top = exec::max(total.top, at(w, row, true));
      for (index_t w = 0; w < waves; ++w) {
        const auto chunk = exec::lds_load<vector_t<float, 4>>(lds, (w * wave_floats + row * ld + column) * 4);
        total.add(exec::exp2(at(w, row, true) - total.top), at(w, row, false), chunk);
      }
      total.divide_by_sum();
      if (args.splits == 1) {
        total.write<Policy>(args, decode_result(args, p, row), column);
      } else {
        write_part(args, p, split, row, column, total);
      }
    }
  }

 private:
  template <index_t Chunk, class Tile>
  TILEWRIGHT_HD static void store_part(const Tile& tile, exec::lds_pointer own) {
    constexpr number<decode_chunk(dim, Chunk)> columns{};
    constexpr auto layout =
        make_naive_tensor_descriptor(make_tuple(number<decode_rows>{}, columns), make_tuple(number<ld>{}, number<1>{}));
    store_tile(make_tile_window(make_tensor_view<address_space_enum::lds, float>(own + 64 * Chunk * 4, layout),
                                make_tuple(number<decode_rows>{}, columns), {}, typename Tile::distribution_type{}),
               tile);
  }
  /// A wave's offset or sum of a row.
  TILEWRIGHT_HD float at(index_t wave, index_t row, bool is_offset) const {
    return exec::lds_load<float>(lds, (wave * wave_floats + decode_rows * (ld + (is_offset ? 0 : 1)) + row) * 4);
  }
  TILEWRIGHT_HD static void write_part(const attention_decode_args& args, const decode_problem& p, index_t split,
                                       index_t row, index_t column, const decode_row_sum& total) {
    const decode_workspace space(args, dim);
    const long_index_t to = decode_workspace::row_of(args, p, row) * args.splits + split;
    const long_index_t chunks = space.rows * args.splits;
    exec::buffer_store(exec::make_global_buffer(space.o, chunks * dim * 4), (to * dim + column) * 4, total.o);
    if (column == 0) exec::buffer_store(exec::make_global_buffer(space.lse, chunks * 4), to * 4, total.log_sum_exp());
  }
};

/// Adds up the parts of args.splits blocks: one block for each query and head. launch() queues it after
/// attention_decode; with one split there is nothing to do.
template <class Policy>
struct decode_combine {
  using arch = typename Policy::arch;
  using args_type = typename Policy::args_type;
  static constexpr index_t dim = Policy::value_dim, threads = dim / 4, teams = 256 / threads;
  static constexpr index_t block_size = 256;
  static constexpr index_t lds_bytes = teams * threads * 20;
  static constexpr bool overlaps_previous = arch::value.has_wgmma;  // Hopper

  static constexpr const char* check(const args_type& args) { return check_decode(args); }

  static constexpr grid_size grid(const args_type& args) { return grid_of_decode_combine(args); }

  TILEWRIGHT_HD void operator()(const args_type& args) const {
    const exec::block_index block = exec::block_id();
    const exec::lds_pointer lds = exec::lds_allocate<lds_bytes>();
#if TILEWRIGHT_CPU_PASS || (defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900)
    if constexpr (overlaps_previous) exec::grid_dependency_wait();
#endif
    const decode_problem p = locate_decode(args, block.x, block.y, block.z);
    const decode_workspace space(args, dim);
    const long_index_t row = decode_workspace::row_of(args, p, 0) * args.splits;
    const exec::global_buffer o = exec::make_global_buffer(space.o + row * dim, long_index_t(args.splits) * dim * 4),
                              lse = exec::make_global_buffer(space.lse + row, long_index_t(args.splits) * 4);
    // Groups of threads iterate over the splits, interleaved; each thread has four elements of O.
    const index_t team = divide(exec::thread_id(), threads), thread = exec::thread_id() - team * threads;
    decode_row_sum total{-1e30f};
    if (team < teams) {
      for (index_t s = 0; s < args.splits; ++s)
        total.top = exec::max(total.top, exec::buffer_load<float>(lse, s * 4) / ln_2);
      TILEWRIGHT_UNROLL(4)
      for (index_t s = team; s < args.splits; s += teams) {
        const auto chunk = exec::buffer_load<vector_t<float, 4>>(o, (s * dim + thread * 4) * 4);
        total.add(exec::exp2(exec::buffer_load<float>(lse, s * 4) / ln_2 - total.top), 1, chunk);
      }
      exec::lds_store(lds, (team * threads + thread) * 16, total.o);
      exec::lds_store(lds, teams * threads * 16 + (team * threads + thread) * 4, total.sum);
    }
    exec::block_sync();
    if (team != 0) return;
    for (index_t other = 1; other < teams; ++other) {
      const index_t from = other * threads + thread;
      total.add(1, exec::lds_load<float>(lds, teams * threads * 16 + from * 4),
                exec::lds_load<vector_t<float, 4>>(lds, from * 16));
    }
    total.divide_by_sum();
    total.write<Policy>(args, decode_result(args, p, 0), thread * 4);
  }
};

}  // namespace tilewright::detail
