// SPDX-License-Identifier: MIT
// A compiler for kernels: NVRTC, hipRTC, or a command.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace tilewright::jit {

/// What is compiled. Its #include "tilewright_single.hpp" is the library's header, which the toolchain provides.
struct translation_unit {
  std::string name;  // for messages
  std::string text;
  std::vector<std::string> definitions;  // NAME or NAME=value
};

class toolchain {
 public:
  virtual ~toolchain() = default;
  /// The compiler and its version, part of each key; without paths. Throws error if there is none or it is too old.
  virtual const std::string& identity() = 0;
  /// Whether threads that compile wait for each other.
  virtual bool does_one_at_a_time() const { return false; }
  /// A code object or cubin. Throws error with the first message of the compiler.
  virtual std::string compile(const translation_unit& unit) = 0;
};

/// `compiler`: "nvrtc", "hiprtc", the name or path of clang++, hipcc or nvcc; or empty: the first of those for the
/// target that is there. is_ahead: kernels are compiled ahead of their first launch, so code may take longer to make if
/// it loads faster. Throws error for a target that the library does not know, or where there is no compiler.
std::unique_ptr<toolchain> make_toolchain(const std::string& target, const std::string& compiler,
                                          const std::vector<std::string>& flags, bool is_ahead);

std::unique_ptr<toolchain> make_nvrtc(const std::string& target, const std::vector<std::string>& flags, bool is_ahead);
std::unique_ptr<toolchain> make_hiprtc(const std::string& target, const std::vector<std::string>& flags);
std::unique_ptr<toolchain> make_command(const std::string& target, const std::string& program,
                                        const std::vector<std::string>& flags);

/// The sentence for a compilation that failed: the first line of the log that is an error.
[[noreturn]] void throw_compile_error(const std::string& compiler, const std::string& kernel, const std::string& target,
                                      const std::string& log);

/// Throws error if the number after `word` in a version text is less than the smallest version that compiles the
/// headers.
void require_version(const std::string& compiler, const std::string& text, const std::string& word, int smallest,
                     const std::string& target);

}  // namespace tilewright::jit
