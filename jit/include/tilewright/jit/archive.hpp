// SPDX-License-Identifier: MIT
// Archives: compiled kernels, in a file or in the program, that are loaded without a compiler.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright::jit {

/// Makes an archive known that is part of the program: all compilers ask it before those of their options. Its bytes
/// stay where they are. tilewright_add_kernels of CMake calls this before main. Throws error if it is damaged, or was
/// made by another version of the library.
void add_program_archive(std::string_view bytes);

/// The kernels of one archive. Read-only, so threads may share it.
class archive {
 public:
  /// Reads the file. Throws error if it is missing, damaged, or no archive, or if users other than this one and root
  /// may have written it.
  explicit archive(const std::filesystem::path& path);
  /// What lies in memory, and stays there. name: in messages.
  archive(std::string_view bytes, std::string name);
  archive(const archive&) = delete;
  archive& operator=(const archive&) = delete;

  /// The code object under a key (32 bytes), or nothing (null). Throws error if it is damaged.
  std::string_view find(std::string_view key) const;

  /// Names of what is in the file: a kernel and its target, as in "scale for gfx942", or a text.
  std::vector<std::string> names() const;

  /// A text that travels with the kernels, such as a tuning file; empty if there is none of this name.
  std::string_view text(const std::string& name) const;

  /// The path of the file, or the name.
  const std::string& name() const { return name_; }

 private:
  struct entry {
    std::size_t begin, bytes;  // of the record
  };
  std::string_view intact_data(const entry& e) const;
  void read_entries();

  std::string name_;
  std::string file_;                                   // of an archive that was read
  std::string_view bytes_;                             // all of it
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
