// SPDX-License-Identifier: MIT
// This library's GEMM kernels as the model sees them.
#pragma once

#include <vector>

#include <tilewright/kernels/gemm/choice/cdna_gemm_model.hpp>

namespace predict {

/// The named policies of 16-bit operands that are contiguous along k, of a GPU's target.
std::vector<tilewright::cdna_gemm_kernel> own_16bit_kernels(const tilewright::arch::cdna_gpu& gpu);

/// Kernels of 8-bit operands with scales of 1 x 128 and 128 x 128: tiles of 128 x 128 and of 64 x 64.
std::vector<tilewright::cdna_gemm_kernel> own_block_scaled_kernels();

}  // namespace predict
