// SPDX-License-Identifier: MIT
// Small-M GEMM: C = A B for up to 16 rows of A, at the rate of memory, with B in 16 bits or in a narrow format.
#pragma once

#include <tilewright/kernels/gemm/check_gemm.hpp>
#include <tilewright/kernels/gemm/epilogue/write_result.hpp>
#include <tilewright/kernels/gemm/hopper/detail/narrow_loop.hpp>
#include <tilewright/kernels/gemm/hopper/detail/small_m_loop.hpp>
#include <tilewright/kernels/gemm/hopper/hopper_gemm_plan.hpp>
#include <tilewright/launch/ready_kernel.hpp>

namespace tilewright {

/// Persistent blocks compute the columns of a tile of C at a time, or a split of their k; splits of several blocks are
/// added in gemm_args::workspace (a hopper_gemm_workspace; without one k is not split). Policy: a small_m_policy, or a
/// narrow_policy for a B that is decoded on its way. Ready for launch().
template <class Policy>
struct small_m_gemm {
  using arch = typename Policy::arch;
  using args_type = typename Policy::args_type;
  using R = typename Policy::result_type;
  using loop = detail::small_m_loop<Policy>;                       ///< how the waves of a block load and multiply
  static constexpr block_tile tile = Policy::tile;                 ///< of C and k
  static constexpr index_t block_size = loop::block_size;          ///< threads
  static constexpr index_t lds_bytes = loop::lds_bytes;            ///< of a block
  static constexpr index_t blocks_at_once = loop::blocks_at_once;  ///< on an SM
  static constexpr index_t k_of_block = loop::k_of_block;          ///< elements along k of its waves together
  static constexpr bool overlaps_previous = true;                  ///< it may start before the previous kernel ends

  struct device_args {
    args_type args;              ///< as the caller gave them
    stream_k_schedule schedule;  ///< of blocks, in steps of k_of_block
    index_t blocks;              ///< persistent blocks
  };

  static constexpr const char* check(const args_type& g) {
    if (const char* why = check_product<Policy>(g, {Policy::vector == 1 ? 1 : 4, sizeof(R)})) return why;
    if (g.m > tile.m) return "small_m_gemm computes up to 16 rows of C; use another kernel";
    if (g.batch > 65535) return "the batch has more than 65535 problems";
    if (g.split_k != 1) return "small_m_gemm does not split k into equal parts: set split_k to 1";
    if (const char* why = loop::check(g)) return why;
    constexpr vector_alignment of_c{Policy::vector == 1 ? 1 : 4, sizeof(R)};
    if (!of_c.is_met_by(g.c, sizeof(R), g.ldc, g.batch_stride_c) || g.n % of_c.vector != 0)
      return detail::small_m_moves_vectors;
    if (long_index_t(g.ldc) * tile.m > 0x7fffffff / long_index_t(sizeof(R))) return detail::small_m_offsets;
    return nullptr;
  }

  static constexpr device_args prepare(const args_type& g, const launch_facts& facts) {
    using size = hopper_gemm_workspace;
    constexpr index_t floats_of_split = tile.m * tile.n;
    const index_t workers = facts.resident_clusters;
    const bool has_room = g.workspace && workers <= size::num_counters;
    const detail::tile_order order{1, ceil_div(g.n, tile.n), g.batch, 1};
    const stream_k_schedule s =
        detail::make_stream_k_schedule(order, ceil_div(g.k, k_of_block), workers,
                                       has_room ? index_t(size::num_floats / floats_of_split) : 0, loop::cost);
    return {g, s, min(s.num_work_tiles(), workers)};
  }
  static constexpr grid_size grid(const device_args& d) { return {d.blocks, 1, 1}; }
  /// Bytes of gemm_args::workspace; without one k is not split.
  static constexpr long_index_t workspace_bytes(const args_type&) { return hopper_gemm_workspace::bytes; }

  TILEWRIGHT_HD void operator()([[maybe_unused]] const device_args& d) const {
#if TILEWRIGHT_CPU_PASS || defined(__CUDA_ARCH_FEAT_SM90_ALL)
    const index_t block = exec::block_id().x, num_work_tiles = d.schedule.num_work_tiles();
    const exec::lds_pointer lds = exec::lds_allocate<lds_bytes>();
    exec::grid_dependency_launch();
    loop::prefetch_b(d.args, d.schedule(block));
    exec::grid_dependency_wait();
    TILEWRIGHT_UNROLL(1)
    for (index_t u = block; u < num_work_tiles; u += d.blocks) {
      const detail::work_tile work = d.schedule(u);
      if (work.is_empty()) continue;
      const auto c = loop::multiply(d.args, work, lds);
      add_up(c, d.args, work, lds);
    }
#endif
  }

#if TILEWRIGHT_HOPPER_PASS
 private:
  /// Adds up the warps' accumulators, does the stream-K fix-up (see stream_k_schedule), and writes C.
  template <class Accumulators>
  TILEWRIGHT_HD static void add_up(const Accumulators& c, const args_type& g, const detail::work_tile& work,
                                   exec::lds_pointer lds) {
    float* const partials = static_cast<float*>(g.workspace) + hopper_gemm_workspace::num_counters;
    unsigned* const counter = static_cast<unsigned*>(g.workspace) + work.split_tile;
    const bool is_last = work.is_last_split(), waits = is_last && work.splits > 1;
    if (waits && exec::thread_id() == 0) {
      exec::guarantee_reset(counter);
      exec::wait_for_count(counter, unsigned(work.splits - 1));
      *counter = 0;
    }
    auto result = loop::add_up_waves(c, lds);
    constexpr index_t vectors = result.num_elements / 4;
    const auto partial_at = [&](index_t slot, index_t vector) TILEWRIGHT_INLINE_LAMBDA {
      return partials + ((slot * vectors + vector) * block_size + exec::thread_id()) * 4;
    };
    const auto for_each_vector = [&](auto function) TILEWRIGHT_INLINE_LAMBDA {
      TILEWRIGHT_UNROLL_ALL
      for (index_t v = 0; v < vectors; ++v)
        if (loop::has_rows(v, g.m)) function(v, result.thread_buffer.data() + 4 * v);
    };
    if (!is_last) {
      for_each_vector([&](index_t v, const float* x) TILEWRIGHT_INLINE_LAMBDA {
        exec::store_to_l2(partial_at(work.slot, v), {{x[0], x[1], x[2], x[3]}});
      });
    } else {
      TILEWRIGHT_UNROLL(4)
      for (index_t peer = 1; peer < work.splits; ++peer) {
        for_each_vector([&](index_t v, float* x) TILEWRIGHT_INLINE_LAMBDA {
          const array<float, 4> other = exec::load_from_l2(partial_at(work.slot - peer, v));
          for (index_t j = 0; j < 4; ++j) x[j] += other[j];
        });
      }
    }
    if (is_last) finish(result, g, work);
    exec::block_sync();  // the accumulators have been read from LDS, and the partial sums been written
    if (!is_last && exec::thread_id() == 0) exec::add_release(counter, 1);
  }

  /// Writes the tile's columns of C.
  template <class Result>
  TILEWRIGHT_HD static void finish(Result& result, const args_type& g, const detail::work_tile& work) {
    const multi_index<2> origin{{0, work.tile.col * tile.n}};
    constexpr index_t c_vector = Policy::vector == 1 ? 1 : 4;
    const detail::output_tile<typename loop::result, R, c_vector> at{
        {g, origin, work.tile.batch, get_partition_index<typename loop::result>()}};
    static_distributed_tensor<R, typename loop::result> rounded;
    detail::finish<detail::epilogue_of<Policy>>(rounded, at, g, result);
    store_tile(at.c_window, rounded);
  }
#endif
};

}  // namespace tilewright
