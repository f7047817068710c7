// SPDX-License-Identifier: MIT
#include "own_kernels.hpp"

#include <tilewright/core/arch/arch.hpp>
#include <tilewright/kernels/gemm/choice/portable_gemm_choice.hpp>

namespace predict {
namespace {

namespace tw = tilewright;

template <class Arch>
std::vector<tw::cdna_gemm_kernel> named_kernels() {
  constexpr tw::operand_major k = tw::operand_major::k;
  std::vector<tw::cdna_gemm_kernel> result;
  for (const tw::gemm_static_report& report : tw::named_reports<Arch, tw::bfloat16_t, k, k, 8>())
    result.push_back(report.as_cdna_kernel(1));
  return result;
}

}  // namespace

std::vector<tw::cdna_gemm_kernel> own_16bit_kernels(const tw::arch::cdna_gpu& gpu) {
  static const std::vector<tw::cdna_gemm_kernel> gfx942 = named_kernels<tw::arch::gfx942>(),
                                                 gfx950 = named_kernels<tw::arch::gfx950>();
  return gpu.isa == &tw::arch::gfx950::value ? gfx950 : gfx942;
}

std::vector<tw::cdna_gemm_kernel> own_block_scaled_kernels() {
  const tw::cdna_gemm_kernel large{.m = 128, .n = 128, .k = 128, .element_bits = 8, .scale_k = 128};
  tw::cdna_gemm_kernel small = large;
  small.m = small.n = 64;
  return {large, small};
}

}  // namespace predict
