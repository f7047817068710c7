// SPDX-License-Identifier: MIT
// The product that a result is compared with, epilogue included, in double precision from the same inputs.
#pragma once

#include <cstdint>
#include <functional>

#include "inputs.hpp"

namespace gemm_program {

/// Some rows and columns of the reference for matrix `batch`, row after row, `stride` values apart.
struct reference_tile {
  std::int64_t index = 0;  // which one of reference_tile_count
  std::int64_t batch = 0, row = 0, col = 0, rows = 0, cols = 0;
  const double* values = nullptr;
  std::int64_t stride = 0;
};

std::int64_t reference_tile_count(const problem& p);

/// Computes the reference tile by tile on all cores and hands each tile to visit, which several threads call at a time.
/// `data` holds the operands; initial_c is not read if beta is 0.
/// progress(fraction) is called on this thread now and then; it may be empty.
void compute_reference(const inputs& data, const matrix& initial_c,
                       const std::function<void(const reference_tile&)>& visit,
                       const std::function<void(double)>& progress = {});

}  // namespace gemm_program
