// SPDX-License-Identifier: MIT
// Verifies contenders on one problem, then times them against each other.
#pragma once

#include "contender.hpp"
#include "median.hpp"
#include "operand_pool.hpp"

namespace gpu_benchmark {

struct race_options {
  int rounds = 16;  // blocks of launches for each contender; even, so that half of them run in reverse order
  double block_seconds = 0.03;  // of launches in CUDA graphs, so that no host's time counts
  std::uint64_t seed = 1;
  bool verify_only = false;
};

/// What became of one contender.
struct standing {
  std::string name, choice;
  std::string refusal;  // why it did not take part; everything below is then empty
  deviation error{};
  double difference_to_first = 0;  // ||c - c of the first contender|| / ||c of the first||
  bool correct = false;
  std::vector<double> seconds;    // one launch in a CUDA graph, by block
  std::vector<double> megahertz;  // of the SMs' clock after each of these blocks
  double host_seconds = 0;        // of the call that queues a launch into a stream, the median
  double tflops(const problem& p) const { return p.flops() / median(seconds) * 1e-12; }
};

/// All contenders on the same buffers. A block replays a CUDA graph of launches, each of which takes the next set of
/// operands; blocks of the contenders are interleaved. Where the GPU's clock falls below half of its highest, a second
/// later everything is timed again, at most three times in all.
std::vector<standing> race(const problem& p, const std::vector<std::unique_ptr<contender>>& contenders,
                           const race_options& options);

/// Relative errors up to this are rounding: of the result's type, with a margin for the order of summation in float.
/// The tensor cores add products of 8-bit elements with few bits, in cublasLt as here: more are lost where k is long.
inline double tolerance(const problem& p) {
  return p.type == element::f16 ? 5e-4 : p.type == element::bf16 ? 4e-3 : 6e-3;
}

}  // namespace gpu_benchmark
