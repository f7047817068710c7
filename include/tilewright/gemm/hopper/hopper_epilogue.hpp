// SPDX-License-Identifier: MIT
// Results on their way from accumulators to memory: each wave stages boxes of 16 rows in LDS, from where bulk copies take them
// while the next tile is computed.
#pragma once

#include <tilewright/gemm/activation.hpp>
#include <tilewright/gemm/hopper/hopper_args.hpp>
#include <tilewright/gemm/hopper/hopper_tile.hpp>

#if TILEWRIGHT_NVPTX_PASS
#include <tilewright/exec/nvptx/bulk_copy.hpp>

namespace tilewright {

/// Adds up the parts of a tile that was split along k; c holds this block's part. Parts but the last are left in memory. The last one
/// waits for them: it belongs to the block with the highest number, so the others have started before. True for the last.
template <class Policy>
TILEWRIGHT_HD bool add_up_parts(float* c, const hopper_args& args, const work_unit& unit, index_t rank,
                                index_t consumer) {
  constexpr hopper_tile tile = Policy::tile;
  constexpr index_t vectors = tile.accumulators() / 4;  // of four accumulators, for each thread
  const index_t thread = index_t(threadIdx.x % 128);
  const index_t pile = (unit.split_tile * tile.cluster() + rank) * tile.consumers + consumer;
  // A wave writes and reads 512 bytes in a row.
  float4* const parts =
      reinterpret_cast<float4*>(args.parts) + long_index_t(pile) * (unit.parts - 1) * vectors * 128 + thread;
  unsigned* const counter = args.counters + pile;
  if (unit.part < unit.parts - 1) {
    unroll<vectors>([&](auto j) TILEWRIGHT_INLINE_LAMBDA {
      __stcg(parts + (unit.part * vectors + j) * 128, make_float4(c[4 * j], c[4 * j + 1], c[4 * j + 2], c[4 * j + 3]));
    });
    exec::named_sync<128>(1 + consumer);
    if (thread == 0) exec::add_release(counter, 1);
    return false;
  }
  if (thread == 0) {
    while (exec::load_acquire(counter) != unsigned(unit.parts - 1)) {
    }
    *counter = 0;
  }
  exec::named_sync<128>(1 + consumer);
  for (index_t part = 0; part < unit.parts - 1; ++part) {
    unroll<vectors>([&](auto j) TILEWRIGHT_INLINE_LAMBDA {
      const float4 other = __ldcg(parts + (part * vectors + j) * 128);
      c[4 * j] += other.x;
      c[4 * j + 1] += other.y;
      c[4 * j + 2] += other.z;
      c[4 * j + 3] += other.w;
    });
  }
  return true;
}

/// What one wave needs to write its 16 rows of a tile: two boxes in LDS, taken in turns.
template <class Policy>
struct hopper_result_writer {
  using Result = typename Policy::result_type;
  using distribution = tile_distribution<Policy::box>;
  using addresses = tile_distribution<Policy::box_addresses>;
  static constexpr index_t columns = Policy::tile.store_n(), box_bytes = Policy::lds.box_bytes();
  static_assert(number<predict_box_store<Policy>()>::value.is_conflict_free(),
                "hopper: writing C to LDS has bank conflicts");

  TILEWRIGHT_HD static auto box_window(exec::lds_pointer boxes) {
    constexpr auto descriptor = make_lds_descriptor<Policy::lds.box_layout()>();
    return make_tile_window(make_tensor_view<address_space_enum::lds, Result>(boxes, descriptor),
                            make_tuple(number<16>{}, number<columns>{}), {}, addresses{});
  }

  const hopper_args& args;
  exec::lds_pointer boxes;
  exec::mbarrier old_has_come;
  decltype(box_window({})) window = box_window(boxes);
  index_t box = 0;
  unsigned parity = 0;

  /// C = alpha c + beta C for the rows from m0 on and Policy::tile.n columns from n0 on. The copies to memory go on when it returns.
  TILEWRIGHT_HD void operator()(const float* c, index_t m0, index_t n0, index_t batch) {
    unroll<Policy::tile.n / columns>([&](auto j) TILEWRIGHT_INLINE_LAMBDA {
      const index_t n = n0 + j * columns;
      static_distributed_tensor<float, distribution> sum;
      for (index_t d = 0; d < distribution::num_elements; ++d) sum.thread_buffer[d] = c[j * columns / 2 + d];
      finish(sum, m0, n);
      if (exec::lane_id() == 0) exec::wait_for_bulk_stores_to_read<1>();
      if (args.gemm.beta != 0) add_old(sum, m0, n, batch);
      exec::wave_sync();
      static_distributed_tensor<Result, distribution> rounded;
      for (index_t d = 0; d < distribution::num_elements; d += 2) {
        const unsigned pair = exec::round_pair<Result>(sum.thread_buffer[d], sum.thread_buffer[d + 1]);
        __builtin_memcpy(&rounded.thread_buffer[d], &pair, sizeof(pair));
      }
      store_fragments(window, rounded, box * box_bytes);
      exec::fence_async_proxy();
      exec::wave_sync();
      if (exec::lane_id() == 0) {
        exec::bulk_store(args.c, exec::lds_address(boxes) + box * box_bytes, n, m0, batch);
        exec::commit_bulk_stores();
      }
      box ^= 1;
    });
  }

  /// Scales, bias and activation, for the box at (m0, n0).
  TILEWRIGHT_HD void finish(static_distributed_tensor<float, distribution>& sum, index_t m0, index_t n0) const {
    constexpr epilogue_options options = Policy::epilogue;
    auto& x = sum.thread_buffer;
    const auto values = [&](const auto* data, auto row_stride, auto column_stride) TILEWRIGHT_INLINE_LAMBDA {
      const auto view = make_naive_tensor_view<address_space_enum::global>(data, make_tuple(args.gemm.m, args.gemm.n),
                                                                           make_tuple(row_stride, column_stride));
      return load_tile(make_tile_window(view, make_tuple(number<16>{}, number<columns>{}), {m0, n0}, distribution{}));
    };
    float factor = args.gemm.alpha;
    if constexpr (options.scale) factor *= *args.gemm.scale;
    if (factor != 1) {
      for (float& e : x) e *= factor;
    }
    if constexpr (options.row_scale) {
      const auto scale = values(args.gemm.row_scale, number<1>{}, number<0>{});
      for (index_t d = 0; d < distribution::num_elements; ++d) x[d] *= scale.thread_buffer[d];
    }
    if constexpr (options.column_scale) {
      const auto scale = values(args.gemm.column_scale, number<0>{}, number<1>{});
      for (index_t d = 0; d < distribution::num_elements; ++d) x[d] *= scale.thread_buffer[d];
    }
    if constexpr (options.bias) {
      const auto bias = values(static_cast<const Result*>(args.gemm.bias), number<0>{}, number<1>{});
      for (index_t d = 0; d < distribution::num_elements; ++d) x[d] += float(bias.thread_buffer[d]);
    }
    for (float& e : x) e = activate<options.activation>(e);
  }

  /// sum += beta C, by way of the box that sum will go to. C's old elements come in the order in which the new ones leave.
  TILEWRIGHT_HD void add_old(static_distributed_tensor<float, distribution>& sum, index_t m0, index_t n0,
                             index_t batch) {
    if (exec::lane_id() == 0) {
      old_has_come.arrive_and_expect(box_bytes);
      exec::bulk_load(exec::lds_address(boxes) + box * box_bytes, args.c, old_has_come, n0, m0, batch);
    }
    old_has_come.wait(parity);
    parity ^= 1;
    const auto old = load_fragments<arch::matrix_op::mma_m16n8k16_x2, distribution>(window, box * box_bytes);
    for (index_t d = 0; d < distribution::num_elements; ++d)
      sum.thread_buffer[d] += args.gemm.beta * float(old.thread_buffer[d]);
  }

  /// Before the block ends.
  TILEWRIGHT_HD static void wait_for_copies() {
    if (exec::lane_id() == 0) exec::wait_for_bulk_stores_to_read<0>();
  }
};

}  // namespace tilewright
#endif
