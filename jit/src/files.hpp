// SPDX-License-Identifier: MIT
// Files read at once, files replaced at once, and folders that vanish.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace tilewright::jit {

/// Nothing where the file cannot be read. `marks`: as used now, if that is allowed and the last mark is a minute old.
std::optional<std::string> read_file(const std::filesystem::path& path, bool marks = false);

/// Writes under another name that then becomes `path`: readers see the old file or the new one. Returns what failed, or
/// an empty string.
std::string replace_file(const std::filesystem::path& path, std::string_view data);

/// A new folder for one compilation, deleted with what is in it at the end. Throws error.
class temporary_folder {
 public:
  temporary_folder();
  ~temporary_folder();
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace tilewright::jit
