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
  index_t pieces = 1;  // in which a rank's rows are sent, if fused
  double seconds = 0;  // as predicted
};

/// Tiles of the kernels, by their number in specialized_tiles.
inline constexpr array<index_t, 3> parallel_tiles{{0, 5, 9}};

/// Rates of a machine. The defaults were measured on two H200s.
struct parallel_rates {
  double clock = 1.65e9;         // of multiprocessors that are busy
  double peer_bytes = 205e9;     // bytes that copies to another GPU move in a second
  double copy_seconds = 6e-6;    // of a copy with its flag, beyond its bytes
  double nccl_bytes = 210e9;     // bytes that arrive at a GPU in a second of an all-gather
  double nccl_seconds = 20e-6;   // of a collective, beyond its bytes
  double host_seconds = 130e-6;  // of the host's calls for a fused all-gather, and of each piece more
  double host_seconds_of_piece = 9e-6;
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

/// Seconds of an all-gather whose chunks are multiplied in pieces as they come: first this rank's own.
constexpr double gather_seconds(double product, double bytes_of_rank, double bytes_per_second, double per_piece,
                                index_t ranks, index_t pieces) {
  const double work = product / ranks / pieces, travel = bytes_of_rank / bytes_per_second / pieces + per_piece;
  double now = product / ranks;
  for (index_t i = 1; i <= (ranks - 1) * pieces; ++i) now = max(now, i * travel) + work;
  return now;
}

}  // namespace detail

/// The transport, tile and number of pieces with the shortest predicted time for an all-gather and its product. All
/// ranks come to the same result.
constexpr parallel_choice choose_all_gather(const gemm_args& args, index_t ranks, bool has_peers,
                                            const product_operand_types& types, const parallel_rates& rates = {}) {
  const double bytes = double(divide(args.m, ranks)) * args.k * types.element_bytes;
  parallel_choice best{.seconds = 1e300};
  const auto consider = [&](const parallel_choice& c) {
    if (c.seconds < best.seconds) best = c;
  };
  for (index_t tile = 0; tile < parallel_tiles.size(); ++tile) {
    const double product = detail::product_seconds(args, ranks, tile, types, rates);
    const double travel = (ranks - 1) * bytes / rates.nccl_bytes;
    consider({parallel_transport::collective, tile, 1, product + (ranks > 1 ? travel + rates.nccl_seconds : 0)});
    // More pieces do not help: the first tiles of a rank's rows already need most of them.
    for (const index_t pieces : {2, 1}) {
      if (!has_peers) continue;
      const double gather = detail::gather_seconds(product, bytes, rates.peer_bytes, rates.copy_seconds, ranks, pieces);
      const double host = rates.host_seconds + rates.host_seconds_of_piece * pieces * (ranks - 1);
      consider({parallel_transport::fused, tile, pieces, ranks > 1 ? max(gather, host) : product});
    }
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
      best = {has_peers ? parallel_transport::fused : parallel_transport::overlapped, tile, 1, seconds};
  }
  return best;
}

}  // namespace tilewright::parallel
