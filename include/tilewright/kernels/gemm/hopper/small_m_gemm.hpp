// SPDX-License-Identifier: MIT
// Small-M GEMM: C = A B for up to 16 rows of A, at the rate of memory: each warp streams B through registers.
#pragma once

#include <tilewright/block/mma/block_gemm.hpp>
#include <tilewright/kernels/gemm/check_gemm.hpp>
#include <tilewright/kernels/gemm/epilogue/write_result.hpp>
#include <tilewright/kernels/gemm/hopper/hopper_gemm_plan.hpp>
#include <tilewright/kernels/gemm/hopper/small_m_policy.hpp>
#include <tilewright/launch/ready_kernel.hpp>
#include <tilewright/machine/exec/hopper.hpp>
#include <tilewright/tile/copy/shuffle_tile.hpp>

namespace tilewright {

/// Persistent blocks compute 64 columns of C at a time, or a split of their k: warps take every other k step and add up
/// in LDS; splits of several blocks are added in gemm_args::workspace (a hopper_gemm_workspace; without one k is not
/// split). Ready for launch().
template <class Policy>
struct small_m_gemm {
  using arch = typename Policy::arch;
  using args_type = gemm_args;
  using T = typename Policy::element_type;
  using R = typename Policy::result_type;
  using tiles = detail::small_m_tiles<Policy>;
  static constexpr block_tile tile = Policy::tile;  ///< of C and k, of a wave
  /// Threads and LDS of a block; elements along k of its waves together.
  static constexpr index_t block_size = Policy::waves * 32, lds_bytes = Policy::waves * tiles::wave_bytes,
                           blocks_at_once = 2, k_of_block = Policy::waves * tile.k;
  /// Whether A is contiguous along k; whether vectors of B are unaligned and shifted in registers.
  static constexpr bool overlaps_previous = true, a_along_k = Policy::a_major == operand_major::k,
                        shifts = Policy::vector == 1;

  struct device_args {
    gemm_args args;              ///< as the caller gave them
    stream_k_schedule schedule;  ///< of blocks, in steps of k_of_block
    index_t blocks;              ///< persistent blocks
  };

  static constexpr const char* check(const args_type& g) {
    if (const char* why = check_product<Policy>(g, {Policy::vector == 1 ? 1 : 4, sizeof(R)})) return why;
    if (g.m > tile.m) return "small_m_gemm computes up to 16 rows of C; use another kernel";
    if (g.batch > 65535) return "the batch has more than 65535 problems";
    if (g.split_k != 1) return "small_m_gemm does not split k into equal parts: set split_k to 1";
    constexpr long_index_t bytes = sizeof(T);
    constexpr vector_alignment of_a{Policy::a_vector, bytes}, of_b{Policy::vector, bytes},
        of_c{Policy::vector == 1 ? 1 : 4, sizeof(R)};
    if (!of_a.is_met_by(g.a, bytes, g.lda, g.batch_stride_a) || !of_b.is_met_by(g.b, bytes, g.ldb, g.batch_stride_b) ||
        !of_c.is_met_by(g.c, sizeof(R), g.ldc, g.batch_stride_c) ||
        (Policy::a_major == operand_major::k ? g.k : g.m) % Policy::a_vector != 0 ||
        (Policy::b_major == operand_major::k ? g.k : g.n) % Policy::vector != 0 || g.n % of_c.vector != 0)
      return "small_m_gemm moves whole vectors: pointers, contiguous lengths, leading dimensions and batch strides "
             "must be multiples of its vectors; use the policy with vectors of 1";
    const long_index_t limit = 0x7fffffff / bytes;
    const auto span = [&](bool along_k, long_index_t ld, index_t rows) {
      return along_k ? ld * rows + 2 * k_of_block : ld * 2 * k_of_block + rows;
    };
    if (span(Policy::a_major == operand_major::k, g.lda, tile.m) > limit ||
        span(Policy::b_major == operand_major::k, g.ldb, tile.n) > limit || long_index_t(g.ldc) * tile.m > limit)
      return "a leading dimension is so large that a block would need offsets of 2 GiB or more";
    return nullptr;
  }

  static constexpr device_args prepare(const args_type& g, const launch_facts& facts) {
    using size = hopper_gemm_workspace;
    constexpr index_t floats_of_split = tile.m * tile.n;
    const index_t workers = facts.resident_clusters;
    const bool has_room = g.workspace && workers <= size::num_counters;
    const detail::tile_order order{1, ceil_div(g.n, tile.n), g.batch, 1};
    // Bytes of B take the time, not waiting: no split is longer than others.
    const stream_k_schedule s = detail::make_stream_k_schedule(
        order, ceil_div(g.k, k_of_block), workers, has_room ? index_t(size::num_floats / floats_of_split) : 0,
        {.k_tile = 1, .wait = 0, .read = 0, .change = 0, .crossing = 1});
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
    if constexpr (Policy::vector > 1) prefetch_b(d.args, d.schedule(block));
    exec::grid_dependency_wait();
    TILEWRIGHT_UNROLL(1)
    for (index_t u = block; u < num_work_tiles; u += d.blocks) {
      const detail::work_tile work = d.schedule(u);
      if (work.is_empty()) continue;
      static_distributed_tensor<float, typename tiles::sums> sums{};
      multiply(sums, d.args, work);
      add_up(sums, d.args, work, lds);
    }
#endif
  }

#if TILEWRIGHT_HOPPER_PASS
 private:
  /// Asks for the first elements of B of the block's work tile, while the previous kernel may still run. A hint: should
  /// that kernel write B, L2 has what it wrote.
  TILEWRIGHT_HD static void prefetch_b(const gemm_args& g, const detail::work_tile& work) {
    constexpr index_t ahead = 2 * k_of_block;
    if (work.is_empty()) return;
    const index_t k0 = work.k_begin * k_of_block, n0 = work.tile.col * tile.n, thread = exec::thread_id();
    const index_t k = min(min(g.k, work.k_end * k_of_block) - k0, ahead), n = min(g.n - n0, tile.n);
    const T* const b = static_cast<const T*>(g.b) + work.tile.batch * g.batch_stride_b;
    if constexpr (Policy::b_major == operand_major::k) {
      if (thread < n) exec::prefetch_to_l2(b + long_index_t(n0 + thread) * g.ldb + k0, k * index_t(sizeof(T)));
    } else {
      for (index_t row = thread; row < k; row += block_size)
        exec::prefetch_to_l2(b + long_index_t(k0 + row) * g.ldb + n0, n * index_t(sizeof(T)));
    }
  }
  /// The window of an operand whose tiles a wave loads. Major: which dimension is contiguous.
  template <operand_major Major, index_t Vector, class Distribution>
  TILEWRIGHT_HD static auto operand_window(const T* data, index_t rows, index_t k, index_t ld,
                                           const multi_index<2>& origin) {
    constexpr auto lengths = make_tuple(number<Distribution::x_lengths[0]>{}, number<Distribution::x_lengths[1]>{});
    const auto window = [&](const auto& strides) TILEWRIGHT_INLINE_LAMBDA {
      return make_tile_window(
          make_naive_tensor_view<address_space_enum::global>(data, make_tuple(rows, k), strides, number<Vector>{}),
          lengths, origin, Distribution{});
    };
    if constexpr (Major == operand_major::k) {
      return window(make_tuple(ld, number<1>{}));
    } else {
      return window(make_tuple(number<1>{}, ld));
    }
  }

  /// Adds the warp's k steps of a work tile to sums. Other waves have loads in flight while one multiplies.
  template <class Sums>
  TILEWRIGHT_HD static void multiply(Sums& sums, const gemm_args& g, const detail::work_tile& work) {
    const index_t end = min(g.k, work.k_end * k_of_block);
    index_t k = work.k_begin * k_of_block + exec::wave_id() * tile.k;
    if (k >= end) return;
    const T* const a_data = static_cast<const T*>(g.a) + work.tile.batch * g.batch_stride_a;
    const T* const b_data = static_cast<const T*>(g.b) + work.tile.batch * g.batch_stride_b;
    const index_t n0 = work.tile.col * tile.n;
    auto a =
        operand_window<Policy::a_major, Policy::a_vector, typename tiles::a_in_memory>(a_data, g.m, end, g.lda, {0, k});
    auto b =
        operand_window<Policy::b_major, Policy::vector, typename tiles::b_in_memory>(b_data, g.n, end, g.ldb, {n0, k});
    TILEWRIGHT_UNROLL(1)
    for (; k < end; k += k_of_block) {
      const auto a_tile = [&] {
        if constexpr (shifts && a_along_k)
          return detail::load_shifted<true, T, typename tiles::a_in_memory>(a_data, g.m, end, g.lda, 0, k);
        else
          return load_tile(a);
      }();
      const auto b_tile = [&] {
        if constexpr (shifts)
          return detail::load_shifted<tiles::b_along_k, T, typename tiles::b_in_memory>(b_data, g.n, end, g.ldb, n0, k);
        else
          return load_tile(b);
      }();
      move_tile_window(a, {0, k_of_block});
      move_tile_window(b, {0, k_of_block});
      block_gemm<tile>(sums, relayout<T>(a_tile, typename tiles::a_operand{}),
                       relayout<T>(b_tile, typename tiles::b_operand{}));
    }
  }

  /// Adds up the sums of warps, does the stream-K fix-up (see stream_k_schedule), and writes C.
  template <class Sums>
  TILEWRIGHT_HD static void add_up(const Sums& sums, const gemm_args& g, const detail::work_tile& work,
                                   exec::lds_pointer lds) {
    float* const partials = static_cast<float*>(g.workspace) + hopper_gemm_workspace::num_counters;
    unsigned* const counter = static_cast<unsigned*>(g.workspace) + work.split_tile;
    const bool is_last = work.is_last_split(), waits = is_last && work.splits > 1;
    if (waits && exec::thread_id() == 0) {
      exec::wait_for_count(counter, unsigned(work.splits - 1));
      *counter = 0;
    }
    const auto partial_at = [&](index_t slot) TILEWRIGHT_INLINE_LAMBDA {
      return partials + (slot * block_size + exec::thread_id()) * 4;
    };
    auto result = add_up_waves(sums, lds);
    float* const x = result.thread_buffer.data();
    if (!is_last) {
      exec::store_to_l2(partial_at(work.slot), {{x[0], x[1], x[2], x[3]}});
    } else {
      TILEWRIGHT_UNROLL(4)
      for (index_t peer = 1; peer < work.splits; ++peer) {
        const array<float, 4> other = exec::load_from_l2(partial_at(work.slot - peer));
        for (index_t j = 0; j < 4; ++j) x[j] += other[j];
      }
      finish(result, g, work);
    }
    exec::block_sync();  // the sums have been read from LDS, and the partial sums been written
    if (!is_last && exec::thread_id() == 0) exec::add_release(counter, 1);
  }

  template <class Sums>
  TILEWRIGHT_HD static auto add_up_waves(const Sums& sums, exec::lds_pointer lds) {
    using result = typename tiles::result;
    constexpr auto layout = make_lds_descriptor<tiles::layout.layout>();
    constexpr auto lengths = make_tuple(number<16>{}, number<tile.n>{});
    const auto view = [&](index_t wave) TILEWRIGHT_INLINE_LAMBDA {
      return make_tensor_view<address_space_enum::lds, float>(lds + wave * tiles::wave_bytes, layout);
    };
    store_tile(make_tile_window(view(exec::wave_id()), lengths, {}, typename tiles::sums{}), sums);
    exec::block_sync();
    auto total = load_tile(make_tile_window(view(0), lengths, {}, result{}));
    unroll<Policy::waves - 1>([&](auto wave) TILEWRIGHT_INLINE_LAMBDA {
      const auto more = load_tile(make_tile_window(view(wave + 1), lengths, {}, result{}));
      tile_elementwise_inout([](float& x, float y) { x += y; }, total, more);
    });
    return total;
  }

  /// Writes the tile's columns of C.
  template <class Result>
  TILEWRIGHT_HD static void finish(Result& result, const gemm_args& g, const detail::work_tile& work) {
    const multi_index<2> origin{{0, work.tile.col * tile.n}};
    constexpr index_t c_vector = Policy::vector == 1 ? 1 : 4;
    const detail::output_tile<typename tiles::result, R, c_vector> at{
        {g, origin, work.tile.batch, get_partition_index<typename tiles::result>()}};
    static_distributed_tensor<R, typename tiles::result> rounded;
    detail::finish<detail::epilogue_of<Policy>>(rounded, at, g, result);
    store_tile(at.c_window, rounded);
  }
#endif
};

}  // namespace tilewright
