// SPDX-License-Identifier: MIT
// Reads kernel_facts from a code object or cubin; both are ELF files.
#pragma once

#include <string>
#include <string_view>

#include <tilewright/launch/kernel_facts.hpp>

namespace tilewright::jit {

/// Throws error, which names the kernel, if the file is no such file.
kernel_facts read_facts(std::string_view code_object, const std::string& kernel);

}  // namespace tilewright::jit
