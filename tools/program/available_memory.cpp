// SPDX-License-Identifier: MIT
#include "available_memory.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <string>

#include <sys/resource.h>
#include <unistd.h>

namespace program {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t unknown = std::numeric_limits<std::int64_t>::max();

/// The number in a file of one; nothing for "max".
std::optional<std::int64_t> number_in(const fs::path& path) {
  std::int64_t number = 0;
  if (std::ifstream(path) >> number) return number;
  return std::nullopt;
}

/// The sum of the numbers after these words, of a file with a word at the start of each line.
template <class... Words>
std::int64_t numbers_after(const fs::path& path, const Words&... words) {
  std::ifstream file(path);
  std::int64_t sum = 0;
  for (std::string word, rest; file >> word; std::getline(file, rest)) {
    std::int64_t number = 0;
    if (((word == words) || ...) && file >> number) sum += number;
  }
  return sum;
}

/// What a cgroup may still take.
std::int64_t left_to_cgroup(const fs::path& folder, bool is_version_2) {
  const auto limit = number_in(folder / (is_version_2 ? "memory.max" : "memory.limit_in_bytes"));
  const auto used = number_in(folder / (is_version_2 ? "memory.current" : "memory.usage_in_bytes"));
  if (!limit || !used) return unknown;
  const fs::path counts = folder / "memory.stat";
  const std::int64_t of_files = is_version_2 ? numbers_after(counts, "inactive_file", "active_file")
                                             : numbers_after(counts, "total_inactive_file", "total_active_file");
  return std::max<std::int64_t>(0, *limit - std::max<std::int64_t>(0, *used - of_files));
}

/// The least of what the process's cgroups may take, from its own to the outermost. In a container, only the latter may
/// be visible.
std::int64_t left_to_cgroups(const fs::path& root) {
  std::ifstream file(root / "proc/self/cgroup");
  std::int64_t least = unknown;
  for (std::string line; std::getline(file, line);) {  // "0::/a/b" (version 2) or "4:memory,cpu:/a/b"
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const bool is_version_2 = controllers == ",,";
    if (!is_version_2 && controllers.find(",memory,") == std::string::npos) continue;
    const fs::path mounted = root / (is_version_2 ? "sys/fs/cgroup" : "sys/fs/cgroup/memory");
    for (fs::path below = fs::path(line.substr(second + 1)).relative_path();; below = below.parent_path()) {
      least = std::min(least, left_to_cgroup(mounted / below, is_version_2));
      if (below.empty()) break;
    }
  }
  return least;
}

std::int64_t left_of_address_space(const fs::path& root) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur >= rlim_t(unknown)) return unknown;
  const std::int64_t used = number_in(root / "proc/self/statm").value_or(0) * sysconf(_SC_PAGESIZE);
  return std::max<std::int64_t>(0, std::int64_t(limit.rlim_cur) - used);
}

}  // namespace

std::int64_t available_memory(const fs::path& root) {
  const std::int64_t kibibytes = numbers_after(root / "proc/meminfo", "MemAvailable:");
  const std::int64_t of_machine = kibibytes > 0 ? kibibytes * 1024 : unknown;
  return std::min({of_machine, left_to_cgroups(root), left_of_address_space(root)});
}

}  // namespace program
