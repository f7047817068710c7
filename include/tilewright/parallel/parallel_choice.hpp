// SPDX-License-Identifier: MIT
// How a product of several ranks is computed: a model of the rates of products and transfers.
#pragma once

#include <tilewright/gemm/specialized_choice.hpp>
#include <tilewright/parallel/chunk_order.hpp>

namespace tilewright::parallel {

/// fused: one kernel, which works while rows or sums travel over NVLink. overlapped: NCCL brings the rows of one rank
/// after another, each of which is a product. collective: all rows come by NCCL, then they are multiplied. For an
/// all-gather `overlapped` was slower than `collective` on two H200s, so the model does not choose it.
enum class parallel_transport : signed char { fused, overlapped, collective };

struct parallel_choice {
  parallel_transport transport = parallel_transport::fused;
  index_t tile = 0;    // in parallel_tiles
  double seconds = 0;  // as predicted
};

/// Tiles of the kernels, by their number in specialized_tiles.
inline constexpr array<index_t, 3> parallel_tiles{{0, 5, 9}};

/// Rates of a machine. The defaults were measured on two H200s.
struct parallel_rates {
  double clock = 1.65e9;        // of multiprocessors that are busy
  double peer_bytes = 300e9;    // bytes that kernels write to other GPUs in a second
  double peer_seconds = 10e-6;  // until the first of them can be used there
  double nccl_bytes = 210e9;    // bytes that arrive at a GPU in a second of an all-gather
  double nccl_seconds = 20e-6;  // of a collective, beyond its bytes
  index_t multiprocessors = 132;
};

namespace detail {

/// Seconds of the product of a rank's chunks.
constexpr double product_seconds(gemm_args args, index_t ranks, index_t tile, const product_operand_types& types,
                                 const parallel_rates& rates) {
  args.m = divide(args.m, ranks);
  args.batch = ranks;
  return predict_specialized_clocks(args, specialized_tiles[parallel_tiles[tile]], types, rates.multiprocessors) /
         rates.clock;
}

}  // namespace detail

/// The transport and tile with the shortest predicted time for an all-gather and its product. All ranks come to the
/// same result.
constexpr parallel_choice choose_all_gather(const gemm_args& args, index_t ranks, bool has_peers,
                                            const product_operand_types& types, const parallel_rates& rates = {}) {
  const double bytes = double(divide(args.m, ranks)) * args.k * types.element_bytes * (ranks - 1);
  parallel_choice best{.seconds = 1e300};
  const auto consider = [&](const parallel_choice& c) {
    if (c.seconds < best.seconds) best = c;
  };
  for (index_t tile = 0; tile < parallel_tiles.size(); ++tile) {
    const double product = detail::product_seconds(args, ranks, tile, types, rates);
    consider({parallel_transport::collective, tile, product + bytes / rates.nccl_bytes + rates.nccl_seconds});
    // The last rows that come are multiplied then.
    const double last = product / ranks / 4;
    if (has_peers)
      consider({parallel_transport::fused, tile, max(product, bytes / rates.peer_bytes + last) + rates.peer_seconds});
  }
  return best;
}

/// The same for a product whose sums are scattered: fused where GPUs reach each other, else overlapped.
constexpr parallel_choice choose_reduce_scatter(const gemm_args& args, index_t ranks, bool has_peers,
                                                const product_operand_types& types, const parallel_rates& rates = {}) {
  parallel_choice best{.seconds = 1e300};
  const double bytes = double(divide(args.m, ranks)) * args.n * 2 * (ranks - 1);
  for (index_t tile = 0; tile < parallel_tiles.size(); ++tile) {
    const specialized_tile& t = specialized_tiles[parallel_tiles[tile]];
    // All blocks send a tile at the same time; wide tiles wait for LDS until theirs has left.
    const double own_tiles = double(ceil_div(divide(args.m, ranks), t.m)) * ceil_div(args.n, t.n);
    const double add = own_tiles / (rates.multiprocessors * t.blocks) * (ranks - 1) * (t.n > 128 ? 12e-6 : 3e-6);
    const double travel = bytes / (has_peers ? rates.peer_bytes : rates.nccl_bytes);
    const double product = detail::product_seconds(args, ranks, tile, types, rates);
    const double seconds = max(product, travel) + add;
    if (seconds < best.seconds)
      best = {has_peers ? parallel_transport::fused : parallel_transport::overlapped, tile, seconds};
  }
  return best;
}

}  // namespace tilewright::parallel
