// SPDX-License-Identifier: MIT
// Gradients of attention for Hopper: persistent blocks of a producer warpgroup and two or three consumers that multiply
// with wgmma.
#pragma once

#include <tilewright/core/base/trap.hpp>
#include <tilewright/kernels/attention/backward/attention_backward.hpp>
#include <tilewright/kernels/attention/backward/detail/gradient_consumer.hpp>
#include <tilewright/kernels/attention/backward/detail/wide_gradient_consumer.hpp>

namespace tilewright::detail {

/// One block. Each of its units is some rows of K and V of a head.
#if TILEWRIGHT_HOPPER_PASS
template <class Policy>
struct hopper_backward_block {
  using stages_type = gradient_stages<Policy>;
  using device_args = hopper_backward_device_args<typename Policy::args_type>;
  using consumer_type = conditional_t<Policy::lds.is_wide, wide_gradient_consumer<Policy>, gradient_consumer<Policy>>;
  static constexpr role_registers registers =
      Policy::lds.consumers == 3 ? role_registers{32, 160} : role_registers{24, 240};
  static_assert(registers.fit(1, Policy::lds.consumers));

  const device_args& device;
  stages_type stages;

  /// work(problem of the first head that shares the keys, first row of K, steps of the queries that see any of them).
  template <class Work>
  TILEWRIGHT_HD void for_each_unit(Work work) const {
    const attention_order& order = device.order;
    const index_t shared = divide(device.args.heads, device.args.kv_heads);
    for_each_unit_of(order, [&](const attention_unit& unit) TILEWRIGHT_INLINE_LAMBDA {
      const attention_problem p = locate_attention(device.args, 0, unit.head * shared, unit.batch);
      // Under a causal mask the first keys are seen by most queries.
      const index_t key = (order.longest_first ? order.rows - 1 - unit.row : unit.row) * Policy::keys;
      if (key >= p.keys) return;
      const index_t end = min(key + constant(Policy::keys), p.keys);
      const index_range rows = seen_band(device.args.window, p).queries_of(key, end - 1, p.queries);
      work(p, key, typename stages_type::steps_type(rows, {key, end}));
    });
  }
  /// fill(problem, query) for each step of each unit.
  template <class Fill>
  TILEWRIGHT_HD void for_each_step(Fill fill) const {
    for_each_unit([&](attention_problem p, index_t, auto steps) TILEWRIGHT_INLINE_LAMBDA {
      const index_t end = p.head + divide(device.args.heads, device.args.kv_heads);
      if (!steps.begin(device.args, p, end - 1)) return;
      TILEWRIGHT_UNROLL(1)
      while (p.head < end) {
        fill(p, steps.query());
        steps.find_next(device.args, p, end - 1);
        steps.advance(p);
      }
    });
  }

  /// One wave for K and V, one for Q and dO, one for the numbers of their rows.
  TILEWRIGHT_HD void produce(index_t wave) const {
    typename stages_type::cursor at;
    typename stages_type::unit_cursor unit;
    if (wave == 0 && exec::lane_id() == 0)
      for_each_unit([&](const attention_problem& p, index_t key, const auto&)
                        TILEWRIGHT_INLINE_LAMBDA { stages.fill_keys(unit, device, p, key); });
    if (wave == 1 && (Policy::has_block_mask || exec::lane_id() == 0))
      for_each_step([&](const attention_problem& p, index_t query) TILEWRIGHT_INLINE_LAMBDA {
        if (!Policy::has_block_mask || exec::lane_id() == 0) stages.fill_queries(at, device, p, query);
      });
    if (wave == 2)
      for_each_step([&](const attention_problem& p, index_t query)
                        TILEWRIGHT_INLINE_LAMBDA { stages.fill_numbers(at, device.args, p, query); });
  }

  TILEWRIGHT_HD void operator()() const {
    run_roles<Policy::lds.consumers, registers>(
        [&]() TILEWRIGHT_INLINE_LAMBDA {
          if constexpr (Policy::tile.is_deterministic) exec::guarantee_same_bits();
          stages.init_barriers();
          for (const exec::tensor_map* map : {&device.q, &device.k, &device.v, &device.d_o, &device.d_k, &device.d_v})
            exec::prefetch(*map);
        },
        [&](index_t wave) TILEWRIGHT_INLINE_LAMBDA {
          exec::grid_dependency_wait();
          produce(wave);
        },
        [&](index_t warpgroup) TILEWRIGHT_INLINE_LAMBDA {
          exec::grid_dependency_wait();
          consumer_type consume{device, stages, warpgroup};
          for_each_unit([&](const attention_problem& p, index_t key, const auto& steps)
                            TILEWRIGHT_INLINE_LAMBDA { consume(p, key, steps); });
          wait_for_boxes();
        });
  }
};
#endif

/// The second kernel: dK and dV, and dQ in float.
template <class Policy>
  requires(arch::is_wgmma(Policy::op))
struct attention_gradients<Policy> {
  using arch = typename Policy::arch;
  using args_type = typename Policy::args_type;
  using device_args = hopper_backward_device_args<args_type>;
  using followed_by = round_d_queries<Policy>;
  static constexpr index_t block_size = (1 + Policy::lds.consumers) * 128, lds_bytes = Policy::lds.bytes();

  static constexpr const char* check(const args_type& args) {
    if (const char* why =
            check_backward(args, Policy::head_dim, Policy::value_dim, Policy::vector, Policy::has_block_mask))
      return why;
    const attention_strides strides[] = {args.q_strides,   args.k_strides,   args.v_strides,
                                         args.d_o_strides, args.d_k_strides, args.d_v_strides};
    if (const char* why = check_tma(args, strides)) return why;
    return long_index_t(ceil_div(args.keys, Policy::keys)) * args.kv_heads * args.batch > 0x7fffffff / 64
               ? "there are too many rows of K; use several launches"
               : nullptr;
  }

  static device_args prepare(const args_type& args, const launch_facts& facts) {
    using T = typename Policy::element_type;
    device_args d{};
    const attention_map_maker<T> make_map{args, facts};
    make_map(d.q, args.q, args.q_strides, Policy::head_dim, true, Policy::tile.queries);
    make_map(d.k, args.k, args.k_strides, Policy::head_dim, false, Policy::keys);
    make_map(d.v, args.v, args.v_strides, Policy::value_dim, false, Policy::keys);
    make_map(d.d_o, args.d_o, args.d_o_strides, Policy::value_dim, true, Policy::tile.queries);
    make_map(d.d_k, args.d_k, args.d_k_strides, Policy::head_dim, false, Policy::lds.rows_of_stores());
    make_map(d.d_v, args.d_v, args.d_v_strides, Policy::value_dim, false, Policy::lds.rows_of_stores());
    d.args = args;
    // Heads in an order that keeps Q, dO and the accumulators of dQ in L2.
    attention_args streamed = args;
    streamed.queries = max(args.keys, 1);
    streamed.heads = streamed.kv_heads = args.kv_heads;
    const long_index_t row_bytes = Policy::head_dim * (4 + index_t(sizeof(T))) + Policy::value_dim * index_t(sizeof(T));
    d.order = make_attention_order(streamed, Policy::keys, args.queries * (args.heads / args.kv_heads) * row_bytes,
                                   facts.resident_clusters);
    // Blocks that wait for each other wait for lower numbers, which a GPU starts first.
    d.order.goes_back = !Policy::tile.is_deterministic;
    d.blocks = min(d.order.num_units(), facts.resident_clusters);
    return d;
  }

  static constexpr grid_size grid(const device_args& args) { return {args.blocks, 1, 1}; }

  TILEWRIGHT_HD void operator()([[maybe_unused]] const device_args& args) const {
#if TILEWRIGHT_CPU_PASS || defined(__CUDA_ARCH_FEAT_SM90_ALL)
    constexpr index_t bytes = lds_bytes;
    hopper_backward_block<Policy>{args, { exec::lds_allocate<bytes>() }}();
#elif TILEWRIGHT_NVPTX_PASS
    detail::trap();  // compile for sm_90a
#endif
  }
};

}  // namespace tilewright::detail

namespace tilewright {

/// The policy of the fastest kernel for an H100: wgmma_backward_policy for head dimensions of 64 to 128,
/// wide_backward_policy for those that it takes, else the portable one.
template <class T, index_t HeadDim, index_t ValueDim = HeadDim>
using hopper_backward_policy = detail::conditional_t<
    (min(HeadDim, ValueDim) >= 64 && max(HeadDim, ValueDim) <= 128), wgmma_backward_policy<T, HeadDim, ValueDim>,
    detail::conditional_t<detail::has_wide_gradients(HeadDim, ValueDim), wide_backward_policy<T, HeadDim, ValueDim>,
                          attention_backward_policy<arch::sm90, T, HeadDim, ValueDim>>>;

}  // namespace tilewright
