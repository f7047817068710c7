// SPDX-License-Identifier: MIT
// Something that computes matrix products on a GPU, to be compared with others.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>

#include "problem.hpp"

namespace gpu_benchmark {

class contender {
 public:
  virtual ~contender() = default;
  virtual std::string name() const = 0;

  /// Problems that prepare() will be called with: a chance to compile kernels for all of them at once.
  virtual void announce(const std::vector<problem>&) {}

  /// Gets ready for a problem and sets of operands that launch() will be called with; may run on the device, and may
  /// write to every c. Returns why it cannot compute this problem, or an empty string.
  virtual std::string prepare(const problem& p, const std::vector<operands>& sets) = 0;

  /// Queues the product of one of those sets; does not wait.
  virtual void launch(std::size_t set, cudaStream_t stream) = 0;

  /// What it chose for the problem (kernel, tile, algorithm), for the report.
  virtual std::string choice() const { return {}; }
};

/// Each is defined in the file of that name.
std::unique_ptr<contender> make_cublas_contender();
std::unique_ptr<contender> make_tilewright_contender(bool tuned);
std::unique_ptr<contender> make_portable_contender();
std::unique_ptr<contender> make_exact_contender(bool searches);

}  // namespace gpu_benchmark
