// SPDX-License-Identifier: MIT
// A consumer of latent decoding on Hopper: S and P of every other tile of keys, and half of the columns of O.
#pragma once

#include <tilewright/block/mma/wgmma_gemm.hpp>
#include <tilewright/block/pipeline/mbarrier_pipeline.hpp>
#include <tilewright/kernels/attention/decode/detail/decode_combine.hpp>
#include <tilewright/kernels/attention/detail/attention_boxes.hpp>
#include <tilewright/kernels/attention/detail/attention_order.hpp>
#include <tilewright/kernels/attention/forward/hopper_attention_policy.hpp>

namespace tilewright::detail {

template <class Args>
struct latent_device_args {
  exec::tensor_map k;
  Args args;
  index_t box_rows;  // of a TMA box: a step's keys if they are always in one page, else 16
};

/// Whether the producer converts elements of 8 bits; and whether it brings rows itself, without TMA.
template <class Policy>
inline constexpr bool latent_converts = sizeof(typename Policy::cache_type) == 1;
template <class Policy>
inline constexpr bool latent_gathers = latent_converts<Policy> || Policy::has_token_lists;

/// Where everything lies in a block's LDS: stages of K, which are V, too; Q; offsets of rows and sums; barriers.
/// A stage's boxes are halves of V, then the columns of K that V does not have. Once its S is complete, P is there.
template <class Policy>
struct latent_lds {
  static constexpr index_t rows = 64, keys = 64, stages = 2, half_dim = Policy::value_dim / 2;
  static constexpr index_t k_only_dim = Policy::head_dim - Policy::value_dim;  ///< columns of K that V does not have
  static constexpr wgmma_operand q{rows, 2, true, Policy::head_dim}, k{keys, 2, true, Policy::head_dim},
      half{keys, 2, true, half_dim}, k_only{keys, 2, true, k_only_dim}, v{half_dim, 2, false, keys};
  static constexpr index_t box_bytes = k.box_bytes(), half_boxes = half.num_boxes(), half_bytes = half.bytes();
  static_assert(v.box_bytes() == box_bytes && rows == keys);

  TILEWRIGHT_HD static constexpr index_t p_in_stage() { return 2 * half_bytes; }
  TILEWRIGHT_HD static constexpr index_t stage(index_t i) {
    return i * (p_in_stage() + max(k.num_boxes() - 2 * half_boxes, 1) * box_bytes);
  }
  TILEWRIGHT_HD static constexpr index_t queries() { return stage(stages); }
  TILEWRIGHT_HD static constexpr index_t offsets(index_t stage) { return queries() + q.bytes() + stage * 128 * 8; }
  TILEWRIGHT_HD static constexpr index_t sums(index_t consumer) { return offsets(stages) + consumer * 128 * 16; }
  TILEWRIGHT_HD static constexpr index_t barriers() { return sums(2); }
  TILEWRIGHT_HD static constexpr index_t bytes() { return barriers() + 64; }
};

/// Tiles of keys are numbered through all pieces of a block. That of an even number belongs to consumer 0 and stage 0.
/// Its half of V that its owner multiplies is filled and released before the rest of the row.
enum class latent_part : index_t { near, far };
template <class Pipeline>
TILEWRIGHT_HD typename Pipeline::state latent_state(index_t tile, latent_part part) {
  return {2 * (tile & 1) + index_t(part), unsigned(tile >> 1) & 1};
}

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
/// The parts of a block's stages. 16-bit rows that a token list names are copied by cp.async: consumers fence, so that
/// wgmma sees what it wrote.
template <class Policy>
struct latent_pipeline : mbarrier_pipeline<2 * latent_lds<Policy>::stages> {
  using base = mbarrier_pipeline<2 * latent_lds<Policy>::stages>;
  TILEWRIGHT_HD void init() const { base::init(latent_gathers<Policy> ? 128 : 1, 4); }
  TILEWRIGHT_HD static void fence() {
    if constexpr (latent_gathers<Policy> && !latent_converts<Policy>) exec::fence_async_proxy();
  }
  TILEWRIGHT_HD void consumer_wait(const typename base::state& at) const {
    base::consumer_wait(at);
    fence();
  }
};

/// One thread. Consumers compute S and P of alternate tiles, and each a half of the columns of O, of all tiles in their
/// order; P of a tile reaches the other consumer through LDS:
///
///   consumer 0 | softmax P(0) | O += P(0) V(0) |         | O += P(1) V(1), S(2) near and far | softmax P(2) | ...
///   consumer 1 | O += P(0) V(0), S(1) near and far | softmax P(1) | O += P(1) V(1) |         | O += P(2) V(2), ...
///
/// While one waits for P of the other, TMA loads replace the half of V that it has multiplied by its own P.
///
/// Each has its own offsets of rows, which go with P: the consumer that adds a P raises its own, or scales P.
template <class Policy>
struct latent_consumer {
  using T = typename Policy::element_type;
  using args_type = typename Policy::args_type;
  using softmax_type = attention_softmax<Policy>;
  using row_values = typename softmax_type::row_values;
  using rows_type = typename row_values::distribution_type;
  using outputs_type = typename Policy::outputs_distribution;
  using scores_type = typename attention_registers<Policy>::scores;
  using probabilities_type = wgmma_tile_in_registers<Policy::values_tile, T>;
  static constexpr latent_lds<Policy> lds_of{};
  static constexpr index_t word_quads = decltype(probabilities_type::words)::size() / 4;
  using pipeline_type = latent_pipeline<Policy>;
  static constexpr index_t half = lds_of.half_dim;
  enum named_barrier : index_t { both_consumers = 1, own_warpgroup = 2, p_of_stage = 4 };

  const latent_device_args<args_type>& device;
  const args_type& args;
  exec::lds_pointer lds;
  pipeline_type pipeline;
  index_t consumer;
  index_t tile = 0;  // the next piece's first

  TILEWRIGHT_HD unsigned address(index_t offset) const { return exec::lds_address(lds) + unsigned(offset); }
  TILEWRIGHT_HD static void sync_consumers() { exec::named_sync<256>(both_consumers); }
  TILEWRIGHT_HD static index_t own_thread() { return modulo(exec::thread_id(), 128); }

  /// Q of the block's rows to LDS; rows past the last are zeros.
  TILEWRIGHT_HD void load_queries(const latent_problem& p) const {
    constexpr index_t vectors = Policy::head_dim / 8;
    const long_index_t everything = long_index_t(1) << 46;
    const exec::global_buffer from = exec::make_global_buffer(args.q, everything);
    TILEWRIGHT_UNROLL(4)
    for (index_t i = exec::thread_id(); i < lds_of.rows * vectors; i += 256) {
      const index_t row = divide(i, vectors), vector = i - row * vectors, box = divide(vector, 8);
      array<unsigned, 4> words{};
      if (p.first_row + row < p.rows)
        words = exec::buffer_load<array<unsigned, 4>>(
            from, (offset_of_head(args.q_strides, p.query_start, p.head_of(row)) +
                   long_index_t(p.query_of(row)) * args.q_strides.row + vector * 8) *
                      long_index_t(sizeof(T)));
      exec::lds_store(
          lds,
          lds_of.queries() + box * lds_of.box_bytes + tma_swizzled_address(128, 128 * row + 16 * (vector - 8 * box)),
          words);
    }
  }
  /// Zeros for keys of a tile from number `count` on: nothing was copied there, or what is in the cache is no key.
  TILEWRIGHT_HD void clear_keys(index_t of, index_t count) const {
    for (index_t i = own_thread(); i < (lds_of.keys - count) * lds_of.k.num_boxes() * 8; i += 128) {
      const index_t row = divide(i, lds_of.k.num_boxes() * 8), vector = i - row * lds_of.k.num_boxes() * 8;
      exec::lds_store(
          lds,
          lds_of.stage(of & 1) + divide(vector, 8) * lds_of.box_bytes + 128 * (count + row) + 16 * modulo(vector, 8),
          array<unsigned, 4>{});
    }
    exec::fence_async_proxy();
    exec::named_sync<128>(own_warpgroup + consumer);
  }

  /// Issues S (rows, keys) = Q (rows, d_v / 2) K^T of an own tile's near columns.
  TILEWRIGHT_HD void issue_near_scores(scores_type& s, index_t of, index_t keys_left) const {
    pipeline.consumer_wait(latent_state<pipeline_type>(of, latent_part::near));
    if (keys_left < lds_of.keys) [[unlikely]] {
      pipeline.consumer_wait(latent_state<pipeline_type>(of, latent_part::far));
      clear_keys(of, keys_left);
    }
    issue_half_scores(s, of, consumer, false);
  }
  /// Issues S += Q K^T of the others.
  TILEWRIGHT_HD void issue_far_scores(scores_type& s, index_t of) const {
    pipeline.consumer_wait(latent_state<pipeline_type>(of, latent_part::far));
    issue_half_scores(s, of, 1 - consumer, true);
    if constexpr (lds_of.k_only_dim > 0) {
      constexpr block_tile t{64, 64, lds_of.k_only_dim, 4, 1, Policy::op};
      block_gemm<t, T>(s, wgmma_tile_in_lds<lds_of.k_only>{queries_address() + 2 * lds_of.half_bytes},
                       wgmma_tile_in_lds<lds_of.k_only>{address(lds_of.stage(of & 1)) + 2 * lds_of.half_bytes}, true);
    }
  }
  TILEWRIGHT_HD void issue_half_scores(scores_type& s, index_t of, index_t number, bool accumulate) const {
    constexpr block_tile t{64, 64, lds_of.half_dim, 4, 1, Policy::op};
    const unsigned offset = unsigned(number * lds_of.half_bytes);
    block_gemm<t, T>(s, wgmma_tile_in_lds<lds_of.half>{queries_address() + offset},
                     wgmma_tile_in_lds<lds_of.half>{address(lds_of.stage(of & 1)) + offset}, accumulate);
  }
  /// Opaque: a loop would keep the descriptors of all steps along d in registers.
  TILEWRIGHT_HD unsigned queries_address() const { return unsigned(exec::opaque(index_t(address(lds_of.queries())))); }

  /// Issues O (rows, d_v / 2) += P (rows, keys) V of a tile.
  TILEWRIGHT_HD void issue_outputs(softmax_type& softmax, const probabilities_type& p, index_t of) const {
    const unsigned columns = unsigned(consumer * lds_of.half_bytes);
    block_gemm(softmax.o.template get<0>(), p, wgmma_tile_in_lds<lds_of.v>{address(lds_of.stage(of & 1)) + columns},
               true);
  }
  /// Waits until at most `Pending` later GEMMs are in flight, then releases the columns that O's was of.
  template <index_t Pending>
  TILEWRIGHT_HD void complete_outputs(softmax_type& softmax, index_t of, latent_part part) const {
    exec::wgmma_wait<Pending>();
    for (float& x : softmax.o.template get<0>().thread_buffer) exec::fence_operand(x);
    exec::wave_sync();
    if (exec::lane_id() == 0) pipeline.consumer_release(latent_state<pipeline_type>(of, part).stage);
  }

  /// P of an own tile and the offsets that it refers to, for the same thread of the other consumer.
  TILEWRIGHT_HD void publish(const probabilities_type& p, const softmax_type& softmax, index_t of) const {
    const index_t to = lds_of.stage(of & 1) + lds_of.p_in_stage() + own_thread() * 16;
    unroll<word_quads>([&](auto i) TILEWRIGHT_INLINE_LAMBDA {
      exec::lds_store(lds, to + i * 2048,
                      array<unsigned, 4>{{p.words[4 * i], p.words[4 * i + 1], p.words[4 * i + 2], p.words[4 * i + 3]}});
    });
    const auto& offsets = softmax.row_offsets().thread_buffer;
    exec::lds_store(lds, lds_of.offsets(of & 1) + own_thread() * 8, array<float, 2>{{offsets[0], offsets[1]}});
    exec::fence_async_proxy();  // TMA writes K there later
    exec::named_arrive<256>(p_of_stage + (of & 1));
  }
  /// P of the other consumer's tile, relative to the own offsets.
  TILEWRIGHT_HD probabilities_type receive(softmax_type& softmax, index_t of) const {
    exec::named_sync<256>(p_of_stage + (of & 1));
    pipeline.fence();
    probabilities_type p;
    const index_t from = lds_of.stage(of & 1) + lds_of.p_in_stage() + own_thread() * 16;
    unroll<word_quads>([&](auto i) TILEWRIGHT_INLINE_LAMBDA {
      const auto words = exec::lds_load<array<unsigned, 4>>(lds, from + i * 2048);
      for (index_t j = 0; j < 4; ++j) p.words[4 * i + j] = words[j];
    });
    const auto offsets = exec::lds_load<array<float, 2>>(lds, lds_of.offsets(of & 1) + own_thread() * 8);
    const auto& own = softmax.row_offsets().thread_buffer;
    if (exec::any(own[0] != offsets[0] || own[1] != offsets[1])) [[unlikely]]
      bring_together(softmax, p, offsets);
    return p;
  }
  TILEWRIGHT_HD static void bring_together(softmax_type& softmax, probabilities_type& p,
                                           const array<float, 2>& offsets) {
    row_values of_p;
    for (index_t r = 0; r < 2; ++r) of_p.thread_buffer[r] = offsets[r];
    softmax.scale_outputs(softmax.raise_offsets_to(of_p));
    TILEWRIGHT_UNROLL_ALL
    for (index_t w = 0; w < p.words.size(); ++w) {
      const index_t r = register_along<typename Policy::scores_distribution, rows_type, 0>(2 * w);
      const float factor = exec::exp2(offsets[r] - softmax.row_offsets().thread_buffer[r]);
      const auto pair = bit_cast<array<T, 2>>(p.words[w]);
      p.words[w] = exec::round_pair<T>(float(pair[0]) * factor, float(pair[1]) * factor);
    }
  }

  TILEWRIGHT_HD void operator()(const latent_problem& p, const decode_piece& piece, index_t share) {
    load_queries(p);
    exec::fence_async_proxy();
    sync_consumers();
    softmax_type softmax;
    add_keys(softmax, p);
    tile += p.num_tiles(lds_of.keys);
    // Located again: what only the results need is in no registers while keys are added.
    write(softmax, latent_problem(args, exec::opaque(p.first_row), exec::opaque(p.kv_head), piece, device.box_rows),
          piece, share);
  }

  TILEWRIGHT_HD void add_keys(softmax_type& softmax, const latent_problem& p) const {
    const index_range unmasked = p.seen_by_all(args.window, p.query_of(lds_of.rows - 1) + 1 - p.first_query);
    const index_t unmasked_first = max(unmasked.first, p.first), unmasked_end = min(unmasked.last, p.end);
    const index_t end = tile + p.num_tiles(lds_of.keys);
    index_t own = tile + ((tile ^ consumer) & 1);
    scores_type s{};
    TILEWRIGHT_UNROLL(1)
    for (; own < end; own += 2) {
      const index_t key = p.start + (own - tile) * lds_of.keys;
      if (own > tile) {
        const probabilities_type received = receive(softmax, own - 1);
        issue_outputs(softmax, received, own - 1);
        issue_near_scores(s, own, p.end - key);
        complete_outputs<1>(softmax, own - 1, latent_part::far);
      } else {
        issue_near_scores(s, own, p.end - key);
      }
      issue_far_scores(s, own);
      exec::wgmma_wait<0>();
      for (float& x : s.thread_buffer) exec::fence_operand(x);
      softmax.update(s, args, p, key, key < unmasked_first || key + lds_of.keys > unmasked_end,
                     [&](const auto& factors) TILEWRIGHT_INLINE_LAMBDA { softmax.scale_outputs(factors); });
      probabilities_type probabilities;
      probabilities.assign(s);
      publish(probabilities, softmax, own);
      issue_outputs(softmax, probabilities, own);
      complete_outputs<0>(softmax, own, latent_part::near);
    }
    if (tile < own && own - 1 < end) {
      const probabilities_type received = receive(softmax, own - 1);
      issue_outputs(softmax, received, own - 1);
      complete_outputs<0>(softmax, own - 1, latent_part::far);
    }
  }

  /// Sums of the exponentials of all tiles, and what O is to be multiplied by to refer to the same offsets.
  struct row_total : exponential_sum {
    float factor;
  };
  TILEWRIGHT_HD array<row_total, 2> add_sums(const softmax_type& softmax) const {
    const auto sums = softmax.row_sums();
    const auto& offsets = softmax.row_offsets().thread_buffer;
    exec::lds_store(lds, lds_of.sums(consumer) + own_thread() * 16,
                    array<float, 4>{{offsets[0], offsets[1], sums.thread_buffer[0], sums.thread_buffer[1]}});
    sync_consumers();  // both have also used Q
    const auto other = exec::lds_load<array<float, 4>>(lds, lds_of.sums(1 - consumer) + own_thread() * 16);
    array<row_total, 2> totals;
    for (index_t r = 0; r < 2; ++r) {
      totals[r] = {{offsets[r], sums.thread_buffer[r]}, 1};
      totals[r].factor = totals[r].join({other[r], other[2 + r]});
    }
    return totals;
  }

  /// O or, for a piece of a sequence, partial results in the workspace.
  TILEWRIGHT_HD void write(softmax_type& softmax, const latent_problem& p, const decode_piece& piece,
                           index_t share) const {
    array<row_total, 2> totals = add_sums(softmax);
    const index_t own_row = rows_type::calculate_index(get_partition_index<rows_type>())[0] & 63,
                  own_column = outputs_type::calculate_index(get_partition_index<outputs_type>())[1] + consumer * half;
    unroll<rows_type::num_elements>([&](auto r) TILEWRIGHT_INLINE_LAMBDA {
      const index_t row = own_row + constant(position_of_register<rows_type, r.value>[0]);
      if (p.first_row + row >= p.rows) return;
      row_total& total = totals[r];
      const bool writes_lse = own_column == 0;
      const auto store_row = [&](auto store) TILEWRIGHT_INLINE_LAMBDA {
        const float* const x = softmax.o.template get<0>().thread_buffer.data();
        TILEWRIGHT_UNROLL_ALL
        for (index_t d = 0; d < outputs_type::num_elements; d += 2) {
          if (register_along<outputs_type, rows_type, 0>(d) == r.value)
            store(own_column + position_in_tile<outputs_type>({}, d)[1], x[d], x[d + 1]);
        }
      };
      if (piece.is_whole()) {
        write_row(store_row, p, row, total, writes_lse);
      } else {
        write_partial(store_row, p, share, row, total, writes_lse);
      }
    });
  }
  template <class StoreRow>
  TILEWRIGHT_HD void write_row(StoreRow store_row, const latent_problem& p, index_t row, row_total& total,
                               bool writes_lse) const {
    const index_t head = p.head_of(row), query = p.query_of(row);
    const float with_sink = total.add(sink_of_head(args, head)), factor = total.factor * with_sink * total.inverse();
    T* const o = static_cast<T*>(args.o) + offset_of_head(args.o_strides, p.query_start, head) +
                 long_index_t(query) * args.o_strides.row;
    store_row([&](index_t column, float x, float y) TILEWRIGHT_INLINE_LAMBDA {
      exec::buffer_store(exec::make_global_buffer(o + column, 4), 0, exec::round_pair<T>(x * factor, y * factor));
    });
    if (writes_lse && args.lse != nullptr)
      exec::buffer_store(exec::make_global_buffer(args.lse + offset_of_head(args.lse_strides, p.query_start, head) +
                                                      long_index_t(query) * args.lse_strides.row,
                                                  4),
                         0, total.log_sum_exp());
  }
  template <class StoreRow>
  TILEWRIGHT_HD void write_partial(StoreRow store_row, const latent_problem& p, index_t share, index_t row,
                                   const row_total& total, bool writes_lse) const {
    const decode_workspace space(args, Policy::value_dim);
    const long_index_t to = space.row_of(args, p, share, row);
    const float factor = total.factor * total.inverse();
    float* const o = space.o + to * Policy::value_dim;
    store_row([&](index_t column, float x, float y) TILEWRIGHT_INLINE_LAMBDA {
      exec::buffer_store(exec::make_global_buffer(o + column, 8), 0, array<float, 2>{{x * factor, y * factor}});
    });
    if (writes_lse) exec::buffer_store(exec::make_global_buffer(space.lse + to, 4), 0, total.log_sum_exp());
  }
};
#endif

}  // namespace tilewright::detail
