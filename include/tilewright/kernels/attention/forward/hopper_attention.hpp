// SPDX-License-Identifier: MIT
// Attention forward for Hopper: persistent blocks of a producer warpgroup and consumers that multiply with wgmma.
#pragma once

#include <tilewright/block/mma/wgmma_operand.hpp>
#include <tilewright/core/base/trap.hpp>
#include <tilewright/core/base/types.hpp>
#include <tilewright/kernels/attention/attention_args.hpp>
#include <tilewright/kernels/attention/forward/detail/attention_consumer.hpp>
#include <tilewright/launch/ready_kernel.hpp>
#include <tilewright/machine/exec/gather_bytes.hpp>
#include <tilewright/machine/exec/hopper.hpp>

#if TILEWRIGHT_HOPPER_PASS
namespace tilewright::detail {

/// From rows of k to rows of n, in the order of k that wgmma_tile_in_registers::assign has: element 16 i + 4 q + 2 h +
/// l of a row of `To` is row 16 i + 8 h + 2 q + l of `From`. Wave `wave` of `Waves` does its share. `from` and `to`:
/// bytes after `lds`.
///
/// A matrix that ldmatrix reads transposed has pairs of bytes as elements: lane 4 c + q gets rows 2 q and 2 q + 1 of
/// columns 2 c and 2 c + 1. The bytes of a column, together with those of 8 rows further, are 4 consecutive elements of
/// a row of `To`, where stmatrix writes them. It writes even columns 0 to 6 with odd ones 9 to 15 and vice versa:
/// rows of a phase are then in different banks.
template <wgmma_operand From, wgmma_operand To, index_t Waves>
TILEWRIGHT_HD void transpose_bytes(exec::lds_pointer lds, index_t from, index_t to, index_t wave) {
  static_assert(From.element_bytes == 1 && To.element_bytes == 1 && From.k_is_contiguous && To.k_is_contiguous &&
                From.rows == To.k() && To.rows == From.k() && From.rows % 16 == 0 && To.rows % 32 == 0);
  constexpr index_t columns = min(To.rows / 32, 4);  // of 32, one after the other
  const index_t lane = exec::lane_id(), matrix = divide(lane, 8), row = modulo(lane, 8);
  const unsigned even = lane < 16 ? 0x6420 : 0x7531, odd = even ^ 0x1111;
  const auto in_box = [](index_t r, index_t byte)
                          TILEWRIGHT_INLINE_LAMBDA { return tma_swizzled_address(128, 128 * r + byte); };
  TILEWRIGHT_UNROLL(1)
  for (index_t chunk = wave; chunk < From.rows / 16 * From.num_boxes(); chunk += Waves) {
    const index_t box = modulo(chunk, From.num_boxes()), k = 16 * divide(chunk, From.num_boxes());
    const auto exists = [&](index_t i)
                            TILEWRIGHT_INLINE_LAMBDA { return To.rows % 128 == 0 || 128 * box + 32 * i < To.rows; };
    array<array<unsigned, 4>, columns> words;
    unroll<columns>([&](auto i) TILEWRIGHT_INLINE_LAMBDA {
      const index_t source = in_box(k + 8 * modulo(matrix, 2) + row, 32 * i + 16 * divide(matrix, 2));
      if (exists(i)) words[i] = exec::ldmatrix_x4<true>(lds, from + box * From.box_bytes() + source);
    });
    unroll<columns>([&](auto i) TILEWRIGHT_INLINE_LAMBDA {
      const auto& w = words[i];
      const index_t column = 128 * box + 32 * i + 16 * divide(matrix, 2) + 2 * row + (modulo(matrix, 2) ^ row / 4);
      if (exists(i))
        exec::stmatrix_x4<false>(lds, to + divide(k, 128) * To.box_bytes() + in_box(column, modulo(k, 128)),
                                 {exec::permute_bytes(w[0], w[1], even), exec::permute_bytes(w[0], w[1], odd),
                                  exec::permute_bytes(w[2], w[3], even), exec::permute_bytes(w[2], w[3], odd)});
    });
  }
}

}  // namespace tilewright::detail
#endif

namespace tilewright {

namespace detail {

/// Why TMA cannot take these arguments, as an error message; nullptr: there is none.
template <class Policy>
constexpr const char* check_hopper_attention(const attention_args& args) {
  if (const char* why = check_attention(args, Policy::head_dim, Policy::value_dim, Policy::vector, Policy::vector,
                                        Policy::has_block_mask))
    return why;
  const attention_strides strides[] = {args.q_strides, args.k_strides, args.v_strides, args.o_strides};
  if (const char* why = check_tma(args, strides)) return why;
  const long_index_t units =
      long_index_t(ceil_div(args.queries, Policy::tile.queries)) * args.heads * Policy::value_parts * args.batch;
  return units > 0x7fffffff / 64 ? "there are too many rows of Q; use several launches" : nullptr;
}

/// One block. Block-wide choices of each role; see attention_consumer and attention_stages.
#if TILEWRIGHT_HOPPER_PASS
template <class Policy>
struct hopper_attention_block {
  using consumer_type = attention_consumer<Policy>;
  using stages_type = attention_stages<Policy>;
  static constexpr hopper_attention_tile tile = Policy::tile;

  const typename consumer_type::device_args& device;
  exec::lds_pointer lds;
  stages_type stages;

  /// work(problem, steps) for each unit of this block, with the steps of keys that any row sees; at least one.
  template <class Work>
  TILEWRIGHT_HD void for_each_unit(Work work) const {
    for_each_unit_of(device.order, [&](const attention_unit& unit) TILEWRIGHT_INLINE_LAMBDA {
      const attention_problem p = locate_part<Policy>(device.args, unit.row * tile.queries, unit.head, unit.batch);
      if (p.first_query >= p.queries) return;
      const index_range seen = p.seen_by_any(device.args.window, tile.queries);
      const index_t first = seen.first - modulo(seen.first, tile.keys);
      // Rows that see nothing take part in a step of keys that are masked or do not exist.
      work(p, attention_steps<Policy>{device.args, p, tile.queries, {first, max(seen.last, first + 1)}});
    });
  }

  /// One thread each: K and V; Q.
  TILEWRIGHT_HD void produce_keys() const {
    typename stages_type::cursor k_at, v_at;
    for_each_unit([&](const attention_problem& p, const auto& steps) TILEWRIGHT_INLINE_LAMBDA {
      index_t key = steps.first();
      stages.template fill<0>(k_at, device, p, key);
      TILEWRIGHT_UNROLL(1)
      for (index_t next; key < steps.keys.last; key = next) {
        next = steps.after(key);
        if (next < steps.keys.last) stages.template fill<0>(k_at, device, p, next);
        stages.template fill<stages_type::copies_of_v>(v_at, device, p, key);
      }
    });
  }
  TILEWRIGHT_HD void produce_queries() const {
    typename stages_type::q_cursor at;
    for_each_unit([&](const attention_problem& p, const auto&)
                      TILEWRIGHT_INLINE_LAMBDA { stages.fill_q(at, device, p); });
  }

  /// A wave: transposes rows of V of 8-bit elements.
  TILEWRIGHT_HD void transpose_values(index_t wave) const {
    typename stages_type::cursor from, to;
    for_each_unit([&](const attention_problem&, const auto& steps) TILEWRIGHT_INLINE_LAMBDA {
      TILEWRIGHT_UNROLL(1)
      for (index_t key = steps.first(); key < steps.keys.last; key = steps.after(key)) {
        stages.template full<2>(from.stage).wait(from.phase);
        stages.template empty<1>(to.stage).wait(to.phase ^ 1);
        transpose_bytes<stages_type::lds.rows_of_v(), stages_type::lds.v(), stages_type::transposing_waves>(
            lds, stages.template offset<2>(from.stage), stages.template offset<1>(to.stage), wave);
        exec::fence_async_proxy();
        exec::wave_sync();
        if (exec::lane_id() == 0) {
          stages.template full<1>(to.stage).arrive();
          stages.template empty<2>(from.stage).arrive();
        }
        from.advance();
        to.advance();
      }
    });
  }

  TILEWRIGHT_HD void produce(index_t wave) const {
    if (exec::lane_id() == 0 && wave == 0) produce_keys();
    if (exec::lane_id() == 0 && wave == 1) produce_queries();
    if constexpr (stages_type::lds.transposes_v()) {
      if (wave >= 2) transpose_values(wave - 2);
    }
  }
  TILEWRIGHT_HD void operator()() const {
    run_roles<tile.consumers(), tile.registers(sizeof(typename Policy::element_type))>(
        [&]() TILEWRIGHT_INLINE_LAMBDA {
          stages.init_barriers();
          for (const exec::tensor_map* map : {&device.q, &device.k, &device.v, &device.o}) exec::prefetch(*map);
        },
        [&](index_t wave) TILEWRIGHT_INLINE_LAMBDA {
          exec::grid_dependency_wait();
          produce(wave);
        },
        [&](index_t warpgroup) TILEWRIGHT_INLINE_LAMBDA {
          exec::grid_dependency_wait();
          consumer_type consume{device, stages, lds, warpgroup};
          consume.begin();
          for_each_unit([&](const attention_problem& p, const auto& steps)
                            TILEWRIGHT_INLINE_LAMBDA { consume(p, steps); });
          consume.end();
        });
  }
};
#endif

}  // namespace detail

/// For hopper_attention_policy: each block computes Policy::tile.queries rows of O of one head after the other.
template <class Policy>
  requires(arch::is_wgmma(Policy::op))
struct attention_forward<Policy> {
  using arch = typename Policy::arch;
  using args_type = typename Policy::args_type;
  using device_args = detail::hopper_attention_device_args<args_type>;
  static constexpr hopper_attention_tile tile = Policy::tile;  ///< how a block works
  static constexpr index_t block_size = tile.block_size(), lds_bytes = Policy::lds.bytes();
  static constexpr index_t blocks_at_once = tile.blocks;
  static constexpr bool overlaps_previous = true;

  static constexpr const char* check(const args_type& args) { return detail::check_hopper_attention<Policy>(args); }

  static device_args prepare(const args_type& args, const launch_facts& facts) {
    using T = typename Policy::element_type;
    device_args d{};
    const detail::attention_map_maker<T> make_map{args, facts};
    make_map(d.q, args.q, args.q_strides, Policy::head_dim, true, 64);
    make_map(d.k, args.k, args.k_strides, Policy::head_dim, false, tile.keys);
    make_map(d.v, args.v, args.v_strides, Policy::value_dim, false, tile.keys);
    detail::attention_map_maker<typename Policy::result_type>{args, facts}(d.o, args.o, args.o_strides,
                                                                           Policy::value_dim, true, 16);
    d.args = args;
    args_type parts = args;
    parts.heads *= Policy::value_parts;
    d.order = detail::make_attention_order(
        parts, tile.queries, long_index_t(args.keys) * (Policy::head_dim + Policy::value_dim) * index_t(sizeof(T)),
        facts.resident_clusters);
    d.blocks = min(d.order.num_units(), facts.resident_clusters);
    return d;
  }

  static constexpr grid_size grid(const device_args& args) { return {args.blocks, 1, 1}; }

  TILEWRIGHT_HD void operator()([[maybe_unused]] const device_args& args) const {
#if TILEWRIGHT_CPU_PASS || defined(__CUDA_ARCH_FEAT_SM90_ALL)
    constexpr index_t bytes = lds_bytes;
    const exec::lds_pointer lds = exec::lds_allocate<bytes>();
    detail::hopper_attention_block<Policy>{args, lds, { exec::lds_address(lds) }}();
#elif TILEWRIGHT_NVPTX_PASS
    detail::trap();  // compile for sm_90a
#endif
  }
};

}  // namespace tilewright
