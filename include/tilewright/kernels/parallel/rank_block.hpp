// SPDX-License-Identifier: MIT
// What the Hopper GEMMs of several ranks have in common: a batch of one GEMM for each rank's rows.
#pragma once

#include <tilewright/kernels/gemm/hopper/hopper_gemm_kernel.hpp>
#include <tilewright/kernels/parallel/rank_args.hpp>

namespace tilewright::parallel::detail {

/// A policy whose arguments are those of ranks.
template <class Policy, class Args>
struct with_rank_args : Policy {
  using args_type = Args;
};

/// A hopper_gemm_block whose role assist sends rows or tiles to other GPUs.
template <class Policy, class Args>
struct rank_block : hopper_gemm_block<with_rank_args<Policy, Args>> {
  using policy = with_rank_args<Policy, Args>;
  static constexpr role_registers registers = hopper_gemm_block<policy>::tile.consumers == 1
                                                  ? role_registers{.producer = 0, .consumer = 0}
                                                  : role_registers{.producer = 72, .consumer = 216};
  static constexpr bool can_split_all_tiles = false;
  static_assert(Policy::products == 1 && Policy::groups == group_kind::none && !Policy::is_block_scaled,
                "parallel: the policy must be one of a plain product");
  static_assert(!Policy::pipeline::tile.ping_pong && !Policy::pipeline::tile.unaligned && Policy::tile.n % 32 == 0,
                "parallel: the consumers of a block must share its tile, so no ping_pong, rows start at multiples of "
                "16 bytes, so no unaligned, and n of the tile must be a multiple of 32");
};

template <class Block>
using rank_kernel = hopper_gemm_launch<typename Block::policy, Block>;

template <class Block>
auto maps_of(const launch_facts& facts) {
  return hopper_gemm_maps<remove_cvref_t<decltype(facts.make_tensor_map)>>{Block::facts, facts.make_tensor_map};
}

/// The product of a rank, as a batch of one product for the rows of each of `batch` ranks, which share B.
template <class Args>
constexpr Args as_batch(Args args, index_t batch, index_t a_stride, index_t c_stride) {
  args.m = divide(args.m, args.self.ranks);
  args.batch = batch;
  args.batch_stride_a = long_index_t(args.m) * a_stride;
  args.batch_stride_c = long_index_t(args.m) * c_stride;
  args.batch_stride_b = 0;
  return args;
}

/// What is wrong with the arguments, as an error message; nullptr: nothing is.
template <class Block, class Args>
constexpr const char* check_rank_block(const Args& args, const Args& batch) {
  using policy = typename Block::policy;
  if (args.split_k != 1) return "products of several ranks do not split k into equal parts: set split_k to 1";
  if (const char* why = check_ranks(args)) return why;
  if (const char* why = check_gemm<policy>(batch, {2, sizeof(typename policy::result_type)})) return why;
  return check_tma(Block::facts, batch);
}

/// The argument of the kernel of a rank, but for the maps of A and C.
template <class Block, class Args>
typename Block::device_args plan_ranks(const Args& batch, const launch_facts& facts) {
  typename Block::device_args d{};
  plan_schedule(d, Block::facts, batch, facts.resident_clusters, split_cost_of(Block::tile));
  maps_of<Block>(facts).b(d.b[0],
                          operand_in_memory(batch.b, Block::lds.b.k_is_contiguous, batch.n, batch.k, batch.ldb));
  return d;
}

#if TILEWRIGHT_HOPPER_PASS
/// Rows of a matrix in memory: the address of the first one, bytes from each to the next, and how many there are, of
/// `bytes` bytes each, a multiple of 16.
struct row_span {
  char* first;
  long_index_t stride;
  index_t rows, bytes;
};

/// A warp copies rows to rows `stride` bytes from each other. Width: bytes of a row that it copies at once.
template <index_t Width>
TILEWRIGHT_HD void push_rows(char* to, long_index_t stride, const row_span& from) {
  constexpr index_t lanes = Width / 16, rows_at_once = 32 / lanes, loads = 8;  // in flight
  static_assert(lanes * rows_at_once == 32, "push_rows: Width must be a power of two, at most 512 bytes");
  const index_t lane = exec::lane_id();
  for (index_t byte = modulo(lane, lanes) * 16; byte < from.bytes; byte += Width) {
    TILEWRIGHT_UNROLL(1)
    for (index_t first = divide(lane, lanes); first < from.rows; first += loads * rows_at_once) {
      array<float, 4> values[loads];
      TILEWRIGHT_UNROLL_ALL
      for (index_t i = 0; i < loads; ++i) {
        const index_t row = min(first + i * rows_at_once, from.rows - 1);
        values[i] = exec::load_from_l2(reinterpret_cast<const float*>(from.first + row * from.stride + byte));
      }
      TILEWRIGHT_UNROLL_ALL
      for (index_t i = 0; i < loads; ++i) {
        const index_t row = first + i * rows_at_once;
        if (row < from.rows) exec::store_to_l2(reinterpret_cast<float*>(to + row * stride + byte), values[i]);
      }
    }
  }
  exec::wave_sync();
}
#endif

}  // namespace tilewright::parallel::detail
