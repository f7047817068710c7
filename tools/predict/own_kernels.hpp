// SPDX-License-Identifier: MIT
// This library's GEMM kernels as the model sees them.
#pragma once

#include <string_view>
#include <vector>

#include <tilewright/kernels/gemm/choice/cdna_gemm_model.hpp>

namespace predict {

/// Kernels for operands that are contiguous along k, of a GPU's target. 16 bits: the named policies and the family of
/// tiles; 8 bits: the tiles for scales of 1 x 128 and 128 x 128.
const std::vector<tilewright::cdna_gemm_kernel>& own_kernels(const tilewright::arch::cdna_gpu& gpu,
                                                             tilewright::index_t element_bits);

/// The named policy of a target, "gemm_128x128", for 16-bit operands; nullptr: it has none of this name.
const tilewright::cdna_gemm_kernel* find_own_kernel(const tilewright::arch::cdna_gpu& gpu, std::string_view name);

}  // namespace predict
