// SPDX-License-Identifier: MIT
// The rate of the SMs' clock between pieces of queued work. A GPU that is kept from its usual clock, by others or by
// its limits, changes what is faster.
#pragma once

#include <vector>

#include "device.hpp"

namespace gpu_benchmark {

class clock_rate {
 public:
  explicit clock_rate(std::size_t most) : counts_(most * sizeof(count)) {}
  /// Queues a kernel of one thread on the default stream that counts clocks for 20 us. At most `most` times.
  void record();
  /// The rates in MHz in the order of record(), after the end of all that is queued.
  std::vector<double> megahertz() const;
  /// The highest of device 0.
  static double highest_megahertz();

 private:
  struct count {
    long long clocks, nanoseconds;
  };
  buffer counts_;
  std::size_t recorded_ = 0;
};

}  // namespace gpu_benchmark
