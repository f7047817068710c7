// SPDX-License-Identifier: MIT
// An output file that appears under its name only when it is complete.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace program {

/// Writes to a temporary file in the folder of the target; commit() renames it. Without commit() nothing remains, not
/// even after a signal that ends the program. An existing file keeps its mode and owner; a symbolic link stays, and
/// its target is written, which need not exist yet; a file with several hard links is refused, and a named pipe, whose
/// reader would be waited for. Devices are written as they are. Every function throws refusal.
class output_file {
 public:
  explicit output_file(const std::string& name);
  output_file(const output_file&) = delete;
  output_file& operator=(const output_file&) = delete;
  ~output_file();

  void write(const void* bytes, std::size_t count);
  void write(std::string_view text) { write(text.data(), text.size()); }
  /// Everything is on the disk: what can fail for want of space has been done.
  void finish();
  /// Calls finish() unless that has been done.
  void commit();

 private:
  [[noreturn]] void refuse(int error) const;
  void open_temporary(bool exists, unsigned mode);

  std::string shown_, target_, temporary_;
  int file_ = -1;
};

/// Throws what the constructor throws; leaves the file system as it was.
void require_writable(const std::string& name);

/// Writes all of a file.
void write_file(const std::string& name, std::string_view text);

}  // namespace program
