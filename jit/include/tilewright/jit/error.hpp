// SPDX-License-Identifier: MIT
// The error that tilewright::jit throws.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace tilewright::jit {

/// Something is missing, damaged or does not compile. what() is one sentence that names the kernel; log: all that the
/// compiler has written.
struct error : std::runtime_error {
  explicit error(const std::string& sentence, std::string compiler_log = {})
      : std::runtime_error("jit: " + sentence), log(std::move(compiler_log)) {}
  std::string log;
};

/// The kernel cannot compute this problem, or was not made for these arguments: the sentence is that of its check().
struct refused : error {
  using error::error;
};

}  // namespace tilewright::jit
