// SPDX-License-Identifier: MIT
// A launch that is repeated to be timed.
#pragma once

#include <functional>

namespace tilewright::jit {

struct repeated_launch {
  std::function<void(void* stream)> launch;  ///< queues work on the stream, and does nothing else on the GPU
  int count = 1;                             ///< how often
};

}  // namespace tilewright::jit
