// SPDX-License-Identifier: MIT
// The error that launch() throws.
#pragma once

#include <stdexcept>

namespace tilewright {

/// A launch was refused or could not start. Nothing ran and nothing was written. what() is one line: the one of the
/// kernel's check(), or one of launch() with the message of HIP or CUDA.
struct launch_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

namespace detail {

inline void require_threads(bool is_amd, long long threads) {
  if (is_amd && threads > 0xffffffffll)
    throw launch_error("launch: HIP starts fewer than 2^32 threads along a dimension of a grid; use several launches");
}

}  // namespace detail

}  // namespace tilewright
