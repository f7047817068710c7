// SPDX-License-Identifier: MIT
// What the files of libtilewright_parallel share.
#pragma once

#include <tilewright/gemm/specialized_choice.hpp>
#include <tilewright/parallel/communicator.hpp>
#include <tilewright/parallel/fused_products.hpp>

#include <functional>
#include <memory>

using parallel_call = std::function<void(cudaStream_t)>;

/// kind: all_gather, reduce_scatter, all_reduce; tile: of specialized_tiles.
struct parallel_request {
  const char *kind, *type;
  int tile, pieces;
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
