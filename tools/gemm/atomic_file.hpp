// SPDX-License-Identifier: MIT
// An output file that appears under its name only when it is complete.
#pragma once

#include <cstddef>
#include <cstdio>
#include <filesystem>

namespace gemm_program {

/// Writes to a temporary file in the same folder; commit() renames it, and without commit() nothing remains.
/// Every function throws refusal with one sentence when the file cannot be written.
class atomic_file {
 public:
  explicit atomic_file(const std::filesystem::path& name);
  atomic_file(const atomic_file&) = delete;
  atomic_file& operator=(const atomic_file&) = delete;
  ~atomic_file();

  void write(const void* bytes, std::size_t count);
  void commit();

 private:
  [[noreturn]] void refuse(int error) const;

  std::filesystem::path shown_, final_, temporary_;
  std::FILE* file_ = nullptr;
};

/// Throws what the constructor of atomic_file throws; leaves the file system as it was.
void require_writable(const std::filesystem::path& name);

}  // namespace gemm_program
