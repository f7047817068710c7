// SPDX-License-Identifier: MIT
// Reports stack overflows of emulated threads, before the signal ends the program, and threads that run without
// progress because they call no device function any more.
#pragma once

#include <tilewright/machine/emulator/threads/fibers.hpp>
#include <tilewright/machine/emulator/threads/thread_context.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

#include <unistd.h>

namespace tilewright::emulator {

namespace detail {

/// "file.hpp:12" without allocating memory.
inline void write_site(char* to, std::size_t bytes, call_site where) {
  const std::string_view file = where.file == nullptr ? "none yet" : where.file;
  std::snprintf(to, bytes, "%s:%d", file.data() + (file.find_last_of("/\\") + 1), where.line);
}

inline struct sigaction action_before;

inline void on_bad_address(int signal, siginfo_t* info, void*) {
  const thread_context* const self = current_thread;
  const auto* const address = static_cast<const char*>(info->si_addr);
  if (self != nullptr) {
    char site[256], text[768], what[256];
    write_site(site, sizeof(site), self->last_site);
    if (address < self->stack_bottom && address + staggered_stack::guard_bytes >= self->stack_bottom) {
      std::snprintf(what, sizeof(what), "needs more than its stack of %zu bytes", self->stack_bytes);
    } else {
      std::snprintf(what, sizeof(what), "accesses address %p, where there is no memory for it",
                    static_cast<const void*>(address));
    }
    const int length = std::snprintf(
        text, sizeof(text),
        "thread %d of block (%d, %d, %d) %s; its last call of the machine was at (%s): use smaller local arrays or a "
        "larger launch_config::stack_bytes, or look for a pointer that leads nowhere\n",
        self->thread_id, self->block.x, self->block.y, self->block.z, what, site);
    if (write(STDERR_FILENO, text, std::size_t(length)) < 0) _exit(1);
  }
  sigaction(signal, &action_before, nullptr);  // whatever else handles it sees the signal again
}

}  // namespace detail

/// While it lives, overflows of emulated threads' stacks on this thread of the CPU are reported on stderr.
/// AddressSanitizer has a report of its own.
class stack_overflow_reports {
 public:
  /// Installs the handler of the signal of this thread of the CPU.
  stack_overflow_reports() {
    if (TILEWRIGHT_ADDRESS_SANITIZER) return;
    static const bool installed = [] {
      struct sigaction action = {};
      action.sa_sigaction = &detail::on_bad_address;
      action.sa_flags = SA_SIGINFO | SA_ONSTACK;
      return sigaction(SIGSEGV, &action, &detail::action_before) == 0;
    }();
    if (!installed || sigaltstack(nullptr, &before_) != 0 || (before_.ss_flags & SS_DISABLE) == 0) return;
    stack_ = std::make_unique<char[]>(stack_bytes);
    stack_t stack = {};
    stack.ss_sp = stack_.get();
    stack.ss_size = stack_bytes;
    sigaltstack(&stack, nullptr);
  }
  stack_overflow_reports(const stack_overflow_reports&) = delete;
  stack_overflow_reports& operator=(const stack_overflow_reports&) = delete;
  /// Restores the handler of before.
  ~stack_overflow_reports() {
    if (stack_ != nullptr) sigaltstack(&before_, nullptr);
  }

 private:
  static constexpr std::size_t stack_bytes = 64 * 1024;
  std::unique_ptr<char[]> stack_;
  stack_t before_{};
};

/// What one worker has done so far, for the watchdog.
struct worker_progress {
  std::atomic<unsigned> switches{0};                    ///< between emulated threads
  std::atomic<const thread_context*> running{nullptr};  ///< the thread that runs; nullptr: none
};

/// While it lives, looks once a second whether any worker has gone from one emulated thread to another. If none has for
/// `seconds`, writes to stderr where they run and aborts the program: their stacks cannot be unwound from outside.
/// A program that a debugger has stopped does not count seconds.
class watchdog {
 public:
  /// Starts a thread that reports launches that do not switch fibers for `seconds`; 0: starts none.
  watchdog(const std::vector<worker_progress>& workers, int seconds) : workers_(workers), seconds_(seconds) {
    if (seconds > 0) thread_ = std::thread([this] { watch(); });
  }
  watchdog(const watchdog&) = delete;
  watchdog& operator=(const watchdog&) = delete;
  /// Ends the thread.
  ~watchdog() {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    ends_.notify_one();
    if (thread_.joinable()) thread_.join();
  }

 private:
  void watch() {
    unsigned before = 0;
    std::unique_lock lock(mutex_);
    for (int quiet = 0; !ends_.wait_for(lock, std::chrono::seconds(1), [this] { return ended_; });) {
      unsigned sum = 0;
      for (const worker_progress& w : workers_) sum += w.switches.load(std::memory_order_relaxed);
      quiet = sum == before ? quiet + 1 : 0;
      before = sum;
      if (quiet >= seconds_) give_up();
    }
  }

  [[noreturn]] void give_up() const {
    std::fprintf(stderr, "launch: no thread has met another one for %d s (launch_config::watchdog_seconds)\n",
                 seconds_);
    for (const worker_progress& w : workers_) {
      const thread_context* const t = w.running.load();
      if (t == nullptr) continue;
      char site[256];
      detail::write_site(site, sizeof(site), t->last_site);
      std::fprintf(stderr, "  thread %d of block (%d, %d, %d) runs; its last call of the machine was at (%s)\n",
                   t->thread_id, t->block.x, t->block.y, t->block.z, site);
    }
    std::abort();
  }

  const std::vector<worker_progress>& workers_;
  int seconds_;
  bool ended_ = false;
  std::mutex mutex_;
  std::condition_variable ends_;
  std::thread thread_;
};

}  // namespace tilewright::emulator
