// SPDX-License-Identifier: MIT
// PTX of NVRTC, and ptxas, the program of CUDA's toolkit that assembles it.
#pragma once

#include <optional>
#include <string>

namespace tilewright::jit {

/// PTX without the variables that nothing in it reads. NVRTC makes a variable of each constant in the headers.
std::string without_unused_variables(std::string ptx);

/// A ptxas of release major.minor, or of a later one with this major, whose cubins the same drivers load: the one in
/// PATH, or else in CUDA_HOME, CUDA_PATH or /usr/local/cuda. Empty: there is none.
std::string find_ptxas(int major, int minor);

/// The cubin of a whole program for `target`; nothing if the ptxas made none.
std::optional<std::string> assemble(const std::string& ptxas, const std::string& ptx, const std::string& target);

}  // namespace tilewright::jit
