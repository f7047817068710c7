// SPDX-License-Identifier: MIT
// An output file that appears under its name only when it is complete.
#include "output_file.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "refusal.hpp"
#include "text.hpp"

namespace program {
namespace {

constexpr std::size_t longest_path = 4096;

/// Names of temporary files, for a signal handler.
char pending[16][longest_path];

constexpr int fatal_signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGALRM, SIGXCPU, SIGABRT};

extern "C" void remove_pending_files(int signal) {
  for (const char* name : pending)
    if (*name != '\0') unlink(name);
  std::signal(signal, SIG_DFL);
  raise(signal);
}

/// No signal is handled while this object lives: a temporary file and its entry in `pending` come and go together.
class signals_held {
 public:
  signals_held() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before_);
  }
  signals_held(const signals_held&) = delete;
  signals_held& operator=(const signals_held&) = delete;
  ~signals_held() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

void install_handlers() {
  static bool is_done = false;
  if (is_done) return;
  is_done = true;
  std::signal(SIGXFSZ, SIG_IGN);  // a write beyond the limit fails with EFBIG
  for (const int signal : fatal_signals) {
    struct sigaction now{};
    if (sigaction(signal, nullptr, &now) != 0 || now.sa_handler != SIG_DFL) continue;  // as nohup wants it
    struct sigaction wanted{};
    wanted.sa_handler = remove_pending_files;
    sigfillset(&wanted.sa_mask);
    sigaction(signal, &wanted, nullptr);
  }
}

void forget(const std::string& name) {
  for (char* entry : pending)
    if (name == entry) *entry = '\0';
}

bool remember(const std::string& name) {
  for (char* entry : pending) {
    if (*entry != '\0' || name.size() >= longest_path) continue;
    std::memcpy(entry + 1, name.c_str() + 1, name.size());
    entry[0] = name[0];
    return true;
  }
  return false;
}

/// What the name means when symbolic links are followed; the last one may lead to a file that does not exist.
std::string followed(std::string name) {
  for (int i = 0; i < 40; ++i) {
    char text[longest_path];
    const ssize_t length = readlink(name.c_str(), text, sizeof text);
    if (length < 0) return name;
    const std::string next(text, static_cast<std::size_t>(length));
    const std::size_t slash = name.rfind('/');
    name = next.starts_with('/') || slash == name.npos ? next : name.substr(0, slash + 1) + next;
  }
  return name;
}

bool write_all(int file, const char* bytes, std::size_t count) {
  while (count > 0) {
    const ssize_t written = write(file, bytes, count);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes += written;
    count -= static_cast<std::size_t>(written);
  }
  return true;
}

}  // namespace

void output_file::refuse(int error) const {
  throw refusal("cannot write " + printable(shown_) + ": " + std::strerror(error));
}

output_file::output_file(const std::string& name) : shown_(name), target_(followed(name)) {
  if (name.empty()) throw refusal("cannot write a file whose name is empty");
  install_handlers();
  struct stat status{};
  const bool exists = stat(target_.c_str(), &status) == 0;
  if (!exists && errno != ENOENT) refuse(errno);
  if (exists && S_ISDIR(status.st_mode)) refuse(EISDIR);
  if (exists && S_ISFIFO(status.st_mode))
    throw refusal("cannot write " + printable(shown_) + ": it is a pipe, which may have no reader; name a file");
  if (exists && !S_ISREG(status.st_mode)) {
    file_ = open(target_.c_str(), O_WRONLY | O_CLOEXEC);
    if (file_ < 0) refuse(errno);
    return;
  }
  if (exists && access(target_.c_str(), W_OK) != 0) refuse(errno);
  if (target_.ends_with('/')) refuse(EISDIR);
  if (exists && status.st_nlink > 1)
    throw refusal("cannot write " + printable(shown_) + ": it has " + std::to_string(status.st_nlink) +
                  " hard links, of which a new file would replace one; choose another name or remove it first");
  open_temporary(exists, status.st_mode & 07777);
  if (exists && fchown(file_, status.st_uid, status.st_gid) == 0) fchmod(file_, status.st_mode & 07777);
}

void output_file::open_temporary(bool exists, unsigned mode) {
  const signals_held held;
  for (int attempt = 0; attempt < 100 && file_ < 0; ++attempt) {
    temporary_ = target_ + "." + std::to_string(getpid()) + "-" + std::to_string(attempt) + ".tmp";
    // Nobody may read more of the temporary file than of the one that it replaces.
    file_ = open(temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, exists ? mode & 0700 : 0666);
    if (file_ < 0 && errno != EEXIST) break;
  }
  if (file_ < 0) {
    temporary_.clear();
    refuse(errno);
  }
  if (!remember(temporary_)) {
    unlink(temporary_.c_str());
    throw refusal("cannot write " + printable(shown_) + ": too many files are written at a time");
  }
}

output_file::~output_file() {
  const signals_held held;
  if (file_ >= 0) close(file_);
  if (temporary_.empty()) return;
  unlink(temporary_.c_str());
  forget(temporary_);
}

void output_file::write(const void* bytes, std::size_t count) {
  if (!write_all(file_, static_cast<const char*>(bytes), count)) refuse(errno);
}

void output_file::finish() {
  if (file_ < 0) return;
  if (!temporary_.empty() && fsync(file_) != 0) refuse(errno);
  const int file = file_;
  file_ = -1;
  if (close(file) != 0) refuse(errno);
}

void output_file::commit() {
  finish();
  if (temporary_.empty()) return;
  const signals_held held;
  if (std::rename(temporary_.c_str(), target_.c_str()) != 0) refuse(errno);
  forget(temporary_);
  temporary_.clear();
}

void require_writable(const std::string& name) { const output_file probe(name); }

void write_file(const std::string& name, std::string_view text) {
  output_file file(name);
  file.write(text);
  file.commit();
}

}  // namespace program
