// SPDX-License-Identifier: MIT
// A consumer of latent decoding on Hopper: S and P of every other tile of keys, and half of the columns of O.
#pragma once

#include <tilewright/block/mma/wgmma_gemm.hpp>
#include <tilewright/kernels/attention/decode/detail/decode_combine.hpp>
#include <tilewright/kernels/attention/detail/attention_boxes.hpp>
#include <tilewright/kernels/attention/detail/attention_order.hpp>
#include <tilewright/kernels/attention/forward/hopper_attention_policy.hpp>
#include <tilewright/machine/exec/hopper.hpp>

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
  TILEWRIGHT_HD static constexpr index_t barriers() { return sums(2); }
  static constexpr index_t num_barriers = stages * (k.num_boxes() + 3);  ///< a box: full; a part: empty; P: there
  TILEWRIGHT_HD static constexpr index_t bytes() { return barriers() + 8 * num_barriers; }
};

/// Tiles of keys are numbered through all pieces of a block. That of an even number belongs to consumer 0 and stage 0.
/// Its half of V that its owner multiplies, near, is filled and released before the rest of the row, far.
enum class latent_part : index_t { near, far };

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
  /// All lanes of a wave: one arrival, after what they all did.
  TILEWRIGHT_HD static void arrive(exec::mbarrier barrier) {
    exec::wave_sync();
    if (exec::lane_id() == 0) barrier.arrive();
  }

 private:
  static constexpr index_t arrivals_of_box = latent_converts<Policy> ? 4 : latent_gathers<Policy> ? 64 : 1;
  TILEWRIGHT_HD exec::mbarrier at(index_t i) const { return {barriers + unsigned(i) * exec::mbarrier::bytes}; }
};

/// One thread. Consumers compute S and P of alternate tiles, and each a half of the columns of O, of all tiles; P of a
/// tile reaches the other consumer through LDS. Each multiplies its own P first, so S and P of no tile wait for those
/// of another:
///
///   consumer 0 | S(0) | softmax P(0) | O += P(0) V(0) | O += P(1) V(1) | S(2) | softmax P(2) | ...
///   consumer 1 | S(1) | softmax P(1) | O += P(1) V(1) | O += P(0) V(0) | S(3) | softmax P(3) | ...
///
/// Loads replace the half of V that a consumer has multiplied by its own P while it multiplies the other one.
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
  enum named_barrier : index_t { both_consumers = 1, own_warpgroup = 2 };

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

  /// Issues S (rows, keys) = Q (rows, d) K^T of an own tile, from its near columns on.
  TILEWRIGHT_HD void issue_scores(scores_type& s, index_t of, index_t keys_left) const {
    if (keys_left < lds_of.keys) [[unlikely]] {
      for (index_t box = 0; box < pipeline_type::boxes; ++box) pipeline.wait_for_box(of, box);
      clear_keys(of, keys_left);
    }
    constexpr block_tile t{64, 64, 64, 4, 1, Policy::op};
    constexpr index_t half_boxes = lds_of.half_boxes;
    const index_t k = index_t(address(lds_of.stage(consumer)));
    unroll<pipeline_type::boxes>([&](auto i) TILEWRIGHT_INLINE_LAMBDA {
      const index_t box = i < half_boxes       ? i + consumer * half_boxes
                          : i < 2 * half_boxes ? i - consumer * half_boxes
                                               : i.value;
      pipeline.wait_for_box(of, box);
      block_gemm<t, T>(s, wgmma_tile_in_lds<lds_of.box>{queries_address() + unsigned(box * lds_of.box_bytes)},
                       wgmma_tile_in_lds<lds_of.box>{unsigned(k + box * lds_of.box_bytes)}, i > 0);
    });
  }
  /// Opaque: a loop would keep the descriptors of all steps along d in registers.
  TILEWRIGHT_HD unsigned queries_address() const { return unsigned(exec::opaque(index_t(address(lds_of.queries())))); }

  /// Issues O (rows, d_v / 2) += P (rows, keys) V of a tile.
  TILEWRIGHT_HD void issue_outputs(softmax_type& softmax, const probabilities_type& p, index_t of) const {
    const unsigned columns = unsigned(consumer * lds_of.half_bytes);
    block_gemm(softmax.o.template get<0>(), p, wgmma_tile_in_lds<lds_of.v>{address(lds_of.stage(of & 1)) + columns},
               true);
  }
  /// Waits until O has the product, then releases the columns that it was of.
  TILEWRIGHT_HD void complete_outputs(softmax_type& softmax, index_t of, latent_part part) const {
    exec::wgmma_wait<0>();
    for (float& x : softmax.o.template get<0>().thread_buffer) exec::fence_operand(x);
    pipeline.arrive(pipeline.empty(of, part));
  }

  /// P of a tile, and the offsets that it refers to.
  struct published {
    probabilities_type p;
    array<float, 2> offsets;
  };
  TILEWRIGHT_HD index_t p_of(index_t of) const {
    return lds_of.stage(of & 1) + lds_of.p_in_stage() + own_thread() * 16;
  }
  TILEWRIGHT_HD index_t offsets_of(index_t of) const { return lds_of.offsets(of & 1) + own_thread() * 8; }
  /// P of an own tile for the same thread of the other consumer.
  TILEWRIGHT_HD void publish(const probabilities_type& p, const softmax_type& softmax, index_t of) const {
    unroll<word_quads>([&](auto i) TILEWRIGHT_INLINE_LAMBDA {
      exec::lds_store(lds, p_of(of) + i * 2048,
                      array<unsigned, 4>{{p.words[4 * i], p.words[4 * i + 1], p.words[4 * i + 2], p.words[4 * i + 3]}});
    });
    const auto& offsets = softmax.row_offsets().thread_buffer;
    exec::lds_store(lds, offsets_of(of), array<float, 2>{{offsets[0], offsets[1]}});
    pipeline.arrive(pipeline.p_is_there(of));
  }
  TILEWRIGHT_HD published receive(index_t of) const {
    pipeline.p_is_there(of).wait(pipeline.phase(of));
    published received;
    unroll<word_quads>([&](auto i) TILEWRIGHT_INLINE_LAMBDA {
      const auto words = exec::lds_load<array<unsigned, 4>>(lds, p_of(of) + i * 2048);
      for (index_t j = 0; j < 4; ++j) received.p.words[4 * i + j] = words[j];
    });
    received.offsets = exec::lds_load<array<float, 2>>(lds, offsets_of(of));
    exec::fence_async_proxy();  // the producer writes K there later
    return received;
  }
  /// O += P V of the other consumer's tile; P becomes relative to the own offsets.
  TILEWRIGHT_HD void add_received(softmax_type& softmax, published& received, index_t of) const {
    const auto& own = softmax.row_offsets().thread_buffer;
    if (exec::any(own[0] != received.offsets[0] || own[1] != received.offsets[1])) [[unlikely]]
      bring_together(softmax, received.p, received.offsets);
    issue_outputs(softmax, received.p, of);
    complete_outputs(softmax, of, latent_part::far);
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
    index_t own = tile + ((tile ^ consumer) & 1), other = 2 * tile + 1 - own;
    scores_type s{};
    TILEWRIGHT_UNROLL(1)
    for (; own < end; own += 2, other += 2) {
      const index_t key = p.start + (own - tile) * lds_of.keys;
      issue_scores(s, own, p.end - key);
      exec::wgmma_wait<0>();
      for (float& x : s.thread_buffer) exec::fence_operand(x);
      softmax.update(s, args, p, key, key < unmasked_first || key + lds_of.keys > unmasked_end,
                     [&](const auto& factors) TILEWRIGHT_INLINE_LAMBDA { softmax.scale_outputs(factors); });
      probabilities_type probabilities;
      probabilities.assign(s);
      publish(probabilities, softmax, own);
      issue_outputs(softmax, probabilities, own);
      published received{};
      if (other < end) received = receive(other);
      complete_outputs(softmax, own, latent_part::near);
      if (other < end) add_received(softmax, received, other);
    }
    if (other < end) {
      published received = receive(other);
      add_received(softmax, received, other);
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
