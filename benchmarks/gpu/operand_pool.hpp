// SPDX-License-Identifier: MIT
// Device memory with Gaussian operands, in enough sets that none stays in the L2 cache
// of them when its turn comes.
#pragma once

#include "device.hpp"
#include "problem.hpp"

namespace gpu_benchmark {

class operand_pool {
 public:
  operand_pool(const problem& p, std::uint64_t seed);
  const std::vector<operands>& sets() const { return sets_; }

  /// Fills every c with NaN.
  void poison(const problem& p);

 private:
  buffer memory_;
  std::vector<operands> sets_;
};

/// How far a result lies from the exact product: for every element, |c - exact| / (the root of k, times the deviation
/// of an element of A and of B). Entries along the tile edges, in the last row and column,
/// and a random sample are computed in double precision.
struct deviation {
  double relative_error;    // ||c - exact|| / ||exact|| over the entries that were computed
  double worst;             // the largest |c - exact| / root-mean-square of exact
  std::int64_t entries;     // that were computed
  std::int64_t not_finite;  // in the whole of c: never written, or overflown
};
deviation compare_with_double(const problem& p, const operands& o, std::uint64_t seed);

/// ||x - y|| / ||y|| over the whole of two results.
double difference(const problem& p, const void* x, const void* y);

}  // namespace gpu_benchmark
