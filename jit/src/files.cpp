// SPDX-License-Identifier: MIT
#include "files.hpp"

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <random>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tilewright/jit/error.hpp>

namespace tilewright::jit {
namespace {

struct descriptor {
  explicit descriptor(int file) : file(file) {}
  descriptor(const descriptor&) = delete;
  ~descriptor() {
    if (file >= 0) ::close(file);
  }
  int file;
};

bool write_all(int file, std::string_view data) {
  while (!data.empty()) {
    const ssize_t written = ::write(file, data.data(), data.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    data.remove_prefix(std::size_t(written));
  }
  return true;
}

void mark_as_used(int file, const struct stat& status) {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  if (now.tv_sec - status.st_mtim.tv_sec > 60) (void)::futimens(file, nullptr);
}

void require_trusted(const std::filesystem::path& path, const struct stat& status) {
  const char* const remedy = "; kernels in it are not used";
  if (status.st_uid != 0 && status.st_uid != ::geteuid())
    throw untrusted(path.string() + " belongs to another user (" + std::to_string(status.st_uid) + ")" + remedy);
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    throw untrusted(path.string() + " may be written by its group or by others (chmod go-w)" + remedy);
}

std::optional<std::string> read(const std::filesystem::path& path, bool marks, bool must_be_trusted) {
  const descriptor in(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));  // a pipe has perhaps no writer
  struct stat status{};
  if (in.file < 0 || ::fstat(in.file, &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  if (must_be_trusted) require_trusted(path, status);
  std::string text(std::size_t(status.st_size), '\0');
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t got = ::read(in.file, text.data() + done, text.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::nullopt;
    if (got == 0) break;  // it has become shorter
    done += std::size_t(got);
  }
  text.resize(done);
  if (marks) mark_as_used(in.file, status);
  return text;
}

}  // namespace

std::optional<std::string> read_file(const std::filesystem::path& path) {
  return read(path, /*marks=*/false, /*must_be_trusted=*/false);
}

std::optional<std::string> read_trusted_file(const std::filesystem::path& path, bool marks) {
  return read(path, marks, /*must_be_trusted=*/true);
}

void require_trusted(const std::filesystem::path& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) == 0) require_trusted(path, status);
}

std::error_code make_folder(const std::filesystem::path& path) {
  std::error_code code;
  const std::filesystem::path whole = std::filesystem::absolute(path / "", code).parent_path();
  if (!code) std::filesystem::create_directories(whole.parent_path(), code);
  if (code || ::mkdir(whole.c_str(), 0755) == 0) return code;
  const int trouble = errno;
  std::error_code ignored;
  return std::filesystem::is_directory(whole, ignored) ? code : std::error_code(trouble, std::generic_category());
}

std::string replace_file(const std::filesystem::path& path, std::string_view data) {
  static thread_local std::mt19937_64 random{std::random_device{}()};
  std::filesystem::path temporary = path;
  temporary += "." + std::to_string(::getpid()) + "-" + std::to_string(random()) + ".new";
  int trouble = 0;
  {
    const descriptor out(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
    if (out.file < 0) return "cannot create " + temporary.string() + ": " + std::strerror(errno);
    if (!write_all(out.file, data)) trouble = errno;
  }
  if (trouble == 0 && ::rename(temporary.c_str(), path.c_str()) != 0) trouble = errno;
  if (trouble == 0) return {};
  ::unlink(temporary.c_str());
  return "cannot write " + path.string() + ": " + std::strerror(trouble);
}

temporary_folder::temporary_folder() {
  std::error_code code;
  std::filesystem::path parent = std::filesystem::temp_directory_path(code);
  if (code) parent = "/tmp";
  std::string name = (parent / "tilewright-jit-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr)
    throw error("cannot create a folder in " + parent.string() + " for the compiler's files: " + std::strerror(errno));
  path_ = name;
}
temporary_folder::~temporary_folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace tilewright::jit
