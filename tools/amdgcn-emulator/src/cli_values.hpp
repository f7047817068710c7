// SPDX-License-Identifier: MIT
// Values of amdgcn-run's options: numbers, lengths of a grid, contents of files; each or a refusal.
#pragma once

#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "cli_options.hpp"

namespace amdgcn_run {

inline void refuse_folder(const std::string& path) {
  struct stat status{};
  if (stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) throw refusal("'" + path + "' is a folder");
}

inline std::vector<std::uint8_t> read_file(const std::string& path) {
  refuse_folder(path);
  std::ifstream file;
  if (!std::filesystem::is_character_file(path)) file.open(path, std::ios::binary);  // /dev/zero never ends
  if (!file.is_open()) throw refusal("cannot open '" + path + "'");
  return {std::istreambuf_iterator<char>(file), {}};
}

/// In decimal, or in hexadecimal after 0x.
template <class Number>
Number number(const std::string& text, const std::string& what, Number least = std::numeric_limits<Number>::lowest(),
              Number most = std::numeric_limits<Number>::max()) {
  Number value{};
  const char *first = text.data(), *const last = first + text.size();
  std::from_chars_result end{};
  if constexpr (std::is_integral_v<Number>)
    end = text.starts_with("0x") ? std::from_chars(first + 2, last, value, 16) : std::from_chars(first, last, value);
  else
    end = std::from_chars(first, last, value);
  if (end.ec == std::errc() && end.ptr == last && value >= least && value <= most) return value;
  if constexpr (std::is_integral_v<Number>)
    throw refusal(what + " must be a whole number from " + std::to_string(least) + " to " + std::to_string(most) +
                  ", not '" + text + "'");
  throw refusal(what + " must be a number, not '" + text + "'");
}

inline emu::dim3 dimensions(const std::string& text, const std::string& what) {
  std::uint32_t lengths[3] = {1, 1, 1};
  std::size_t first = 0, count = 0;
  while (first <= text.size()) {
    if (count == 3) throw refusal(what + " has at most three dimensions, not '" + text + "'");
    const std::size_t end = std::min(text.find(',', first), text.size());
    lengths[count++] = number<std::uint32_t>(text.substr(first, end - first), "a length of " + what, 1, 0x7fffffff);
    first = end + 1;
  }
  return {lengths[0], lengths[1], lengths[2]};
}

}  // namespace amdgcn_run
