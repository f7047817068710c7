// SPDX-License-Identifier: MIT
// Attention forward for Hopper: persistent blocks of a producer warpgroup and consumers that multiply with wgmma.
#pragma once

#include <tilewright/attention/attention_check.hpp>
#include <tilewright/attention/attention_consumer.hpp>
#include <tilewright/launch/ready_kernel.hpp>
#include <tilewright/numeric/types.hpp>
#include <tilewright/util/trap.hpp>

namespace tilewright {

namespace detail {

/// What bulk copies cannot do with these arguments, as a sentence; nullptr when there is nothing.
template <class Policy>
constexpr const char* check_specialized_attention(const attention_args& args) {
  if (const char* why = check_attention(args, Policy::head_dim, Policy::value_dim, Policy::vector)) return why;
  for (const attention_strides* s : {&args.q_strides, &args.k_strides, &args.v_strides, &args.o_strides}) {
    if (s->batch < 0 || s->head < 0 || s->batch >= 1ll << 38 || s->head >= 1ll << 38)
      return "bulk copies need strides that are not negative and less than 2^38 elements; use attention_policy";
  }
  if ((args.query_starts && args.queries >= rows_of_map) || (args.key_starts && args.keys >= rows_of_map))
    return "a packed sequence has fewer than 2^30 rows; use attention_policy for longer ones";
  const long_index_t units = long_index_t(ceil_div(args.queries, Policy::tile.queries)) * args.heads * args.batch;
  return units > 0x7fffffff / 64 ? "there are too many rows of Q; use several launches" : nullptr;
}

/// Rows of one of the tensors as a tensor map sees them: (dimension, row, head, sequence). Packed sequences are found
/// by the sum of three coordinates: with a stride of s bytes for a row, those of dimensions 3 and 4 are s and T - s,
/// where 2^30 T is 0 modulo 2^64. So (2^30 - length + row, start + length, 2^30) is row start + row; and rows from
/// `length` on are outside of dimension 1, which ends at 2^30.
template <class T>
exec::tensor_map_request request_attention_map(const void* data, const attention_strides& strides, bool has_starts,
                                               index_t dim, index_t rows, index_t heads, index_t batch,
                                               index_t box_rows) {
  constexpr long_index_t bytes = sizeof(T), any_stride = 16, unbounded = 0x7fff0000;
  const long_index_t row_bytes = strides.row * bytes, head_bytes = heads > 1 ? strides.head * bytes : any_stride;
  exec::tensor_map_request r{const_cast<void*>(data),
                             matrix_element_v<T>,
                             {dim, max(rows, 1), heads, batch, 1},
                             {row_bytes, head_bytes, batch > 1 ? strides.batch * bytes : any_stride, any_stride},
                             {128 / bytes, box_rows}};
  if (has_starts) {
    r.lengths[1] = rows_of_map;
    r.lengths[3] = r.lengths[4] = unbounded;
    r.stride_bytes[2] = row_bytes;
    r.stride_bytes[3] = (bytes << 34) - row_bytes;
  }
  return r;
}

/// One block. Block-wide choices of each role; see attention_consumer and attention_stages.
#if TILEWRIGHT_HOPPER_PASS
template <class Policy>
struct specialized_attention_block {
  using consumer_type = attention_consumer<Policy>;
  static constexpr specialized_attention_tile tile = Policy::tile;

  const typename consumer_type::device_args& device;
  exec::lds_pointer lds;
  attention_stages<Policy> stages;

  /// work(problem, first, last) for each unit of this block, with the steps of keys [first, last) that any row sees.
  template <class Work>
  TILEWRIGHT_HD void for_each_unit(Work work) const {
    const attention_order& order = device.order;
    const index_t blocks = exec::num_blocks(), block = exec::block_id().x;
    TILEWRIGHT_UNROLL(1)
    for (index_t round = 0; round < order.num_rounds(blocks); ++round) {
      const attention_unit unit = order(block, blocks, round);
      if (unit.row < 0) continue;
      const attention_problem p = locate_attention(device.args, unit.row * tile.queries, unit.head, unit.batch);
      if (p.first_query >= p.queries) continue;
      const index_range seen = p.seen_by_any(device.args.window, tile.queries);
      const index_t first = seen.first - modulo(seen.first, tile.keys);
      // Rows that see nothing take part in a step of keys that do not exist.
      work(p, first, first + round_up(max(seen.last - first, 1), tile.keys));
    }
  }

  /// One thread each: K and V; Q.
  TILEWRIGHT_HD void produce_keys() const {
    typename attention_stages<Policy>::cursor k_at, v_at;
    for_each_unit([&](const attention_problem& p, index_t first, index_t last) TILEWRIGHT_INLINE_LAMBDA {
      TILEWRIGHT_UNROLL(1)
      for (index_t key = first; key <= last; key += tile.keys) {
        if (key < last) stages.template fill<0>(k_at, device, p, key);
        if (key > first) stages.template fill<1>(v_at, device, p, key - tile.keys);
      }
    });
  }
  TILEWRIGHT_HD void produce_queries() const {
    typename attention_stages<Policy>::q_cursor at;
    for_each_unit([&](const attention_problem& p, index_t, index_t)
                      TILEWRIGHT_INLINE_LAMBDA { stages.fill_q(at, device, p); });
  }

  TILEWRIGHT_HD void operator()() const {
    const index_t warpgroup = exec::shuffle(divide(exec::thread_id(), 128), 0);
    if (exec::thread_id() == 0) {
      stages.init_barriers();
      exec::fence_barrier_init();
      exec::prefetch(device.q);
      exec::prefetch(device.k);
      exec::prefetch(device.v);
      exec::prefetch(device.o);
    }
    exec::block_sync();
    exec::let_next_kernel_start();
    exec::wait_for_previous_kernel();
    if (warpgroup == tile.consumers()) {
      if constexpr (tile.consumers() > 1) exec::give_registers_back<tile.producer_registers()>();
      const index_t wave = modulo(exec::wave_id(), 4);
      if (exec::lane_id() == 0 && wave == 0) produce_keys();
      if (exec::lane_id() == 0 && wave == 1) produce_queries();
      exec::wave_sync();
    } else {
      if constexpr (tile.consumers() > 1) exec::take_registers<tile.consumer_registers()>();
      consumer_type consume{device, stages, lds, warpgroup};
      consume.begin();
      for_each_unit([&](const attention_problem& p, index_t first, index_t last)
                        TILEWRIGHT_INLINE_LAMBDA { consume(p, first, last); });
      consume.end();
    }
  }
};
#endif

}  // namespace detail

/// For specialized_attention_policy: each block computes Policy::tile.queries rows of O of one head after the other.
template <class Policy>
  requires(arch::is_wgmma(Policy::op))
struct attention_forward<Policy> {
  using arch = typename Policy::arch;
  using args_type = typename Policy::args_type;
  using device_args = detail::specialized_attention_args<args_type>;
  static constexpr specialized_attention_tile tile = Policy::tile;
  static constexpr index_t block_size = tile.block_size(), lds_bytes = Policy::lds.bytes();
  static constexpr bool overlaps_previous = true;

  static constexpr const char* check(const args_type& args) {
    return detail::check_specialized_attention<Policy>(args);
  }

  static device_args prepare(const args_type& args, const launch_facts& facts) {
    using T = typename Policy::element_type;
    device_args d{};
    const auto make_map = [&](exec::tensor_map& map, const void* data, const attention_strides& strides, index_t dim,
                              bool of_queries, index_t box_rows) {
      const void* const starts = of_queries ? args.query_starts : args.key_starts;
      // Without keys nothing is copied, but a map needs an address.
      facts.make_tensor_map(
          map, detail::request_attention_map<T>(data ? data : args.q, strides, starts != nullptr, dim,
                                                of_queries ? args.queries : args.keys,
                                                of_queries ? args.heads : args.kv_heads, args.batch, box_rows));
    };
    make_map(d.q, args.q, args.q_strides, Policy::head_dim, true, 64);
    make_map(d.k, args.k, args.k_strides, Policy::head_dim, false, tile.keys);
    make_map(d.v, args.v, args.v_strides, Policy::value_dim, false, tile.keys);
    make_map(d.o, args.o, args.o_strides, Policy::value_dim, true, 16);
    d.args = args;
    d.order = detail::make_attention_order(
        args, tile.queries, long_index_t(args.keys) * (Policy::head_dim + Policy::value_dim) * index_t(sizeof(T)),
        facts.resident_clusters);
    d.blocks = min(d.order.num_units(), facts.resident_clusters);
    return d;
  }

  static constexpr grid_size grid(const device_args& args) { return {args.blocks, 1, 1}; }

  TILEWRIGHT_HD void operator()([[maybe_unused]] const device_args& args) const {
#if TILEWRIGHT_CPU_PASS || defined(__CUDA_ARCH_FEAT_SM90_ALL)
    constexpr index_t bytes = lds_bytes;
    const exec::lds_pointer lds = exec::lds_allocate<bytes>();
    detail::specialized_attention_block<Policy>{args, lds, { exec::lds_address(lds) }}();
#elif TILEWRIGHT_NVPTX_PASS
    detail::trap();  // compile for sm_90a
#endif
  }
};

}  // namespace tilewright
