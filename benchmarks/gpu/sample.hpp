// SPDX-License-Identifier: MIT
// GEMMs drawn at random, from a population of shapes or from layers of models, and the regimes that group results.
#pragma once

#include "problem.hpp"

namespace gpu_benchmark {

/// `count` products that follow from `seed` alone. m is 1 to 32,768, n and k 256 to 32,768, each log-uniform; nine of
/// ten lengths (of m: those from 64 on) are rounded to multiples of 64. Types are drawn from `types`, orders of A and B
/// from all four. e4m3 comes in the one order that cublasLt supports, with n and k in multiples of 16.
std::vector<problem> sample_problems(int count, std::uint64_t seed, const std::vector<element>& types);

/// `count` GEMMs of linear layers that follow from `seed` alone: n and k from a published model's layer, whole or split
/// over 2, 4 or 8 GPUs (tensor parallel) half of the time; m is 1 to 16,384 tokens, log-uniform, one in four rounded to
/// a power of two. A is row-major, B holds weights of n x k. Types are drawn from `types`.
std::vector<problem> sample_layers(int count, std::uint64_t seed, const std::vector<element>& types);

/// What a GEMM's speed depends on most: whether rows are aligned to 16 bytes, then m.
enum class regime : signed char { unaligned, rows_16, rows_64, rows_256, rows_1024, more_rows };
inline constexpr int num_regimes = 6;
const char* name_of(regime r);
regime regime_of(const problem& p);

}  // namespace gpu_benchmark
