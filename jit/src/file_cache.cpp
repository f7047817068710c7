// SPDX-License-Identifier: MIT
#include "file_cache.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "files.hpp"
#include "record.hpp"

namespace tilewright::jit {
namespace {

namespace fs = std::filesystem;

constexpr const char* extension = ".twk";

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}
fs::path default_directory() {
  if (const std::string given = variable("TILEWRIGHT_CACHE_DIR"); !given.empty()) return given;
  if (const std::string base = variable("XDG_CACHE_HOME"); !base.empty()) return fs::path(base) / "tilewright";
  if (const std::string home = variable("HOME"); !home.empty()) return fs::path(home) / ".cache" / "tilewright";
  return {};
}

}  // namespace

file_cache::file_cache(const cache_options& options) : options_(options), stored_since_check_(options.max_bytes) {
  if (!options.enabled) {
    options_.read_only.clear();
    return;
  }
  directory_ = options.directory.empty() ? default_directory() : options.directory;
  std::error_code code;
  if (!directory_.empty()) code = make_folder(directory_);
  if (code) trouble_ = "cannot create " + directory_.string() + ": " + code.message();
  const auto is_untrusted = [&](const fs::path& folder) {
    try {
      require_trusted(folder);
      return false;
    } catch (const untrusted& e) {
      distrust(e);
      return true;
    }
  };
  if (is_untrusted(directory_)) directory_.clear();
  std::erase_if(options_.read_only, is_untrusted);
}

void file_cache::distrust(const untrusted& e) const {
  const std::lock_guard guard(mutex_);
  if (distrust_.empty()) distrust_ = e.why;
}

std::optional<std::string> file_cache::find(const digest& key) const {
  const std::string name = to_hex(key) + extension;
  const auto read = [&](const fs::path& folder) -> std::optional<std::string> {
    std::optional<std::string> text;
    try {
      text = read_trusted_file(folder / name, folder == directory_);
    } catch (const untrusted& e) {
      distrust(e);
    }
    if (!text) return std::nullopt;
    std::string_view rest = *text;
    const std::optional<record> entry = take_record(rest);
    if (!entry || !rest.empty() || entry->key != key || !entry->is_intact()) return std::nullopt;
    return std::string(entry->data);
  };
  if (!directory_.empty()) {
    if (std::optional<std::string> data = read(directory_)) return data;
  }
  for (const fs::path& folder : options_.read_only) {
    if (std::optional<std::string> data = read(folder)) return data;
  }
  return std::nullopt;
}

void file_cache::store(const digest& key, std::string_view name, std::string_view data) {
  if (!options_.enabled) return;
  const std::string failed = directory_.empty() ? "there is no folder for the cache: set TILEWRIGHT_CACHE_DIR or HOME"
                             : data.size() > options_.max_bytes
                                 ? std::string(name) + " is larger than cache_options::max_bytes"
                                 : replace_file(directory_ / (to_hex(key) + extension), to_bytes(key, name, data));
  {
    const std::lock_guard guard(mutex_);
    trouble_ = failed;
  }
  if (!failed.empty()) return;
  // A scan of the folder is due for the first entry, and whenever a sixteenth of it may be new.
  if ((stored_since_check_ += data.size()) > options_.max_bytes / 16) {
    stored_since_check_ = 0;
    remove_oldest();
  }
}

std::string file_cache::trouble() const {
  const std::lock_guard guard(mutex_);
  return distrust_.empty() ? trouble_ : distrust_;
}

void file_cache::remove_oldest() {
  struct entry {
    fs::path path;
    fs::file_time_type used;
    std::uintmax_t bytes;
  };
  std::vector<entry> entries;
  std::uintmax_t total = 0;
  std::error_code code;
  const auto an_hour_ago = fs::file_time_type::clock::now() - std::chrono::hours(1);
  for (fs::directory_iterator i(directory_, code), end; !code && i != end; i.increment(code)) {
    std::error_code gone;
    const entry e{i->path(), i->last_write_time(gone), i->file_size(gone)};
    if (gone) continue;
    if (e.path.extension() == ".new" && e.used < an_hour_ago) fs::remove(e.path, gone);  // its writer was killed
    if (e.path.extension() != extension) continue;
    total += e.bytes;
    entries.push_back(e);
  }
  if (total <= options_.max_bytes) return;
  std::sort(entries.begin(), entries.end(), [](const entry& a, const entry& b) { return a.used < b.used; });
  for (const entry& e : entries) {
    if (total <= options_.max_bytes / 10 * 9) break;
    fs::remove(e.path, code);
    total -= e.bytes;
  }
}

file_cache::lock::lock(const file_cache& cache, const digest& key) {
  if (cache.directory().empty()) return;
  const std::string name = "lock." + to_hex(key).substr(0, 2);
  file_ = ::open((cache.directory() / name).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (file_ >= 0) (void)::flock(file_, LOCK_EX);
}
file_cache::lock::~lock() {
  if (file_ >= 0) ::close(file_);
}

}  // namespace tilewright::jit
