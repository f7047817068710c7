// SPDX-License-Identifier: MIT
// Writes what the tool prints.
#include "output_file.hpp"

#include "refusal.hpp"

#include <tilewright/viz/svg.hpp>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include <sys/stat.h>
#include <unistd.h>

namespace tilewright_layout {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void refuse(const std::string& file, int error) {
  throw refusal("the output cannot be written to " + (file.empty() ? "standard output" : "'" + readable(file) + "'") +
                ": " + std::strerror(error));
}

/// 0, or the error.
int write_and_close(std::FILE* out, const std::string& text, bool to_disk) {
  int error = 0;
  const auto note = [&](bool is_done) { error = is_done || error != 0 ? error : errno; };
  note(std::fwrite(text.data(), 1, text.size(), out) == text.size());
  note(std::fflush(out) == 0);
  if (to_disk) note(fsync(fileno(out)) == 0);
  if (out != stdout) note(std::fclose(out) == 0);
  return error;
}

}  // namespace

void write_output(const std::string& text, const std::string& file) {
  std::error_code unknown;
  const fs::path name = fs::weakly_canonical(file, unknown);  // a symbolic link stays one
  struct stat status{};
  const bool exists = !file.empty() && stat(name.c_str(), &status) == 0;
  if (file.empty() || (exists && !S_ISREG(status.st_mode))) {
    std::FILE* const out = file.empty() ? stdout : std::fopen(file.c_str(), "wb");
    if (out == nullptr) refuse(file, errno);
    if (const int error = write_and_close(out, text, false); error != 0) refuse(file, error);
    return;
  }
  if (exists && access(name.c_str(), W_OK) != 0) refuse(file, errno);
  const std::string temporary = name.string() + "." + std::to_string(getpid()) + ".tmp";
  std::FILE* const out = std::fopen(temporary.c_str(), "wbx");
  if (out == nullptr) refuse(file, errno);
  if (exists) fchmod(fileno(out), status.st_mode & 07777);
  int error = write_and_close(out, text, true);
  if (error == 0 && std::rename(temporary.c_str(), name.c_str()) != 0) error = errno;
  if (error != 0) {
    std::remove(temporary.c_str());
    refuse(file, error);
  }
}

std::string readable(const std::string& text) { return tilewright::viz::printable(text); }

}  // namespace tilewright_layout
