// SPDX-License-Identifier: MIT
// How much memory this process may still take.
#pragma once

#include <cstdint>
#include <filesystem>

namespace program {

/// Bytes: the least of what the machine has available (MemAvailable), what is left to each of the process's cgroups
/// (version 1 or 2; file caches count as free) and what is left of its address space (RLIMIT_AS). The largest int64
/// where nothing is known. `root`: where /proc and /sys are.
std::int64_t available_memory(const std::filesystem::path& root = "/");

}  // namespace program
