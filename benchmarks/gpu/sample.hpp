// SPDX-License-Identifier: MIT
// Products drawn at random from a population of shapes, and the classes into which its results are grouped.
#pragma once

#include "problem.hpp"

namespace gpu_benchmark {

/// `count` products that follow from `seed` alone. m is 1 to 32,768, n and k 256 to 32,768, each log-uniform; nine of
/// ten lengths (of m: those from 64 on) are rounded to multiples of 64. Types are drawn from `types`, orders of A and B
/// from all four. e4m3 comes in the one order that cublasLt supports, with n and k in multiples of 16.
std::vector<problem> sample_problems(int count, std::uint64_t seed, const std::vector<element>& types);

/// What a product's time depends on most; the first that applies.
enum class problem_class : signed char {
  unaligned,  // rows of a matrix start at addresses that are no multiples of 16 bytes
  small_m,    // m of 1 to 16
  some_rows,  // m of 17 to 64
  short_k,    // k up to 512, C of at least 4 Mi elements
  long_k,     // k of at least 16 times the root of m n
  small,      // less than 2^33 multiplications
  large
};
inline constexpr int num_problem_classes = 7;
const char* name_of(problem_class c);
problem_class class_of(const problem& p);

}  // namespace gpu_benchmark
