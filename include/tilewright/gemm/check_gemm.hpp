// SPDX-License-Identifier: MIT
// Argument checks of all GEMM kernels.
#pragma once

#include <tilewright/gemm/gemm_policy.hpp>

namespace tilewright {

/// A sentence about what is wrong with the arguments; nullptr if nothing is. A pipeline adds its own demands, and
/// promises its epilogue what it reads.
template <class Policy>
constexpr const char* check_gemm(const typename Policy::args_type& args, const epilogue_promise& promise) {
  constexpr block_tile tile = Policy::tile;
  if (args.m < 1 || args.n < 1 || args.k < 1 || args.batch < 1) return "m, n, k and the batch count must be positive";
  if (args.m > 0x7fffffff - 4 * tile.m || args.n > 0x7fffffff - 4 * tile.n || args.k > 0x7fffffff - tile.k)
    return "m, n or k is too close to 2^31";
  if (args.lda < (Policy::a_major == operand_major::k ? args.k : args.m))
    return "lda is smaller than a row of A (a column, if A is column-major)";
  if (args.ldb < (Policy::b_major == operand_major::k ? args.k : args.n))
    return "ldb is smaller than a row of B (a column, if B is column-major)";
  if (args.ldc < args.n) return "ldc is smaller than a row of C";
  const auto is_integer = [](float x) { return x > -0x1p24f && x < 0x1p24f && x == float(int(x)); };
  if (__is_same(typename Policy::result_type, int) && !(is_integer(args.alpha) && is_integer(args.beta)))
    return "sums of integers can only be scaled by integers of less than 2^24: alpha and beta";
  return epilogue::detail::check<detail::epilogue_of<Policy>>(args, promise);
}

}  // namespace tilewright
