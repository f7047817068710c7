// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <tilewright/kernels/parallel/parallel_choice.hpp>

namespace tilewright::parallel {
namespace {

constexpr gemm_args product_of(index_t m, index_t n, index_t k) {
  gemm_args args;
  args.m = m;
  args.n = n;
  args.k = args.lda = args.ldb = k;
  return args;
}

TEST(ParallelChoice, ProductsAreFusedWhereGpusReachEachOther) {
  using enum parallel_transport;
  EXPECT_EQ(choose_parallel(product_of(8192, 4096, 8192), 2, true, {}, true).transport, fused);
  EXPECT_EQ(choose_parallel(product_of(128, 4096, 8192), 2, true, {}, true).transport, fused);
  EXPECT_EQ(choose_parallel(product_of(8192, 8192, 4096), 2, true, {}, false).transport, fused);
}

TEST(ParallelChoice, RowsOfARankFillHalfOfATile) {
  for (const bool gathers : {false, true})
    for (const index_t n : {1024, 8192, 65536}) {
      EXPECT_EQ(parallel_tiles[choose_parallel(product_of(64, n, 7168), 2, true, {}, gathers).tile].m, 64) << n;
      if (n > 1024)  // fewer columns fill too few SMs with larger tiles
        EXPECT_EQ(parallel_tiles[choose_parallel(product_of(1024, n, 7168), 2, true, {}, gathers).tile].m, 128) << n;
    }
}

TEST(ParallelChoice, TheFasterTransportIsChosen) {
  using enum parallel_transport;
  const parallel_rates slow_kernels{.peer_bytes = 50e9}, late_flags{.peer_seconds = 1e-3};
  EXPECT_EQ(choose_parallel(product_of(8192, 1024, 1024), 2, true, {}, true, slow_kernels).transport, collective);
  EXPECT_EQ(choose_parallel(product_of(8192, 32768, 8192), 2, true, {}, true, slow_kernels).transport, fused);
  EXPECT_EQ(choose_parallel(product_of(8192, 1024, 1024), 2, true, {}, false, slow_kernels).transport, collective);
  EXPECT_EQ(choose_parallel(product_of(128, 8192, 4096), 2, true, {}, false, late_flags).transport, collective);
}

TEST(ParallelChoice, WithoutPeersNcclCarriesEverything) {
  using enum parallel_transport;
  EXPECT_EQ(choose_parallel(product_of(8192, 4096, 8192), 16, false, {}, true).transport, collective);
  EXPECT_EQ(choose_parallel(product_of(8192, 8192, 4096), 16, false, {}, false).transport, collective);
}

}  // namespace
}  // namespace tilewright::parallel
