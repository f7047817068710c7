// SPDX-License-Identifier: MIT
// What the files of libtilewright_parallel share.
#pragma once

#include <tilewright/kernels/parallel/parallel_gemm.hpp>

#include <functional>
#include <memory>

struct parallel_call {
  std::function<void(cudaStream_t)> run;
  tilewright::parallel::parallel_choice choice;
};

/// kind: all_gather, reduce_scatter, all_reduce. transport and tile: a parallel_choice; transport -1: as the
/// model chooses.
struct parallel_request {
  const char *kind, *type;
  int transport, tile;
  const void *a, *b, *bias, *scale;
  void *c, *workspace;
  int m, n, k, lda, ldb, ldc;
};

parallel_call make_f16(tilewright::parallel::communicator&, const parallel_request&, const tilewright::gemm_args&,
                       const tilewright::parallel::peer_memory*);
parallel_call make_bf16(tilewright::parallel::communicator&, const parallel_request&, const tilewright::gemm_args&,
                        const tilewright::parallel::peer_memory*);
parallel_call make_e4m3(tilewright::parallel::communicator&, const parallel_request&, const tilewright::gemm_args&,
                        const tilewright::parallel::peer_memory*);
