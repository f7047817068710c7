// SPDX-License-Identifier: MIT
// Results on their way from accumulators to memory: each wave stages boxes of 16 rows in LDS, from where bulk copies take them
// while the next tile is computed.
#pragma once

#include <tilewright/gemm/hopper/hopper_args.hpp>
#include <tilewright/gemm/hopper/hopper_tile.hpp>

#if TILEWRIGHT_NVPTX_PASS
#include <tilewright/exec/nvptx/bulk_copy.hpp>

namespace tilewright {

/// Adds up the accumulators of a cluster's blocks, which share a tile of C: block s gets the sum of columns s * result_n and on, in the
/// accumulators where they were. All threads of all blocks must call it; stages in LDS must not be in use.
template <class Policy>
TILEWRIGHT_HD void add_up_in_cluster(float* c, unsigned stages, index_t consumer) {
  constexpr hopper_tile tile = Policy::tile;
  constexpr index_t each = tile.result_n() / 2;  // accumulators of a thread that one block adds up
  static_assert((tile.split_k - 1) * each * 4 * 128 * tile.consumers() <= Policy::lds.boxes_offset());
  const index_t rank = exec::block_of_cluster();
  // Four accumulators of a thread after those of the thread before, so that a wave writes and reads 512 bytes in a row.
  const unsigned mine = stages + consumer * (tile.split_k - 1) * each * 4 * 128 + index_t(threadIdx.x % 128) * 16;
  const auto place = [&](index_t sender, index_t i) { return mine + (sender * each + i) * 4 * 128; };
  exec::cluster_sync();
  unroll<tile.split_k>([&](auto s) TILEWRIGHT_INLINE_LAMBDA {
    if (s == rank) return;
    unroll<each / 4>([&](auto j) TILEWRIGHT_INLINE_LAMBDA {
      const float* v = c + s * each + j * 4;
      exec::lds_store_at(s, place(rank - (rank > s), j * 4), v[0], v[1], v[2], v[3]);
    });
  });
  exec::cluster_sync();
  unroll<tile.split_k>([&](auto s) TILEWRIGHT_INLINE_LAMBDA {
    if (s != rank) return;
    for (index_t sender = 0; sender < tile.split_k - 1; ++sender) {
      unroll<each / 4>([&](auto j) TILEWRIGHT_INLINE_LAMBDA {
        float* v = c + s * each + j * 4;
        const array<float, 4> other = exec::lds_load_floats(place(sender, j * 4));
        unroll<4>([&](auto i) TILEWRIGHT_INLINE_LAMBDA { v[i] += other[i]; });
      });
    }
  });
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

  /// C = alpha c + beta C for the rows from m0 on and Policy::tile.result_n() columns from n0 on. The copies to memory go on when it returns.
  TILEWRIGHT_HD void operator()(const float* c, index_t m0, index_t n0, index_t batch) {
    unroll<Policy::tile.result_n() / columns>([&](auto j) TILEWRIGHT_INLINE_LAMBDA {
      const index_t n = n0 + j * columns;
      static_distributed_tensor<float, distribution> sum;
      for (index_t d = 0; d < distribution::num_elements; ++d)
        sum.thread_buffer[d] = c[j * columns / 2 + d];
      if (args.gemm.alpha != 1) {
        for (float& x : sum.thread_buffer) x *= args.gemm.alpha;
      }
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
