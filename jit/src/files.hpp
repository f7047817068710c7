// SPDX-License-Identifier: MIT
// Files read at once, files replaced at once, and folders that vanish.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include <tilewright/jit/error.hpp>

namespace tilewright::jit {

/// Nothing where the file cannot be read.
std::optional<std::string> read_file(const std::filesystem::path& path);

/// Another user may have written the file or folder: it is neither this process's user's nor root's, or its group or
/// others may write to it.
struct untrusted : error {
  explicit untrusted(const std::string& sentence) : error(sentence), why(sentence) {}
  std::string why;
};

/// As read_file(). `marks`: as used now, if that is allowed and the last mark is a minute old. Throws untrusted.
std::optional<std::string> read_trusted_file(const std::filesystem::path& path, bool marks = false);

/// Throws untrusted. Nothing happens where there is no such file.
void require_trusted(const std::filesystem::path& path);

/// Makes the folder and those around it unless it is there; its group and others cannot write to it.
std::error_code make_folder(const std::filesystem::path& path);

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
