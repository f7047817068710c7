// SPDX-License-Identifier: MIT
// Which kernel was the fastest for a problem: results of timing, remembered in a file.
#pragma once

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace tilewright {

/// Pairs of a problem and a choice, both as text without tabs and line breaks, under a key that names what else
/// choices depend on: the device and the library's version. Entries of other keys stay in the file. Functions may be
/// called from several threads; several processes may share a file, of which each sees what others had remembered when
/// it read the file. Who writes it locks a file next to it, FILE.lock.
class tuning_file {
 public:
  /// Reads the file if there is one. Lines that are damaged are as if they were not there.
  tuning_file(std::filesystem::path path, std::string key) : path_(std::move(path)), key_(std::move(key)) {
    const std::lock_guard lock(mutex_);
    read();
  }

  /// The choice for a problem, with this file's key; nullopt: there is none.
  std::optional<std::string> find(const std::string& problem) const {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find({key_, problem});
    if (found == entries_.end()) return std::nullopt;
    return found->second;
  }

  /// Writes the file anew, under a name of its own that then replaces the old one. False if that failed; the choice is
  /// remembered as long as this object lives.
  bool remember(const std::string& problem, const std::string& choice) {
    const std::lock_guard lock(mutex_);
    std::error_code error;
    if (path_.has_parent_path()) std::filesystem::create_directories(path_.parent_path(), error);
    const file_lock others(may_be_file() ? target() += ".lock" : std::filesystem::path());
    read();  // what other processes have added
    entries_[{key_, problem}] = choice;
    return write();
  }

  struct entry {
    std::string key, problem, choice;  ///< of the device and kernels; of the arguments; what to run
  };
  /// Parses one line of a tuning file; nullopt if its checksum or its fields are wrong.
  static std::optional<entry> parse(const std::string& line) {
    const std::size_t last = line.rfind('\t');
    if (last == std::string::npos) return std::nullopt;
    const std::string content = line.substr(0, last);
    if (line.substr(last + 1) != std::to_string(checksum(content))) return std::nullopt;
    std::istringstream fields(content);
    std::string first, more;
    entry e;
    std::getline(fields, first, '\t');
    std::getline(fields, e.key, '\t');
    std::getline(fields, e.problem, '\t');
    std::getline(fields, e.choice, '\t');
    if (first != magic || e.choice.empty() || std::getline(fields, more)) return std::nullopt;
    return e;
  }

 private:
  static constexpr const char* magic = "tilewright-tuning-1";

  /// Keeps other processes from writing between read() and write(). Waits two seconds at most, and not at all where
  /// files cannot be locked; entries may then be lost.
  struct file_lock {
    const int file;

    explicit file_lock(const std::filesystem::path& path)
        : file(::open(path.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC, 0666)) {
      for (int i = 0; i < 2000 && ::flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    file_lock(const file_lock&) = delete;
    ~file_lock() {
      if (file >= 0) ::close(file);
    }
  };

  /// FNV-1a.
  static unsigned checksum(const std::string& text) {
    unsigned h = 2166136261u;
    for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 16777619u;
    return h;
  }

  /// Devices and pipes are neither read nor replaced.
  bool may_be_file() const {
    std::error_code error;
    return !std::filesystem::exists(path_, error) || std::filesystem::is_regular_file(path_, error);
  }

  /// What a symbolic link names is replaced, not the link.
  std::filesystem::path target() const {
    std::error_code error;
    const std::filesystem::path named = std::filesystem::canonical(path_, error);
    if (!error) return named;
    const std::filesystem::path link = std::filesystem::read_symlink(path_, error);  // to a file that is not there yet
    return error ? path_ : path_.parent_path() / link;
  }

  void read() {
    if (!may_be_file()) return;
    std::ifstream file(path_);
    for (std::string line; std::getline(file, line);)
      if (const std::optional<entry> e = parse(line)) entries_.insert({{e->key, e->problem}, e->choice});
  }

  bool write() const {
    if (!may_be_file()) return false;
    std::error_code error;
    std::filesystem::path temporary = target();
    temporary += "." + std::to_string(std::random_device{}()) + ".new";  // another process may write, too
    std::FILE* const file = std::fopen(temporary.c_str(), "wx");
    if (!file) return false;
    bool good = true;
    for (const auto& [name, choice] : entries_) {
      std::string content = magic;
      content.append("\t").append(name.first).append("\t").append(name.second).append("\t").append(choice);
      good = good && std::fprintf(file, "%s\t%u\n", content.c_str(), checksum(content)) > 0;
    }
    good = std::fclose(file) == 0 && good;
    if (good) std::filesystem::rename(temporary, target(), error);
    if (!good || error) {
      std::filesystem::remove(temporary, error);
      return false;
    }
    return true;
  }

  std::filesystem::path path_;
  std::string key_;
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, std::string> entries_;
};

}  // namespace tilewright
