// SPDX-License-Identifier: MIT
// What docs/pipelines.md shows: a pipeline of one's own, in a GEMM kernel.
#include <tilewright/kernels/gemm.hpp>
#include <tilewright/launch/launch.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace tw = tilewright;
using tw::half_t, tw::index_t;
using enum tw::operand_major;

namespace {

/// One stage and nothing in flight: the simplest pipeline.
struct plain_pipeline {
  static constexpr index_t num_stages = 1;

  template <class Policy, class AWindow, class BWindow, class Accumulator, class C>
  TILEWRIGHT_HD static void run(tw::static_distributed_tensor<Accumulator, C>& c, AWindow a, BWindow b,
                                index_t num_tiles, tw::exec::lds_pointer lds) {
    tw::require_operand_windows<Policy, AWindow, BWindow>();
    const tw::operand_windows<Policy> windows(lds);
    for (index_t t = 0; t < num_tiles; ++t) {
      windows.store(tw::load_tile(a), tw::load_tile(b), 0);
      tw::exec::block_sync();
      tw::block_gemm<Policy::tile>(c, windows.a_read(), windows.b_read());
      tw::exec::block_sync();
      tw::move_tile_window(a, {0, Policy::tile.k});
      tw::move_tile_window(b, {0, Policy::tile.k});
    }
  }
};

constexpr tw::block_tile tile{64, 64, 32, 2, 2, tw::arch::matrix_op::mfma_32x32x8_x2};
struct policy : tw::gemm_policy<tw::arch::gfx942, half_t, k, k, 8, tile, plain_pipeline> {};

TEST(PipelinesPage, PlainPipeline) {
  constexpr index_t m = 70, n = 72, depth = 88;
  std::vector<half_t> a, b, c(std::size_t(m * n));
  for (index_t i = 0; i < m * depth; ++i) a.push_back(half_t(float(i % 5 - 2)));
  for (index_t i = 0; i < n * depth; ++i) b.push_back(half_t(float(i % 3 - 1)));
  tw::launch<tw::gemm_kernel<policy>>(
      {.a = a.data(), .b = b.data(), .c = c.data(), .m = m, .n = n, .k = depth, .lda = depth, .ldb = depth, .ldc = n},
      {.check_lds = tw::emulator::lds_checks::on});
  for (index_t i = 0; i < m; ++i) {
    for (index_t j = 0; j < n; ++j) {
      float expected = 0;
      for (index_t l = 0; l < depth; ++l)
        expected += float(a[std::size_t(i * depth + l)]) * float(b[std::size_t(j * depth + l)]);
      ASSERT_EQ(float(c[std::size_t(i * n + j)]), expected) << i << ", " << j;
    }
  }
}

}  // namespace
