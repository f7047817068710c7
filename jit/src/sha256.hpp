// SPDX-License-Identifier: MIT
// SHA-256. Its digests name kernels, so no two kernels may share one; sixty lines spare users a cryptography package.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace tilewright::jit {

using digest = std::array<std::uint8_t, 32>;

digest sha256(std::string_view text);

inline std::string_view raw_bytes(const digest& d) { return {reinterpret_cast<const char*>(d.data()), d.size()}; }

/// 64 hexadecimal digits.
std::string to_hex(const digest& d);

}  // namespace tilewright::jit
