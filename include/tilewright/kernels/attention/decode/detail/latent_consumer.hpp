// SPDX-License-Identifier: MIT
// A consumer of latent decoding on Hopper: S of 64 rows, and half of the columns of O.
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
};

/// Where everything lies in a block's LDS: stages of K, which are V, too; Q; barriers.
template <class Policy>
struct latent_lds {
  static constexpr index_t rows = 64, keys = 64, stages = 2;
  static constexpr wgmma_operand q{rows, 2, true, Policy::head_dim}, k{keys, 2, true, Policy::head_dim},
      v{Policy::value_dim / 2, 2, false, keys};
  static_assert(v.box_bytes() == k.box_bytes());

  TILEWRIGHT_HD static constexpr index_t row_bytes() { return k.num_boxes() * k.row_bytes; }
  TILEWRIGHT_HD static constexpr index_t stage(index_t i) { return i * k.bytes(); }
  TILEWRIGHT_HD static constexpr index_t queries() { return stages * k.bytes(); }
  TILEWRIGHT_HD static constexpr index_t barriers() { return queries() + q.bytes(); }
  TILEWRIGHT_HD static constexpr index_t bytes() { return barriers() + 64; }
};

/// The rows of a block and the keys of a piece: first to end - 1, from a multiple of 16 on. Waves of both warpgroups
/// have the same rows.
struct latent_problem : decode_problem {
  index_t first, end;

  TILEWRIGHT_HD latent_problem(const attention_decode_args& args, index_t row, index_t of_head,
                               const decode_piece& piece)
      : decode_problem(locate_decode(args, row, of_head, piece.batch)) {
    const index_t last_row = min(rows, first_row + 64) - 1;
    const index_range seen =
        decode_problem::seen_by_any(args.window, divide(max(last_row, 0), group) + 1 - first_query);
    const index_t of_piece = piece.of.first_key + piece.first * decode_keys;
    first = max(seen.first & -decode_keys, of_piece);
    end = max(min(of_piece + piece.count() * decode_keys, seen.last), first);
  }
  TILEWRIGHT_HD index_t query_of(index_t row) const { return decode_problem::query_of(row & 63); }
  TILEWRIGHT_HD index_t head_of(index_t row) const { return decode_problem::head_of(row & 63); }
  TILEWRIGHT_HD index_t last_key(const attention_window& w, index_t query) const {
    return min(end, decode_problem::last_key(w, query));
  }
};

#if TILEWRIGHT_HOPPER_PASS
/// One thread. Both consumers compute the same scores, so that no probability crosses between them:
///
///   wgmma   | S(i+1) = Q K(i+1)^T, O += P(i) V(i) | S(i+2) = Q K(i+2)^T, O += P(i+1) V(i+1) | ...
///   threads | wait for S(i+1) | softmax.update      | wait for S(i+2) | softmax.update        | ...
template <class Policy>
struct latent_consumer {
  using T = typename Policy::element_type;
  using args_type = typename Policy::args_type;
  using softmax_type = attention_softmax<Policy>;
  using rows_type = typename softmax_type::row_values::distribution_type;
  using outputs_type = typename Policy::outputs_distribution;
  static constexpr latent_lds<Policy> lds_of{};
  using pipeline_type = mbarrier_pipeline<lds_of.stages>;
  static constexpr index_t half = Policy::value_dim / 2, both_consumers = 1;  // a named barrier

  const args_type& args;
  exec::lds_pointer lds;
  pipeline_type pipeline;
  index_t consumer;
  typename pipeline_type::state at{};

  TILEWRIGHT_HD unsigned address(index_t offset) const { return exec::lds_address(lds) + unsigned(offset); }
  TILEWRIGHT_HD static void sync_consumers() { exec::named_sync<256>(both_consumers); }

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
      exec::lds_store(lds,
                      lds_of.queries() + box * lds_of.q.box_bytes() +
                          tma_swizzled_address(128, 128 * row + 16 * (vector - 8 * box)),
                      words);
    }
  }
  /// Zeros for keys of a step from number `count` on: nothing was copied there, or what is in the cache is no key.
  TILEWRIGHT_HD void clear_keys(index_t count) const {
    for (index_t i = exec::thread_id(); i < (lds_of.keys - count) * lds_of.k.num_boxes() * 8; i += 256) {
      const index_t row = divide(i, lds_of.k.num_boxes() * 8), vector = i - row * lds_of.k.num_boxes() * 8;
      exec::lds_store(lds,
                      lds_of.stage(at.stage) + divide(vector, 8) * lds_of.k.box_bytes() + 128 * (count + row) +
                          16 * modulo(vector, 8),
                      array<unsigned, 4>{});
    }
    exec::fence_async_proxy();
    sync_consumers();
  }

  /// Issues S (rows, keys) = Q (rows, d) K^T of the stage that is next.
  template <class Scores>
  TILEWRIGHT_HD void issue_scores(Scores& s, index_t keys_left) const {
    pipeline.consumer_wait(at);
    if (keys_left < lds_of.keys) [[unlikely]]
      clear_keys(keys_left);
    // Opaque: a loop would keep the descriptors of all steps along d in registers.
    const auto queries = unsigned(exec::opaque(index_t(address(lds_of.queries()))));
    block_gemm<Policy::scores_tile, T>(s, wgmma_tile_in_lds<lds_of.q>{queries},
                                       wgmma_tile_in_lds<lds_of.k>{address(lds_of.stage(at.stage))}, false);
  }
  /// Issues O (rows, d_v / 2) += P (rows, keys) V of a stage.
  template <class P>
  TILEWRIGHT_HD void issue_outputs(softmax_type& softmax, const P& p, index_t stage) const {
    const index_t columns = consumer * lds_of.v.bytes();
    block_gemm(softmax.o.template get<0>(), p, wgmma_tile_in_lds<lds_of.v>{address(lds_of.stage(stage) + columns)},
               true);
  }
  TILEWRIGHT_HD void complete_outputs(softmax_type& softmax, index_t stage) const {
    exec::wgmma_wait<0>();
    for (float& x : softmax.o.template get<0>().thread_buffer) exec::fence_operand(x);
    if (modulo(exec::thread_id(), 128) == 0) pipeline.consumer_release(stage);
  }

  TILEWRIGHT_HD void operator()(const latent_problem& p, const decode_piece& piece, index_t share) {
    sync_consumers();  // both have used Q of the piece before
    load_queries(p);
    exec::fence_async_proxy();
    sync_consumers();
    softmax_type softmax;
    if (p.first < p.end) add_keys(softmax, p);
    // Located again: what only the results need is in no registers while keys are added.
    write(softmax, latent_problem(args, exec::opaque(p.first_row), exec::opaque(p.kv_head), piece), piece, share);
  }

  /// At least one step.
  TILEWRIGHT_HD void add_keys(softmax_type& softmax, const latent_problem& p) {
    const index_range unmasked = p.seen_by_all(args.window, p.query_of(lds_of.rows - 1) + 1 - p.first_query);
    const index_t unmasked_end = min(unmasked.last, p.end);
    typename attention_registers<Policy>::scores s{};
    wgmma_tile_in_registers<Policy::values_tile, T> probabilities;
    const auto update = [&](index_t key, auto rescale) TILEWRIGHT_INLINE_LAMBDA {
      for (float& x : s.thread_buffer) exec::fence_operand(x);
      softmax.update(s, args, p, key, key < unmasked.first || key + lds_of.keys > unmasked_end, rescale);
    };
    issue_scores(s, p.end - p.first);
    exec::wgmma_wait<0>();
    update(p.first, [](const auto&) TILEWRIGHT_INLINE_LAMBDA {});  // O is zero
    probabilities.assign(s);
    index_t before = at.stage;  // the step whose P V has not been issued
    at.advance();
    TILEWRIGHT_UNROLL(1)
    for (index_t key = p.first + lds_of.keys; key < p.end; key += lds_of.keys) {
      issue_scores(s, p.end - key);                   // S (rows, keys) = Q (rows, d) K^T, of this step
      issue_outputs(softmax, probabilities, before);  // O (rows, d_v / 2) += P (rows, keys) V, of the step before
      exec::wgmma_wait<1>();
      bool must_rescale = false;
      typename softmax_type::row_values factors{};
      update(key, [&](const auto& f) TILEWRIGHT_INLINE_LAMBDA {
        must_rescale = true;
        factors = f;
      });
      complete_outputs(softmax, before);
      if (must_rescale) [[unlikely]]
        softmax.scale_outputs(factors);
      probabilities.assign(s);
      before = at.stage;
      at.advance();
    }
    issue_outputs(softmax, probabilities, before);
    complete_outputs(softmax, before);
  }

  /// O or, for a piece of a sequence, partial results in the workspace.
  TILEWRIGHT_HD void write(softmax_type& softmax, const latent_problem& p, const decode_piece& piece,
                           index_t share) const {
    const auto sums = softmax.row_sums();
    const index_t own_row = rows_type::calculate_index(get_partition_index<rows_type>())[0] & 63,
                  own_column = outputs_type::calculate_index(get_partition_index<outputs_type>())[1] + consumer * half;
    unroll<rows_type::num_elements>([&](auto r) TILEWRIGHT_INLINE_LAMBDA {
      const index_t row = own_row + constant(position_of_register<rows_type, r.value>[0]);
      if (p.first_row + row >= p.rows) return;
      exponential_sum total{softmax.row_offsets().thread_buffer[r], sums.thread_buffer[r]};
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
  TILEWRIGHT_HD void write_row(StoreRow store_row, const latent_problem& p, index_t row, exponential_sum& total,
                               bool writes_lse) const {
    const index_t head = p.head_of(row), query = p.query_of(row);
    const float factor = total.add(sink_of_head(args, head)) * total.inverse();
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
                                   const exponential_sum& total, bool writes_lse) const {
    const decode_workspace space(args, Policy::value_dim);
    const long_index_t to = space.row_of(args, p, share, row);
    const float factor = total.inverse();
    float* const o = space.o + to * Policy::value_dim;
    store_row([&](index_t column, float x, float y) TILEWRIGHT_INLINE_LAMBDA {
      exec::buffer_store(exec::make_global_buffer(o + column, 8), 0, array<float, 2>{{x * factor, y * factor}});
    });
    if (writes_lse) exec::buffer_store(exec::make_global_buffer(space.lse + to, 4), 0, total.log_sum_exp());
  }
};
#endif

}  // namespace tilewright::detail
