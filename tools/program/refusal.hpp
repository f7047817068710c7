// SPDX-License-Identifier: MIT
// A request that cannot be carried out.
#pragma once

#include <stdexcept>

namespace program {

/// The message is one sentence for the user: what is wrong and what is possible. The exit code is 2.
struct refusal : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace program
