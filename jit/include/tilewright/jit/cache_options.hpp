// SPDX-License-Identifier: MIT
// Where compiled kernels are kept between runs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace tilewright::jit {

/// A cache may be shared by processes, moved, copied and deleted at any time. What cannot be written is compiled again
/// in the next run; what is damaged is made again. Folders and entries are used if they belong to this process's user
/// or to root, and neither their group nor others may write to them.
struct cache_options {
  bool enabled = true;
  std::filesystem::path directory = {};  // empty: TILEWRIGHT_CACHE_DIR, else tilewright in XDG_CACHE_HOME or ~/.cache
  std::uintmax_t max_bytes = std::uintmax_t{1} << 30;  // the entries that were not used for the longest time go first
  std::vector<std::filesystem::path> read_only = {};   // other caches, asked where `directory` has no entry
};

}  // namespace tilewright::jit
