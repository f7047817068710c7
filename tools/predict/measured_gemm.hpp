// SPDX-License-Identifier: MIT
// Measured GEMMs of AMD GPUs: rows of aiter's tuning tables.
#pragma once

#include <cstdint>
#include <istream>
#include <string>
#include <vector>

#include "kernel_name.hpp"

namespace predict {

struct measured_gemm {
  const tw::arch::cdna_gpu* gpu = nullptr;  ///< nullptr: one that the model has no facts of.
  std::int64_t m = 0, n = 0, k = 0;
  tw::index_t element_bits = 16;
  bool block_scaled = false;  ///< A scale for each 1 x 128 of A and 128 x 128 of B.
  bool batched = false;       ///< Several GEMMs in a launch; the tables do not say how many.
  named_kernel kernel;
  bool splits_by_itself = false;  ///< The number of slices of k is not in the table.
  std::string kernel_name;
  double us = 0;
};

/// Rows of a CSV with the columns file, gfx, cu_num, kernel, M, N, K, splitK and us, in any order, others ignored. An
/// empty file, gfx, cu_num or kernel is that of the row above. Rows without a positive time are left out. Throws
/// program::refusal with the line's number where a number is none.
std::vector<measured_gemm> read_measured(std::istream& csv);

/// A number for a shape that is as good as drawn, by a hash of m, n, k and a seed.
std::uint64_t hash_of_shape(const measured_gemm& g, std::uint64_t seed = 0);

/// Whether the constants may be fitted to a shape: about half of them, by a hash of m, n and k.
bool is_fitted(const measured_gemm& g);

}  // namespace predict
