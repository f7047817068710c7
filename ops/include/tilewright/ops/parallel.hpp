// SPDX-License-Identifier: MIT
// GEMMs and expert layers that several GPUs compute together: all-gather before, reduce-scatter after.
#pragma once

#include <cstdint>

#include <tilewright/ops/gemm.hpp>
#include <tilewright/ops/moe.hpp>

namespace tilewright::ops {

/// One rank's way to the others: functions that queue a collective on a stream, for memory of this rank's GPU. All
/// ranks make the same calls in the same order. A function returns null, or a sentence that says why nothing was
/// queued.
struct communicator {
  int rank = 0;             ///< this rank, from 0
  int ranks = 1;            ///< how many there are, >= 1
  void* context = nullptr;  ///< given to the functions
  /// `received` gets the `bytes` bytes of all ranks in their order, ranks * bytes in all. Of ranks > 1.
  const char* (*all_gather)(void* context, const void* sent, void* received, std::int64_t bytes,
                            void* stream) = nullptr;
  /// Rank r's bytes from `sent` + rank * bytes on go to `received` + r * bytes: each rank sends `bytes` bytes to each.
  const char* (*all_to_all)(void* context, const void* sent, void* received, std::int64_t bytes,
                            void* stream) = nullptr;
};

/// By NCCL or RCCL, which is loaded at the first use. comm: an ncclComm_t of `ranks` ranks, which stays the caller's.
/// Throws operation_error if the library is not there.
communicator nccl_communicator(void* comm, int rank, int ranks);

/// C (ranks m, n) = A (ranks m, k) B (k, n), where each rank has m rows of A, in the order of ranks, and its own B. a:
/// (m, k) contiguous along k; m is the same on all ranks. C has the rows of all ranks; options are those of gemm, for
/// all of C. Memory for A of all ranks is the library's, for each stream. The rows are gathered before the GEMM starts;
/// kernels/parallel/parallel_gemm.hpp has kernels that overlap both. Throws operation_error as gemm does.
void all_gather_gemm(const tensor& c, const tensor& a, const tensor& b, const communicator& ranks,
                     const gemm_options& options = {});

struct reduce_scatter_options {
  float alpha = 1;         ///< factor of the sum
  void* stream = nullptr;  ///< as in gemm_options
};

/// C (m / ranks, n) = rows [rank m / ranks, (rank + 1) m / ranks) of the sum over ranks of A (m, k) B (k, n), where
/// each rank has its own slice of k. m is a multiple of `ranks`. c: f16, bf16 or f32, packed. The products of ranks are
/// rounded to C's type before they are sent, and added in f32 in the order of ranks, so all runs have equal bits.
void gemm_reduce_scatter(const tensor& c, const tensor& a, const tensor& b, const communicator& ranks,
                         const reduce_scatter_options& options = {});

/// moe of experts that several GPUs have (expert parallel): rank r has experts [r e, (r + 1) e), the e experts of its
/// gate_up and down, and tokens of its own, as many on each rank.
///   x, y      (tokens, d); y packed or with a row stride
///   logits    (tokens, ranks e). None: `expert` and `weight` of the options are given, of this rank's tokens
/// Tokens and their choices go to all ranks; each adds up what its experts make of them, rounded to y's type, and sums
/// of ranks are added in f32 in the order of ranks: the same bits in each run. `capacity` counts the tokens of all
/// ranks; a workspace is that of moe for them. There are no shared experts: each rank computes those of its tokens by
/// itself. kernels/parallel/expert_exchange.hpp has kernels that send a row to the ranks of its experts only. Throws
/// operation_error as moe does.
void expert_parallel_moe(const tensor& y, const tensor& x, const tensor& logits, const tensor& gate_up,
                         const tensor& down, const communicator& ranks, const moe_options& options);

}  // namespace tilewright::ops
