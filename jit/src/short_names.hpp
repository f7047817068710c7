// SPDX-License-Identifier: MIT
// Makes cubins smaller.
#pragma once

#include <string>

namespace tilewright::jit {

/// The same cubin with short names for the device variables that only it sees. NVRTC keeps each constant of the headers
/// as a variable, and their names hold layouts: several times as many bytes as all else. What is not understood is left
/// as it is.
std::string with_short_names(const std::string& cubin);

}  // namespace tilewright::jit
