// SPDX-License-Identifier: MIT
// The main loop of small-M GEMM with a B of 16-bit elements, which each wave loads straight to registers.
#pragma once

#include <tilewright/block/mma/block_gemm.hpp>
#include <tilewright/block/schedule/stream_k_schedule.hpp>
#include <tilewright/kernels/gemm/gemm_args.hpp>
#include <tilewright/kernels/gemm/hopper/small_m_policy.hpp>
#include <tilewright/machine/exec/hopper.hpp>
#include <tilewright/tile/copy/shuffle_tile.hpp>

namespace tilewright::detail {

inline constexpr const char* small_m_moves_vectors =
    "small_m_gemm moves whole vectors: pointers, contiguous lengths, leading dimensions and batch strides must be "
    "multiples of its vectors; use the policy with vectors of 1";
inline constexpr const char* small_m_offsets =
    "a leading dimension is so large that a block would need offsets of 2 GiB or more";

/// Waves take every other k step of the block's tile, and add up in LDS.
template <class Policy>
struct small_m_loop {
  using T = typename Policy::element_type;
  using tiles = small_m_tiles<Policy>;
  using result = typename tiles::result;
  using accumulators = static_distributed_tensor<float, typename tiles::accumulators>;
  static constexpr block_tile tile = Policy::tile;
  static constexpr index_t block_size = Policy::waves * 32, lds_bytes = Policy::waves * tiles::wave_bytes,
                           blocks_at_once = 2, k_of_block = Policy::waves * tile.k;
  /// Whether A is contiguous along k; whether vectors of B are unaligned and shifted in registers.
  static constexpr bool a_along_k = Policy::a_major == operand_major::k, shifts = Policy::vector == 1;

  /// Bytes of B take the time, not waiting: no split is longer than others.
  static constexpr split_cost cost{.k_tile = 1, .wait = 0, .read = 0, .change = 0, .crossing = 1};

  static constexpr const char* check(const gemm_args& g) {
    constexpr long_index_t bytes = sizeof(T);
    constexpr vector_alignment of_a{Policy::a_vector, bytes}, of_b{Policy::vector, bytes};
    if (!of_a.is_met_by(g.a, bytes, g.lda, g.batch_stride_a) || !of_b.is_met_by(g.b, bytes, g.ldb, g.batch_stride_b) ||
        (a_along_k ? g.k : g.m) % Policy::a_vector != 0 ||
        (Policy::b_major == operand_major::k ? g.k : g.n) % Policy::vector != 0)
      return small_m_moves_vectors;
    const long_index_t limit = 0x7fffffff / bytes;
    const auto span = [&](bool along_k, long_index_t ld, index_t rows) {
      return along_k ? ld * rows + 2 * k_of_block : ld * 2 * k_of_block + rows;
    };
    if (span(a_along_k, g.lda, tile.m) > limit || span(Policy::b_major == operand_major::k, g.ldb, tile.n) > limit)
      return small_m_offsets;
    return nullptr;
  }

#if TILEWRIGHT_HOPPER_PASS
  /// Asks for the first elements of B of the block's work tile, while the previous kernel may still run. A hint: should
  /// that kernel write B, L2 has what it wrote.
  TILEWRIGHT_HD static void prefetch_b(const gemm_args& g, const work_tile& work) {
    if constexpr (Policy::vector == 1) return;
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

  /// C (m, n) of the warp's k steps of a work tile. Other waves have loads in flight while one multiplies.
  TILEWRIGHT_HD static accumulators multiply(const gemm_args& g, const work_tile& work, exec::lds_pointer) {
    accumulators c{};
    const index_t end = min(g.k, work.k_end * k_of_block);
    index_t k = work.k_begin * k_of_block + exec::wave_id() * tile.k;
    if (k >= end) return c;
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
          return load_shifted<true, T, typename tiles::a_in_memory>(a_data, g.m, end, g.lda, 0, k);
        else
          return load_tile(a);
      }();
      const auto b_tile = [&] {
        if constexpr (shifts)
          return load_shifted<tiles::b_along_k, T, typename tiles::b_in_memory>(b_data, g.n, end, g.ldb, n0, k);
        else
          return load_tile(b);
      }();
      move_tile_window(a, {0, k_of_block});
      move_tile_window(b, {0, k_of_block});
      block_gemm<tile>(c, relayout<T>(a_tile, typename tiles::a_operand{}),
                       relayout<T>(b_tile, typename tiles::b_operand{}));
    }
    return c;
  }

  /// Whether C has the row of vector `vector` of a thread's result; more need not be moved.
  TILEWRIGHT_HD static bool has_rows(index_t, index_t) { return true; }
  /// C (m, n) of all waves, in the order in which C is written.
  TILEWRIGHT_HD static auto add_up_waves(const accumulators& c, exec::lds_pointer lds) {
    constexpr auto layout = make_lds_descriptor<tiles::layout.layout>();
    constexpr auto lengths = make_tuple(number<16>{}, number<tile.n>{});
    const auto view = [&](index_t wave) TILEWRIGHT_INLINE_LAMBDA {
      return make_tensor_view<address_space_enum::lds, float>(lds + wave * tiles::wave_bytes, layout);
    };
    store_tile(make_tile_window(view(exec::wave_id()), lengths, {}, typename tiles::accumulators{}), c);
    exec::block_sync();
    auto total = load_tile(make_tile_window(view(0), lengths, {}, result{}));
    unroll<Policy::waves - 1>([&](auto wave) TILEWRIGHT_INLINE_LAMBDA {
      const auto more = load_tile(make_tile_window(view(wave + 1), lengths, {}, result{}));
      tile_elementwise_inout([](float& x, float y) { x += y; }, total, more);
    });
    return total;
  }
#endif
};

}  // namespace tilewright::detail
