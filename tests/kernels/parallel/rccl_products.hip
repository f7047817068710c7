// SPDX-License-Identifier: MIT
// Compiles products of several AMD GPUs, over RCCL.
#include <tilewright/kernels/gemm/named_policies.hpp>
#include <tilewright/kernels/parallel/communicator.hpp>
#include <tilewright/kernels/parallel/portable_ranks.hpp>
#include <tilewright/kernels/parallel/rank_products.hpp>

namespace tw = tilewright;
namespace p = tw::parallel;

struct policy : tw::gemm_256x256<tw::arch::gfx942, tw::bfloat16_t, tw::operand_major::k, tw::operand_major::k, 8> {};

void run_products(const p::rank_environment& here, const tw::gemm_args& up, const tw::gemm_args& down) {
  p::communicator ranks(here);
  p::collective_all_gather<tw::gemm_kernel<policy>, p::communicator> first(ranks, up);
  p::collective_reduce_scatter<p::reduce_scatter_kernel<policy>, p::communicator> second(ranks, down);
  first(nullptr);
  second(nullptr);
  ranks.finish(nullptr);
}
