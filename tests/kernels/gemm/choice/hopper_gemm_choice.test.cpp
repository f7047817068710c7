// SPDX-License-Identifier: MIT
#include <tilewright/kernels/gemm/choice/gemm_choice.hpp>
#include <tilewright/kernels/gemm/choice/hopper_tile_family.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

namespace tw = tilewright;

namespace {

/// The choice with the shortest predicted time, of the tiles for which can(tile) is true.
template <class Predicate>
tw::hopper_gemm_choice best_choice(const tw::gemm_args& g, const tw::gemm_operand_types& o, Predicate can) {
  tw::hopper_gemm_choice best{.clocks = 1e300};
  tw::for_each_hopper_kernel(g, o, 132, 1, [&](const tw::hopper_gemm_choice& c) {
    if (c.clocks < best.clocks && can(c.tile)) best = c;
  });
  return best;
}

tw::hopper_gemm_tile chosen(int m, int n, int k, bool b_along_k = true) {
  const tw::gemm_args g{.m = m, .n = n, .k = k, .lda = k, .ldb = b_along_k ? k : n, .ldc = n};
  return best_choice(g, {.b_along_k = b_along_k}, [](const auto&) { return true; }).tile;
}

TEST(SpecializedChoice, AllTilesFitWithAllOrders) {
  using enum tw::arch::matrix_element;
  for (const tw::hopper_gemm_tile& t : tw::hopper_gemm_tiles) {
    for (const bool a_along_k : {true, false})
      for (const bool b_along_k : {true, false})
        EXPECT_TRUE(tw::detail::facts_of(t, {f16, f16, a_along_k, b_along_k}).fits()) << tw::name_of(t);
    EXPECT_TRUE(tw::detail::facts_of(t, {fp8_ocp, bf16, true, true}).fits() || t.unaligned) << tw::name_of(t);
  }
}

// Against exact tiles, for layers of a model with few rows and many.
TEST(SpecializedChoice, LinkedTilesTakeLittleLonger) {
  alignas(16) static char somewhere[16];
  const auto cost = [&](const auto& tiles, tw::index_t products) {
    double sum = 0;
    int count = 0;
    for (const auto& [n, k] : {std::pair{6144, 4096}, {4096, 4096}, {14336, 4096}, {4096, 14336}})
      for (const int m : {1, 7, 33, 100, 250, 517, 1100, 3000, 9000}) {
        const tw::gemm_args g{.m = m, .n = n * products, .k = k, .workspace = somewhere};
        double best = 1e300;
        tw::for_each_kernel_of(tiles, g, {}, 132, products == 1 ? 16 : 1,
                               [&](const auto& c) { best = c.tile.unaligned ? best : std::min(best, c.clocks); });
        const auto exact = tw::rank_tiles_of_family(g, {}, 132, products == 1 ? 16 : 1, 1.01, products);
        sum += std::log(best / exact.front().clocks);
        ++count;
      }
    return std::exp(sum / count);
  };
  EXPECT_LT(cost(tw::linked_hopper_tiles, 1), 1.06);
  EXPECT_LT(cost(tw::linked_gate_tiles, 2), 1.045);
  for (const tw::hopper_gemm_tile& t : tw::linked_hopper_tiles) EXPECT_TRUE(tw::detail::facts_of(t, {}).fits());
  for (tw::hopper_gemm_tile t : tw::linked_gate_tiles) {
    t.products = 2;
    EXPECT_TRUE(tw::detail::facts_of(t, {}).fits()) << tw::name_of(t);
  }
}

TEST(SpecializedChoice, NamesAreReadBack) {
  using enum tw::gemm_kernel_kind;
  for (const tw::hopper_gemm_tile& t : tw::hopper_gemm_tiles)
    for (const tw::index_t split_k : {0, 1, t.ping_pong ? 1 : 3}) {
      const tw::gemm_choice c{.tile = t, .split_k = split_k};
      EXPECT_EQ(tw::choice_named(tw::name_of(c)), c) << tw::name_of(c);
    }
  EXPECT_EQ(
      tw::choice_named("128x72_a2_b4_c1_swap, split_k 5"),
      (tw::gemm_choice{.tile = {.m = 128, .n = 72, .cluster_m = 4, .cluster_n = 2, .consumers = 1, .swap_ab = true},
                       .split_k = 5}));
  EXPECT_EQ(tw::choice_named("small_m_v1, split_k 1"), (tw::gemm_choice{.kernel = small_m_v1, .split_k = 1}));
  EXPECT_EQ(tw::choice_named("128x72_swap, k in 5 parts"), tw::choice_named("128x72_swap, split_k 5")) << "older files";
  for (const char* wrong :
       {"", "128", "128x", "128x72,", "128x70", "96x64", "128x72_b3", "128x72_swap_a2", "small_m, split_k 3",
        "128x72_pp, split_k 3", "128x72, split_k 0", "128x72, split_k 1 ", "64x64_c1", "+128x72"})
    EXPECT_EQ(tw::choice_named(wrong), std::nullopt) << wrong;
}

// Rows of experts are gathered by tiles of 128 rows alone.
static_assert(tw::grouped_kernel_kind{}.takes({.m = 64, .n = 64, .consumers = 1}) &&
              !tw::grouped_kernel_kind{.gathers_a = true}.takes({.m = 64, .n = 64, .consumers = 1}) &&
              tw::grouped_kernel_kind{.gathers_a = true}.takes({.m = 128, .n = 64}));
// Scaled products of 240 columns would spill, 208 and 224 cannot be sliced.
static_assert([] {
  const tw::grouped_kernel_kind scaled{.is_block_scaled = true};
  const auto takes = [&](tw::index_t n) { return scaled.takes({.m = 128, .n = n}); };
  return takes(256) && takes(192) && takes(160) && takes(128) && !takes(240) && !takes(208) && !takes(224) &&
         tw::grouped_kernel_kind{}.takes({.m = 128, .n = 240});
}());

// Each member can be compiled, and the tile that exactly fills a wave is the one that is chosen.
TEST(SpecializedChoice, ExactTilesOfTheFamily) {
  int members = 0;
  std::set<int> columns, rows_of_alternating;
  tw::for_each_tile_of_family({}, [&](const tw::hopper_gemm_tile& t) {
    ++members;
    columns.insert(t.n);
    if (t.ping_pong && t.consumers_per_tile() == 1) rows_of_alternating.insert(t.m);
    EXPECT_TRUE(t.is_sound());
    EXPECT_LE(t.accumulators(), t.ping_pong ? 192 : 160);
  });
  EXPECT_GT(members, 2000);
  EXPECT_EQ(columns.size(), 32u) << "each multiple of 8";
  EXPECT_EQ(rows_of_alternating, (std::set<int>{64, 128, 192, 256}));
  const auto best = [](int m, int n, int k) {
    alignas(16) static char workspace[16];
    const tw::gemm_args g{.m = m, .n = n, .k = k, .workspace = workspace};
    const std::vector<tw::hopper_gemm_choice> ranked = tw::rank_tiles_of_family(g, {}, 132, 16);
    EXPECT_TRUE(
        std::is_sorted(ranked.begin(), ranked.end(), [](const auto& x, const auto& y) { return x.clocks < y.clocks; }));
    EXPECT_LE(ranked.back().clocks, 1.3 * ranked.front().clocks);
    return ranked.front();
  };
  // One wave of at most 132 tiles that leaves few SMs idle.
  for (const auto& [m, n, k] :
       {std::array{384, 6144, 4096}, std::array{777, 4096, 14336}, std::array{1024, 2112, 7168}}) {
    const tw::hopper_gemm_tile t = best(m, n, k).tile;
    const int tiles = tw::ceil_div(t.swap_ab ? n : m, t.m) * tw::ceil_div(t.swap_ab ? m : n, t.n);
    EXPECT_LE(tiles, 132) << tw::name_of(t);
    EXPECT_GE(tiles, 108) << tw::name_of(t);
  }
  // Few rows of A: they are columns of a narrow tile, as measured.
  const tw::hopper_gemm_tile few = best(4, 8192, 3584).tile;
  EXPECT_TRUE(few.swap_ab && few.n <= 16) << tw::name_of(few);
}

// What the search leaves out without a prediction could not have been chosen.
TEST(SpecializedChoice, LeastClocksAreALowerBound) {
  alignas(16) static char workspace[16];
  int considered = 0;
  for (const auto& [m, n, k] : {std::array{1, 4096, 4096}, std::array{500, 1032, 5376}, std::array{3000, 1280, 200}}) {
    const tw::gemm_args g{.m = m, .n = n, .k = k, .lda = k, .ldb = n, .ldc = n, .workspace = workspace};
    int number = 0;
    tw::for_each_tile_of_family({.b_along_k = false}, [&](const tw::hopper_gemm_tile& t) {
      if (++number % 11 != 0) return;
      tw::for_each_split(g, t, {.b_along_k = false}, 132, 16, [&](const tw::hopper_gemm_choice& c) {
        ++considered;
        const double least = tw::detail::least_clocks(tw::detail::in_order_of(t, g), t, 2, 132, c.split_k);
        EXPECT_LE(least, c.clocks * 1.0001) << m << " " << tw::name_of(t) << " " << c.split_k;
      });
    });
  }
  EXPECT_GT(considered, 1000);
}

// With one step along k, writing C takes the time.
TEST(SpecializedChoice, ResultsAreMovedToo) {
  constexpr tw::gemm_args g{.m = 8192, .n = 8192, .k = 64};
  constexpr tw::hopper_gemm_tile tile{.m = 128, .n = 256, .cluster_m = 2};
  EXPECT_GT(tw::predict_hopper_clocks(g, tile, {}, 132, 1) * tw::detail::hopper_gemm_times.bytes, 2.0 * g.m * g.n);
}

// What was fastest where all tiles were timed on an H100.
TEST(SpecializedChoice, TilesThatWereFastest) {
  for (const bool b_along_k : {true, false}) {
    for (const auto& [m, n, k] : {std::array{4096, 4096, 4096}, std::array{8192, 28672, 8192}}) {
      tw::hopper_gemm_tile wide = chosen(m, n, k, b_along_k);
      wide.cluster_m = wide.cluster_n = 1;  // with clusters, 0.4 % slower on an H200
      EXPECT_EQ(wide, (tw::hopper_gemm_tile{.m = 128, .n = 256}));
    }
  }
  alignas(16) char workspace[16];
  const tw::gemm_args narrow{.m = 322, .n = 2176, .k = 9216, .workspace = workspace};
  EXPECT_EQ(best_choice(narrow, {}, [](const auto&) { return true; }).tile,
            (tw::hopper_gemm_tile{.m = 128, .n = 112, .cluster_n = 4}));
  EXPECT_TRUE(chosen(12480, 8192, 320).ping_pong);
}

// What few blocks would multiply for long is split into parts, if the workspace has room for them.
TEST(SpecializedChoice, PartsOfLongK) {
  const auto best_parts = [](const tw::gemm_args& g, tw::index_t most) {
    tw::hopper_gemm_choice best{.clocks = 1e300};
    tw::for_each_hopper_kernel(g, {}, 132, most, [&](const auto& c) { best = c.clocks < best.clocks ? c : best; });
    return best.split_k;
  };
  EXPECT_GT(best_parts({.m = 14, .n = 256, .k = 22144}, 16), 4);
  EXPECT_EQ(best_parts({.m = 4096, .n = 4096, .k = 4096}, 16), 1);
  const auto max_split_k = [](const tw::gemm_args& g) {
    tw::index_t most = 0;
    tw::for_each_hopper_kernel(g, {}, 132, 16, [&](const auto& c) { most = std::max(most, c.split_k); });
    return most;
  };
  EXPECT_EQ(max_split_k({.m = 1024, .n = 1021, .k = 32768}), tw::hopper_gemm_workspace::num_floats / (1024 * 1024));
  EXPECT_EQ(max_split_k({.m = 3846, .n = 1121, .k = 32768}), 1) << "two fit, but not with rows of a copy of C";
  EXPECT_EQ(max_split_k({.m = 1, .n = 8, .k = 1024, .batch = 65536}), 1) << "too many for a grid";
}

// Where B is so large that L2 loses it before the next group of tiles, groups have as many rows as L2 keeps of A.
TEST(SpecializedChoice, RowsKeptInL2) {
  constexpr tw::hopper_gemm_tile t{.m = 128, .n = 256, .cluster_m = 2};
  const auto rows = [&](const tw::gemm_args& g) {
    return tw::detail::rows_cached_in_l2(tw::detail::hopper_tile_order(g, t, 66), g, t, 2);
  };
  EXPECT_EQ(rows({.m = 6272, .n = 30144, .k = 640}), 25) << "all of A";
  EXPECT_EQ(rows({.m = 29376, .n = 1792, .k = 384}), 8) << "B stays in L2";
  EXPECT_EQ(rows({.m = 32768, .n = 16384, .k = 1024}), 16);
  EXPECT_EQ(rows({.m = 8192, .n = 8192, .k = 8192}), 8) << "about a square";
}

// Launches that stream rows which no other block reads wait for the previous kernel where they fill a part of the GPU.
TEST(SpecializedChoice, LaunchesThatStartAlone) {
  const auto starts_alone = [](const tw::gemm_args& g, const tw::hopper_gemm_tile& t, tw::index_t split_k = 1) {
    const tw::gemm_args ordered = tw::detail::in_order_of(t, g);
    return tw::detail::starts_alone(tw::detail::schedule_of(ordered, t, 2, 132, split_k), t);
  };
  constexpr tw::hopper_gemm_tile rows_64{.m = 64, .n = 16, .consumers = 1, .swap_ab = true},
      pairs{.m = 64, .n = 16, .cluster_m = 4, .consumers = 1, .swap_ab = true};
  for (const tw::index_t n : {4608, 5120, 7168}) {  // 72, 80 and 112 blocks
    EXPECT_TRUE(starts_alone({.m = 11, .n = n, .k = 6400}, rows_64)) << n;
    EXPECT_FALSE(starts_alone({.m = 11, .n = n, .k = 128}, rows_64)) << n << ": the gap takes longer";
    EXPECT_FALSE(starts_alone({.m = 17, .n = n, .k = 6400}, rows_64)) << n << ": two blocks read the same rows";
  }
  for (const tw::index_t n : {4160, 7488, 8448, 16896})  // 65, 117, 132 and 264 blocks
    EXPECT_FALSE(starts_alone({.m = 11, .n = n, .k = 6400}, rows_64)) << n;
  static char workspace[16];
  EXPECT_FALSE(starts_alone({.m = 11, .n = 5120, .k = 6400, .workspace = workspace}, rows_64, 2)) << "k is split";
  EXPECT_TRUE(starts_alone({.m = 11, .n = 5120, .k = 6400}, pairs)) << "20 of 30 clusters";
  EXPECT_FALSE(starts_alone({.m = 11, .n = 6400, .k = 6400}, pairs)) << "25 of 30 clusters";
  constexpr tw::hopper_gemm_tile high{.m = 256, .n = 128};
  EXPECT_FALSE(starts_alone({.m = 256, .n = 10240, .k = 6400}, high)) << "80 blocks that multiply for longer";
}

// Without memory where parts meet k stays whole, which takes long where n is short.
TEST(SpecializedChoice, FewRowsWithoutWorkspace) {
  tw::gemm_args g{.m = 16, .n = 256, .k = 16384};
  const auto clocks = [&](tw::index_t wanted) {
    double found = 0;
    tw::for_each_small_m_kernel(g, true, 132,
                                [&](tw::index_t split_k, double c) { found = split_k == wanted ? c : found; });
    return found;
  };
  EXPECT_EQ(clocks(0), 0);
  EXPECT_GT(clocks(1), 100000);
  alignas(16) char workspace[16];
  g.workspace = workspace;
  EXPECT_GT(clocks(0), 0);
  EXPECT_LT(clocks(0), 20000);
}

// Tiles that shift rows are for operands that others cannot take.
TEST(SpecializedChoice, TilesThatCan) {
  const tw::gemm_args g{.m = 100, .n = 1001, .k = 1003};
  const auto unaligned = [](const tw::hopper_gemm_tile& t) { return t.unaligned; };
  EXPECT_FALSE(best_choice(g, {}, [](const auto&) { return true; }).tile.unaligned);
  EXPECT_TRUE(best_choice(g, {}, unaligned).tile.unaligned);
}

double clocks_of(const char* name, const tw::gemm_args& g, tw::index_t element_bytes) {
  const std::optional<tw::gemm_choice> c = tw::choice_named(name);
  return tw::predict_hopper_clocks(g, c->tile, {.element_bytes = element_bytes}, 132, c->split_k);
}

// Pairs that an H100 or H200 ran 4 to 25 % apart, each for another reason.
TEST(SpecializedChoice, PredictionsOrderTiles) {
  // 74 CTAs that start alone load as fast as memory sends, two for each SM do not.
  EXPECT_LT(clocks_of("128x8_c1_swap, split_k 1", {.m = 1, .n = 9472, .k = 3584}, 2),
            clocks_of("64x8_swap, split_k 1", {.m = 1, .n = 9472, .k = 3584}, 2));
  // Parts of tiles that blocks of a launch multiply must meet.
  EXPECT_LT(clocks_of("64x8_swap, split_k 2", {.m = 4, .n = 3072, .k = 2048}, 2),
            clocks_of("64x8_swap", {.m = 4, .n = 3072, .k = 2048}, 2));
  EXPECT_GT(clocks_of("128x16_c1_swap, split_k 1", {.m = 4, .n = 8192, .k = 3584}, 2),
            clocks_of("64x16_swap, split_k 1", {.m = 4, .n = 8192, .k = 3584}, 2));
  // TMA takes longer for rows outside of A than for rows of A.
  EXPECT_GT(clocks_of("64x64, split_k 1", {.m = 2, .n = 4736, .k = 3584}, 1),
            clocks_of("64x64, split_k 1", {.m = 44, .n = 4736, .k = 3584}, 1));
  // L2 sends more where CTAs of a cluster share the activations and not the weights, which are larger.
  EXPECT_LT(clocks_of("128x208_a2_swap, split_k 1", {.m = 777, .n = 4096, .k = 14336}, 2),
            clocks_of("128x208_b2_swap, split_k 1", {.m = 777, .n = 4096, .k = 14336}, 2));
  // SMs of a GPC ask for the same rows at the same time: a cluster saves little.
  EXPECT_LT(clocks_of("128x144, split_k 1", {.m = 384, .n = 6144, .k = 4096}, 2),
            clocks_of("128x144_a2, split_k 1", {.m = 384, .n = 6144, .k = 4096}, 2));
  // One consumer stores while the other multiplies, also with more than 128 accumulators.
  EXPECT_LT(clocks_of("128x160_a2_swap_pp, split_k 1", {.m = 14584, .n = 3072, .k = 2048}, 1),
            clocks_of("128x256_b2_swap, split_k 1", {.m = 14584, .n = 3072, .k = 2048}, 1));
}

// Twice the work takes about twice as long, and no product is predicted faster than the tensor cores.
TEST(SpecializedChoice, PredictionsFollowTheWork) {
  const tw::hopper_gemm_tile t{.m = 128, .n = 256, .cluster_m = 2};
  const auto clocks = [&](int m) {
    const tw::gemm_args g{.m = m, .n = 4096, .k = 4096, .lda = 4096, .ldb = 4096, .ldc = 4096};
    return tw::predict_hopper_clocks(g, t, {}, 132);
  };
  EXPECT_NEAR(clocks(16384) / clocks(8192), 2, 0.1);
  EXPECT_GT(clocks(8192), 2.0 * 8192 * 4096 * 4096 / (132 * 4096));
}

}  // namespace
