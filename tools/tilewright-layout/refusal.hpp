// SPDX-License-Identifier: MIT
// A request that cannot be carried out.
#pragma once

#include <stdexcept>

namespace tilewright_layout {

/// The message is a sentence for the user: what is wrong and what is possible.
struct refusal : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace tilewright_layout
