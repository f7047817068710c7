// SPDX-License-Identifier: MIT
// GEMMs that several GPUs compute together (tensor parallel): all-gather before, reduce-scatter after.
#pragma once

#include <cstdint>

#include <tilewright/ops/gemm.hpp>

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

}  // namespace tilewright::ops
