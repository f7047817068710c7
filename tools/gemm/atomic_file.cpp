// SPDX-License-Identifier: MIT
// An output file that appears under its name only when it is complete.
#include "atomic_file.hpp"

#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>

#include <unistd.h>

#include "backend.hpp"

namespace gemm_program {

namespace fs = std::filesystem;

void atomic_file::refuse(int error) const {
  throw refusal("cannot write " + shown_.string() + ": " + std::strerror(error));
}

atomic_file::atomic_file(const fs::path& name) : shown_(name) {
  std::error_code error;
  final_ = fs::weakly_canonical(name, error);  // a symbolic link stays one: its target is replaced
  if (error) refuse(error.value());
  const fs::file_status status = fs::status(final_, error);
  if (fs::exists(status)) {
    if (!fs::is_regular_file(status)) throw refusal("cannot write " + shown_.string() + ": it is not a regular file");
    if (access(final_.c_str(), W_OK) != 0) refuse(errno);
  } else if (final_.filename().empty()) {
    refuse(EISDIR);
  }
  for (int attempt = 0; attempt < 100 && !file_; ++attempt) {
    temporary_ = final_;
    temporary_ +=
        std::string(".").append(std::to_string(getpid())).append("-").append(std::to_string(attempt)).append(".tmp");
    file_ = std::fopen(temporary_.c_str(), "wbx");
    if (!file_ && errno != EEXIST) break;
  }
  if (!file_) refuse(errno);
}

atomic_file::~atomic_file() {
  if (file_) std::fclose(file_);
  std::error_code ignored;
  if (!temporary_.empty()) fs::remove(temporary_, ignored);
}

void atomic_file::write(const void* bytes, std::size_t count) {
  if (std::fwrite(bytes, 1, count, file_) != count) refuse(errno);
}

void atomic_file::commit() {
  if (std::fflush(file_) != 0 || fsync(fileno(file_)) != 0) refuse(errno);
  std::FILE* const file = file_;
  file_ = nullptr;
  if (std::fclose(file) != 0) refuse(errno);
  std::error_code error;
  fs::rename(temporary_, final_, error);
  if (error) refuse(error.value());
  temporary_.clear();
}

void require_writable(const fs::path& name) { const atomic_file probe(name); }

}  // namespace gemm_program
