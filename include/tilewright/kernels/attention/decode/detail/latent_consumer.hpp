// SPDX-License-Identifier: MIT
// A consumer of latent decoding on Hopper: S and P of every other tile of keys, and half of the columns of O.
#pragma once

#include <tilewright/block/mma/wgmma_gemm.hpp>
#include <tilewright/kernels/attention/decode/detail/decode_combine.hpp>
#include <tilewright/kernels/attention/decode/detail/decode_operands.hpp>
#include <tilewright/kernels/attention/decode/detail/latent_stages.hpp>
#include <tilewright/kernels/attention/detail/attention_boxes.hpp>
#include <tilewright/kernels/attention/detail/attention_order.hpp>
#include <tilewright/kernels/attention/forward/hopper_attention_policy.hpp>

namespace tilewright::detail {

#if TILEWRIGHT_HOPPER_PASS
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
  using element = latent_element<Policy>;
  using args_type = typename Policy::args_type;
  using softmax_type = attention_softmax<Policy>;
  using row_values = typename softmax_type::row_values;
  using rows_type = typename row_values::distribution_type;
  using outputs_type = typename Policy::outputs_distribution;
  using scores_type = typename attention_registers<Policy>::scores;
  using probabilities_type = wgmma_tile_in_registers<Policy::values_tile, element>;
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
  index_t tile = 0;       // the next piece's first
  float query_scale = 1;  // Q is that times what is in LDS

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
      const index_t row = divide(i, vectors), vector = i - row * vectors;
      array<unsigned, 4> words{};
      if (p.first_row + row < p.rows)
        words = exec::buffer_load<array<unsigned, 4>>(
            from, (offset_of_head(args.q_strides, p.query_start, p.head_of(row)) +
                   long_index_t(p.query_of(row)) * args.q_strides.row + vector * 8) *
                      long_index_t(sizeof(T)));
      exec::lds_store(lds, query_vector(i), words);
    }
  }
  /// Where vector i of Q lies: 16 bytes of a row.
  TILEWRIGHT_HD static index_t query_vector(index_t i) {
    constexpr index_t vectors = Policy::head_dim / 8;
    const index_t row = divide(i, vectors), vector = i - row * vectors, box = divide(vector, 8);
    return lds_of.queries() + box * lds_of.box_bytes + tma_swizzled_address(128, 128 * row + 16 * (vector - 8 * box));
  }
  /// Q in LDS becomes half_t, times the power of two that brings the largest element of the block to 2^13 to 2^14:
  /// those below 2^-27 of it lose bits. A thread converts what it loaded.
  TILEWRIGHT_HD void convert_queries() {
    constexpr index_t end = lds_of.rows * Policy::head_dim / 8;
    float largest = 0x1p-100f;
    for (index_t i = exec::thread_id(); i < end; i += 256) {
      for (const T x : exec::lds_load<array<T, 8>>(lds, query_vector(i)))
        if (exec::abs(float(x)) < 0x1.fep127f) largest = exec::max(largest, exec::abs(float(x)));
    }
    unroll<5>([&](auto i) TILEWRIGHT_INLINE_LAMBDA {
      largest = exec::max(largest, exec::shuffle_xor<(1 << i.value)>(largest));
    });
    if (exec::lane_id() == 0) exec::lds_store(lds, lds_of.offsets(0) + exec::wave_id() * 4, largest);
    sync_consumers();
    for (const float x : exec::lds_load<array<float, 4>>(lds, lds_of.offsets(0))) largest = exec::max(largest, x);
    for (const float x : exec::lds_load<array<float, 4>>(lds, lds_of.offsets(0) + 16)) largest = exec::max(largest, x);
    const float factor = 0x1p13f * reciprocal_power_of_two(largest);
    query_scale = 1 / factor;
    for (index_t i = exec::thread_id(); i < end; i += 256) {
      const auto x = exec::lds_load<array<T, 8>>(lds, query_vector(i));
      array<unsigned, 4> words;
      for (index_t j = 0; j < 4; ++j)
        words[j] = exec::round_pair<element>(float(x[2 * j]) * factor, float(x[2 * j + 1]) * factor);
      exec::lds_store(lds, query_vector(i), words);
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
    const index_t k = index_t(address(lds_of.stage(consumer)));
    unroll<pipeline_type::boxes>([&](auto i) TILEWRIGHT_INLINE_LAMBDA {
      const index_t box = lds_of.box_of(consumer, i);
      pipeline.wait_for_box(of, box);
      block_gemm<t, element>(s, wgmma_tile_in_lds<lds_of.box>{queries_address() + unsigned(box * lds_of.box_bytes)},
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
    pipeline.release(of, part);
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
  /// O += P V of the other consumer's tile.
  TILEWRIGHT_HD void add_received(softmax_type& softmax, published& received, index_t of) const {
    bring_together(softmax, received);
    issue_outputs(softmax, received.p, of);
    complete_outputs(softmax, of, latent_part::far);
  }
  /// P of the other consumer and O come to the same offsets.
  TILEWRIGHT_HD static void bring_together(softmax_type& softmax, published& received) {
    const auto& own = softmax.row_offsets().thread_buffer;
    if (!exec::any(own[0] != received.offsets[0] || own[1] != received.offsets[1])) [[likely]]
      return;
    row_values offsets, factors;
    for (index_t r = 0; r < 2; ++r) offsets.thread_buffer[r] = received.offsets[r];
    softmax.scale_outputs(softmax.raise_offsets_to(offsets));
    for (index_t r = 0; r < 2; ++r)
      factors.thread_buffer[r] = exec::exp2(received.offsets[r] - softmax.row_offsets().thread_buffer[r]);
    multiply(received.p, factors);
  }
  TILEWRIGHT_HD static void multiply(probabilities_type& p, const row_values& factors) {
    TILEWRIGHT_UNROLL_ALL
    for (index_t w = 0; w < p.words.size(); ++w) {
      const float factor =
          factors.thread_buffer[register_along<typename Policy::scores_distribution, rows_type, 0>(2 * w)];
      const auto pair = bit_cast<array<element, 2>>(p.words[w]);
      p.words[w] = exec::round_pair<element>(float(pair[0]) * factor, float(pair[1]) * factor);
    }
  }

  TILEWRIGHT_HD void operator()(const latent_problem& p, const decode_piece& piece, index_t share) {
    load_queries(p);
    if constexpr (!__is_same(T, element)) convert_queries();
    exec::fence_async_proxy();  // wgmma reads Q
    sync_consumers();
    softmax_type softmax;
    add_keys(softmax, p);
    tile += p.num_tiles(lds_of.keys);
    // Located again: what only the results need is in no registers while keys are added.
    write(softmax, latent_problem(args, exec::opaque(p.first_row), exec::opaque(p.kv_head), piece, device.box_rows),
          piece, share);
  }

  /// The scales of an own tile's keys.
  struct key_scales {
    using distribution = typename Policy::scores_distribution;
    exec::lds_pointer lds;
    index_t from;        // of the thread's first column, in LDS
    float exponent = 0;  // log2 of the largest one, at least -60

    /// Of the columns of registers d and d + 1.
    TILEWRIGHT_HD array<float, 2> of(index_t d) const {
      return exec::lds_load<array<float, 2>>(lds, from + 4 * position_in_tile<distribution>({}, d)[1]);
    }
    TILEWRIGHT_HD void multiply(index_t d, float* x) const {
      const array<float, 2> scales = of(d);
      x[0] *= scales[0];
      x[1] *= scales[1];
    }
  };
  /// S becomes that of Q and K as they are.
  TILEWRIGHT_HD key_scales multiply_by_scales(scores_type& s) const {
    using distribution = typename key_scales::distribution;
    const index_t column = distribution::calculate_index(get_partition_index<distribution>())[1];
    key_scales scales{lds, lds_of.scales(consumer) + 4 * column};
    float largest = 0x1p-60f;
    TILEWRIGHT_UNROLL_ALL
    for (index_t d = 0; d < scores_type::num_elements; d += 2) {
      const array<float, 2> factors = scales.of(d);
      s.thread_buffer[d] *= factors[0] * query_scale;
      s.thread_buffer[d + 1] *= factors[1] * query_scale;
      largest = exec::max(largest, exec::max(exec::abs(factors[0]), exec::abs(factors[1])));
    }
    unroll<2>([&](auto i) TILEWRIGHT_INLINE_LAMBDA {  // the lanes with other columns
      largest = exec::max(largest, exec::shuffle_xor<(1 << i.value)>(largest));
    });
    scales.from = lds_of.scales(consumer, true) + 4 * column;
    scales.exponent = exec::log2(largest);
    return scales;
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
      const bool is_masked = key < unmasked_first || key + lds_of.keys > unmasked_end;
      const auto rescale = [&](const auto& factors) TILEWRIGHT_INLINE_LAMBDA { softmax.scale_outputs(factors); };
      if constexpr (latent_scales_scores<Policy>) {
        softmax.update(s, args, p, key, is_masked, rescale, multiply_by_scales(s));
      } else {
        softmax.update(s, args, p, key, is_masked, rescale);
      }
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
