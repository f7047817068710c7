// SPDX-License-Identifier: MIT
// The library's headers as one text, part of this program.
#pragma once

#include <string>
#include <string_view>

namespace tilewright::jit {

std::string_view embedded_header();
/// Its SHA-256, computed once.
const std::string& embedded_header_digest();

}  // namespace tilewright::jit
