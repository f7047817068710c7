// SPDX-License-Identifier: MIT
// NVRTC and hipRTC hold a lock while they compile, so threads gain nothing: processes do.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <new>
#include <set>
#include <string>
#include <vector>

#include <fcntl.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compiler_state.hpp"
#include "process.hpp"

namespace tilewright::jit {
namespace {

/// A kernel that has to be compiled.
struct task {
  std::size_t source;
  translation_unit unit;
  digest key;
};

/// Memory that this process and its children share.
class shared_counter {
 public:
  shared_counter()
      : memory_(::mmap(nullptr, sizeof(counter), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    if (memory_ != MAP_FAILED) new (memory_) counter(0);
  }
  shared_counter(const shared_counter&) = delete;
  ~shared_counter() {
    if (memory_ != MAP_FAILED) ::munmap(memory_, sizeof(counter));
  }
  bool is_there() const { return memory_ != MAP_FAILED; }
  std::size_t next() { return (*static_cast<counter*>(memory_))++; }

 private:
  using counter = std::atomic<std::size_t>;
  void* memory_;
};

}  // namespace

void compiler::state::compile_in_processes(const std::vector<kernel_source>& sources,
                                           const std::function<void(std::size_t)>& done) {
  if (cache.directory().empty() || options.on_miss == miss::fail || sources.size() < 2) return;
  std::vector<task> tasks;
  try {
    if (!tools().does_one_at_a_time()) return;
    std::set<digest> seen;
    for (std::size_t i = 0; i < sources.size(); ++i) {
      const translation_unit unit = make_unit(sources[i]);
      const std::string content = content_key(unit);
      const digest key = cache_key(content);
      const bool is_archived =
          std::any_of(archives.begin(), archives.end(), [&](const auto& a) { return !a->find(content).empty(); });
      if (!is_archived && seen.insert(key).second && !cache.find(key)) tasks.push_back({i, unit, key});
    }
  } catch (const error&) {
    return;  // whoever compiles it alone reports it
  }
  const std::size_t threads = options.threads ? options.threads : usable_cpus();
  const std::size_t count = std::min(threads, tasks.size());
  shared_counter next;
  int ends[2];
  if (count < 2 || !next.is_there() || ::pipe2(ends, O_CLOEXEC) != 0) return;
  toolchain& by = tools();
  std::vector<pid_t> children;
  for (std::size_t c = 0; c < count; ++c) {
    const pid_t child = ::fork();
    if (child > 0) children.push_back(child);
    if (child != 0) continue;
    // Compilers free and allocate large blocks again and again, which the system need not hear of.
    ::mallopt(M_TRIM_THRESHOLD, 1 << 30);
    ::mallopt(M_MMAP_THRESHOLD, 1 << 25);
    ::mallopt(M_TOP_PAD, 1 << 25);
    // The child uses nothing that another thread may have locked, and leaves without calling anything at exit.
    file_cache own(options.cache);
    for (std::size_t t; (t = next.next()) < tasks.size();) {
      try {
        (void)find_or_make(own, by, tasks[t].unit, tasks[t].key);
        (void)!::write(ends[1], &tasks[t].source, sizeof(std::size_t));
      } catch (...) {
      }
    }
    ::_exit(0);
  }
  ::close(ends[1]);
  for (std::size_t source; ::read(ends[0], &source, sizeof source) == ssize_t(sizeof source);) {
    try {
      done(source);
    } catch (const error&) {
    }
  }
  ::close(ends[0]);
  for (const pid_t child : children) ::waitpid(child, nullptr, 0);
}

}  // namespace tilewright::jit
