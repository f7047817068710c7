// SPDX-License-Identifier: MIT
// The matrices of one run: read from files, or random.
#pragma once

#include <string>

#include "matrix.hpp"
#include "options.hpp"

namespace gemm_example {

struct inputs {
  problem what;
  matrix a, b, c;
  std::string a_source, b_source, c_source;  // a file name, "random", or for a C that does not count "none"
};

/// Settles sizes, element type and orders, refuses what does not match or does not fit the memory of this machine, and
/// only then reads or draws the matrices. A C that does not count (beta = 0 and no file) is full of NaN.
inputs prepare_inputs(const options& o);

/// Whether this run is compared with the reference.
bool is_verified(const options& o, const problem& p);

}  // namespace gemm_example
