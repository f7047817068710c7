// SPDX-License-Identifier: MIT
// Archives: files with compiled kernels that a program loads without a compiler.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright::jit {

/// The kernels of one file. Read-only, so threads may share it.
class archive {
 public:
  /// Reads the file. Throws error if it is missing, damaged, or no archive, or if users other than this one and root
  /// may have written it.
  explicit archive(const std::filesystem::path& path);
  archive(const archive&) = delete;
  archive& operator=(const archive&) = delete;

  /// The code object under a key (32 bytes), or nothing (null). Throws error if it is damaged.
  std::string_view find(std::string_view key) const;

  /// Names of what is in the file: a kernel and its target, as in "scale for gfx942", or a text.
  std::vector<std::string> names() const;

  /// A text that travels with the kernels, such as a tuning file; empty if there is none of this name.
  std::string_view text(const std::string& name) const;

 private:
  struct entry {
    std::size_t begin, bytes;  // of the record
  };
  std::string_view intact_data(const entry& e) const;

  std::filesystem::path path_;
  std::string bytes_;
  std::map<std::string, entry, std::less<>> entries_;  // by key
  std::map<std::string, entry, std::less<>> texts_;    // by name
  std::vector<std::string> names_;
};

/// Collects kernels and writes them.
class archive_writer {
 public:
  void add(std::string_view key, const std::string& name, std::string_view code_object);
  void add_text(const std::string& name, std::string_view text);
  /// What a file of them holds.
  std::string bytes() const;
  /// Replaces the file. Throws error where that fails, or where it is no regular file.
  void write(const std::filesystem::path& path) const;

 private:
  std::map<std::string, std::string> records_;  // by key, so that the same kernels make the same file
};

}  // namespace tilewright::jit
