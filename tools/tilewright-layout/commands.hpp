// SPDX-License-Identifier: MIT
// What tilewright-layout does.
#pragma once

#include "options.hpp"

namespace tilewright_layout {

struct answer {
  int exit_code = 0;
  std::string text;
};

/// Throws refusal.
answer answer_to(const options& asked);

}  // namespace tilewright_layout
