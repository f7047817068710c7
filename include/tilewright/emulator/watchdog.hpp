// SPDX-License-Identifier: MIT
// Ends a program whose launch makes no progress although its threads run: they never call the machine again.
#pragma once

#include <tilewright/emulator/threads/stack_guard.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

namespace tilewright::emulator {

/// What one worker has done so far, for the watchdog.
struct worker_progress {
  std::atomic<unsigned> switches{0};  // between emulated threads
  std::atomic<const thread_context*> running{nullptr};
};

/// While it lives, looks once a second whether any worker has gone from one emulated thread to another. If none has for
/// `seconds`, writes to stderr where they run and aborts the program: their stacks cannot be unwound from outside.
/// A program that a debugger has stopped does not count seconds.
class watchdog {
 public:
  watchdog(const std::vector<worker_progress>& workers, int seconds) : workers_(workers), seconds_(seconds) {
    if (seconds > 0) thread_ = std::thread([this] { watch(); });
  }
  watchdog(const watchdog&) = delete;
  watchdog& operator=(const watchdog&) = delete;
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
      char place[256];
      detail::write_place(place, sizeof(place), t->last_place);
      std::fprintf(stderr, "  thread %d of block (%d, %d, %d) runs; its last call of the machine was at (%s)\n",
                   t->thread_id, t->block.x, t->block.y, t->block.z, place);
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
