// SPDX-License-Identifier: MIT
// What one run computes with: matrices from files or random, and what the epilogue needs.
#pragma once

#include <functional>
#include <string>

#include "matrix.hpp"
#include "options.hpp"

namespace gemm_program {

/// What the epilogue needs; parts that the problem does not ask for are empty.
struct epilogue_data {
  float scale = 1;
  std::vector<float> row_scale, column_scale;  // m, n
  matrix bias;                                 // 1 x n
  matrix residual;                             // m x n
};

struct inputs {
  problem what;
  matrix a, b, c;
  epilogue_data epilogue;
  std::string a_source, b_source, c_source;  // a file name, "random", or for a C that does not count "none"

  operands pointers();
};

/// Settles sizes, element types and orders for a machine that takes these 8-bit formats, refuses what does not match or
/// does not fit the memory of this machine, lets `require` refuse more, and only then reads or draws the matrices. A C
/// that does not count (beta = 0 and no file) is full of NaN.
inputs prepare_inputs(const options& o, tw::arch::fp8_kind fp8, const std::string& target,
                      const std::function<void(const problem&)>& require = {});

/// Whether this run is compared with the reference.
bool is_verified(const options& o, const problem& p);

}  // namespace gemm_program
