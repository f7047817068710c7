// SPDX-License-Identifier: MIT
// propose-tiles: the smallest set of tiles for ahead-of-time builds that, by the model, costs less than some per cent
// against exact tiles, over layers of models and random shapes. Needs no GPU.
//   propose-tiles [most tiles] [seed] [first tiles of hopper_gemm_tiles to keep]
#include <tilewright/kernels/gemm/choice/gemm_choice.hpp>
#include <tilewright/kernels/gemm/choice/hopper_tile_family.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "sample.hpp"

namespace {

using namespace gpu_benchmark;
namespace tw = tilewright;

/// Logarithms of predicted times, of the products' bests and by tile, all for the same products.
struct predictions {
  std::vector<double> best;
  std::vector<tw::hopper_gemm_tile> tiles;
  std::vector<std::vector<float>> of_tile;
};

std::vector<problem> population(std::uint64_t seed) {
  std::vector<problem> all = sample_layers(900, seed, {element::bf16, element::e4m3});
  for (const problem& p : sample_problems(450, seed + 1, {element::bf16, element::e4m3}))
    if (regime_of(p) != regime::unaligned) all.push_back(p);
  return all;
}

tw::gemm_args arguments_of(const problem& p) {
  alignas(16) static char somewhere[16];
  tw::gemm_args g{.m = tw::index_t(p.m), .n = tw::index_t(p.n), .k = tw::index_t(p.k)};
  g.lda = tw::index_t(p.a_col_major ? p.m : p.k);
  g.ldb = tw::index_t(p.b_col_major ? p.k : p.n);
  g.workspace = somewhere;
  return g;
}

predictions predict(const std::vector<problem>& problems) {
  predictions all;
  tw::for_each_tile_of_family({}, [&](const tw::hopper_gemm_tile& t) { all.tiles.push_back(t); });
  all.of_tile.resize(all.tiles.size());
  for (const problem& p : problems) {
    double best = std::numeric_limits<double>::infinity();
    const tw::gemm_operand_types types{tw::index_t(bytes_of(p.type)), !p.a_col_major, p.b_col_major};
    for (std::size_t t = 0; t < all.tiles.size(); ++t) {
      double clocks = std::numeric_limits<double>::infinity();
      tw::for_each_split(arguments_of(p), all.tiles[t], types, 132, 16,
                         [&](const tw::hopper_gemm_choice& c) { clocks = std::min(clocks, c.clocks); });
      all.of_tile[t].push_back(float(std::log(clocks)));
      best = std::min(best, clocks);
    }
    all.best.push_back(std::log(best));
  }
  return all;
}

/// The mean of the logarithms of times with the set's best tile over the family's.
double cost_with(const predictions& p, const std::vector<float>& with_set, std::size_t tile) {
  double sum = 0;
  for (std::size_t i = 0; i < p.best.size(); ++i) sum += std::min<double>(with_set[i], p.of_tile[tile][i]) - p.best[i];
  return sum / double(p.best.size());
}

}  // namespace

int main(int argc, char** argv) {
  const int most = argc > 1 ? std::atoi(argv[1]) : 24, kept = argc > 3 ? std::atoi(argv[3]) : 0;
  const predictions p = predict(population(argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1));
  std::vector<float> with_set(p.best.size(), 1e30f);
  const auto add = [&](std::size_t tile) {
    const double cost = cost_with(p, with_set, tile);
    for (std::size_t i = 0; i < with_set.size(); ++i) with_set[i] = std::min(with_set[i], p.of_tile[tile][i]);
    return cost;
  };
  double cost = 1;
  for (int n = 0; n < most && cost > 0.01; ++n) {
    std::size_t next = 0;
    if (n < kept) {
      next = std::size_t(std::find(p.tiles.begin(), p.tiles.end(), tw::hopper_gemm_tiles[n]) - p.tiles.begin());
      if (next == p.tiles.size()) continue;  // of unaligned rows
    } else {
      for (std::size_t t = 1; t < p.tiles.size(); ++t)
        if (cost_with(p, with_set, t) < cost_with(p, with_set, next)) next = t;
    }
    cost = add(next);
    std::printf("%2d tiles: %6.2f %% more time, with %s\n", n + 1, 100 * std::expm1(cost),
                tw::name_of(p.tiles[next]).c_str());
  }
}
