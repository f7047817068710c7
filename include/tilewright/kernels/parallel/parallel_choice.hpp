// SPDX-License-Identifier: MIT
// How a product of several ranks is computed: a model of the rates of products and transfers.
#pragma once

#include <tilewright/kernels/gemm/choice/hopper_gemm_choice.hpp>
#include <tilewright/kernels/parallel/rank_args.hpp>

namespace tilewright::parallel {

/// fused: one kernel, which sends and receives while it multiplies. collective: NCCL gathers all rows of A before they
/// are multiplied, or sends the sums of one rank's rows while the next ones are multiplied.
enum class parallel_transport : signed char { fused, collective };

struct parallel_choice {
  parallel_transport transport = parallel_transport::fused;  ///< how data reach other GPUs
  index_t tile = 0;                                          ///< in parallel_tiles
  double seconds = 0;                                        ///< as predicted
};

/// Tiles of the kernels.
inline constexpr array<hopper_gemm_tile, 4> parallel_tiles{{
    {.m = 128, .n = 256, .cluster_m = 2},
    {.m = 128, .n = 128, .cluster_n = 2},
    {.m = 64, .n = 128, .consumers = 1, .blocks = 2},
    {.m = 192, .n = 96, .cluster_n = 2, .consumers = 1},  // few rows: 129 to 192 of a rank, 257 to 384
}};

/// Rates of a machine. The defaults were measured on two H200s.
struct parallel_rates {
  double clock = 1.65e9;        ///< of SMs that are busy
  double peer_bytes = 280e9;    ///< bytes that a kernel writes to other GPUs in a second
  double peer_seconds = 15e-6;  ///< until the first of them can be used there
  double nccl_bytes = 210e9;    ///< bytes that arrive at a GPU in a second
  double nccl_seconds = 20e-6;  ///< of a call, beyond its bytes
  index_t SMs = 132;            ///< of each GPU
};

namespace detail {

/// Seconds of a product whose rows are in `parts` parts.
constexpr double product_seconds(gemm_args args, index_t parts, index_t tile, const gemm_operand_types& types,
                                 const parallel_rates& rates) {
  args.m = divide(args.m, parts);
  args.batch = parts;
  return predict_hopper_clocks(args, parallel_tiles[tile], types, rates.SMs, args.workspace ? 0 : 1) / rates.clock;
}

}  // namespace detail

/// The transport and tile with the shortest predicted time, for an all-gather and its product, or for a product whose
/// sums, of 16 bits, are scattered. Each rank sends by kernels if it has peers, or by NCCL. All ranks come to the same
/// choice.
constexpr parallel_choice choose_parallel(const gemm_args& args, index_t ranks, bool has_peers,
                                          const gemm_operand_types& types, bool gathers,
                                          const parallel_rates& rates = {}) {
  using namespace detail;
  const double bytes =
      double(divide(args.m, ranks)) * (gathers ? args.k * types.element_bytes : args.n * 2) * (ranks - 1);
  parallel_choice best{.seconds = 1e300};
  const auto consider = [&](const parallel_choice& c) {
    if (c.seconds < best.seconds) best = c;
  };
  const index_t rows = divide(args.m, ranks);
  for (index_t tile = 0; tile < parallel_tiles.size(); ++tile) {
    // As on one GPU: no tile of which rows would fill less than half, but the smallest.
    const index_t m = parallel_tiles[tile].m;
    const auto fills = [m](index_t rows_at_once) { return m == 64 || rows_at_once > m / 2; };
    const double in_parts = product_seconds(args, ranks, tile, types, rates);
    const double product = gathers ? product_seconds(args, 1, tile, types, rates) : in_parts;
    if (fills(gathers ? args.m : rows))
      consider({parallel_transport::collective, tile, product + bytes / rates.nccl_bytes + rates.nccl_seconds});
    // What comes last is multiplied or added up then.
    const double last = in_parts / ranks / 4;
    if ((has_peers || ranks == 1) && fills(rows))
      consider({parallel_transport::fused, tile, max(in_parts, bytes / rates.peer_bytes + last) + rates.peer_seconds});
  }
  return best;
}

}  // namespace tilewright::parallel
