// SPDX-License-Identifier: MIT
// Compiles an all-gather and GEMM of several AMD GPUs, over RCCL.
#include <tilewright/kernels/gemm/gemm_kernel.hpp>
#include <tilewright/kernels/gemm/named_policies.hpp>
#include <tilewright/kernels/parallel/communicator.hpp>
#include <tilewright/kernels/parallel/rank_products.hpp>

namespace tw = tilewright;
namespace p = tw::parallel;

struct policy : tw::gemm_256x256<tw::arch::gfx942, tw::bfloat16_t, tw::operand_major::k, tw::operand_major::k, 8> {};

void run_products(const p::rank_environment& here, const tw::gemm_args& args) {
  p::communicator ranks(here);
  p::collective_all_gather<tw::gemm_kernel<policy>, p::communicator> gather(ranks, args);
  gather(nullptr);
  ranks.finish(nullptr);
}
