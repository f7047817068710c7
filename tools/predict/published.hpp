// SPDX-License-Identifier: MIT
// Rates that others published for kernels of AMD GPUs, and what the model says of them: a test with kernels, sizes and
// authors that no constant was fitted to. Attention forward and row kernels are modelled here, GEMMs by predict_gemm().
#pragma once

#include <tilewright/kernels/gemm/choice/cdna_gemm_model.hpp>

#include <string>

namespace predict {

/// Attention forward of 16-bit elements: `batch` sequences of `length` queries and as many keys for each of `heads`
/// heads of `dim` columns, of which `kv_heads` have keys of their own.
struct attention_problem {
  tilewright::long_index_t batch = 1, heads = 1, kv_heads = 1, length = 1, dim = 128;
  bool causal = false;  ///< keys up to a query's own; half of the work
};

/// Time and roofline, in microseconds. A block has 256 queries. For 64 scores a SIMD takes the clocks of its matrix
/// instructions and, one after the other, 36 of the softmax: an exp2 of 16 (a quarter of the rate of other vector
/// instructions: CDNA 3 ISA, transcendental instructions), and five instructions of 4: scale and subtract, maximum,
/// sum, and conversion and packing (tests/isa/budgets_attention.txt).
tilewright::cdna_gemm_time predict_attention(const tilewright::arch::cdna_gpu& gpu, const attention_problem& p);

/// A kernel that reads and writes `bytes` of rows once: HBM at the share that GEMMs reach, and the launch.
tilewright::cdna_gemm_time predict_rows(const tilewright::arch::cdna_gpu& gpu, double bytes);

/// Published and predicted rates, as a table.
std::string published_rates();

}  // namespace predict
