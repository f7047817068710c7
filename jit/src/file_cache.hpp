// SPDX-License-Identifier: MIT
// Compiled kernels in a folder, one file for each key, shared by processes.
#pragma once

#include <atomic>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include <tilewright/jit/cache_options.hpp>

#include "files.hpp"
#include "sha256.hpp"

namespace tilewright::jit {

class file_cache {
 public:
  explicit file_cache(const cache_options& options);

  const std::filesystem::path& directory() const { return directory_; }  // empty: there is none that is trusted

  /// The data of an intact entry.
  std::optional<std::string> find(const digest& key) const;

  /// Keeps data. Where that fails, the next run compiles again; trouble() says why.
  void store(const digest& key, std::string_view name, std::string_view data);
  std::string trouble() const;

  /// A file or folder of kernels that is not used: trouble() is that of the first from now on.
  void distrust(const untrusted& e) const;

  /// Held while a key's kernel is being compiled, so that other processes wait for it. The kernel releases it where its
  /// process ends. Does nothing where the folder cannot be written.
  class lock {
   public:
    lock(const file_cache& cache, const digest& key);
    ~lock();
    lock(const lock&) = delete;
    lock& operator=(const lock&) = delete;

   private:
    int file_ = -1;
  };

 private:
  void remove_oldest();

  std::filesystem::path directory_;
  cache_options options_;
  std::atomic<std::uintmax_t> stored_since_check_;
  mutable std::mutex mutex_;
  std::string trouble_;
  mutable std::string distrust_;
};

}  // namespace tilewright::jit
