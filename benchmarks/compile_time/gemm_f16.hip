// SPDX-License-Identifier: MIT
// One GEMM kernel as a user's own file would hold it: f16, both operands contiguous along k.
#include <tilewright/core/arch/current.hpp>
#include <tilewright/kernels/gemm/gemm_kernel.hpp>

namespace tw = tilewright;

struct gemm_f16 {
  template <class Arch>
  using on = tw::gemm_policy<Arch, tw::half_t, tw::operand_major::k, tw::operand_major::k, 8>;
};

template <class Policy>
TILEWRIGHT_GLOBAL TILEWRIGHT_BLOCK_SIZE(256) void gemm([[maybe_unused]] tw::gemm_args args) {
#if TILEWRIGHT_DEVICE_PASS
  tw::gemm_kernel<typename Policy::template on<tw::arch::current>>{}(args);
#endif
}

template TILEWRIGHT_GLOBAL void gemm<gemm_f16>(tw::gemm_args);
