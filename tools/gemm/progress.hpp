// SPDX-License-Identifier: MIT
// One line on the terminal that says how far a long run has come.
#pragma once

#include <chrono>
#include <cstdio>
#include <mutex>

#include <unistd.h>

namespace gemm_program {

/// Writes to standard error, if that is a terminal and the work takes longer than a second. Any thread may call it.
/// The line disappears with the object.
class progress_line {
 public:
  explicit progress_line(const char* activity) : activity_(activity), enabled_(isatty(STDERR_FILENO) != 0) {}
  progress_line(const progress_line&) = delete;
  progress_line& operator=(const progress_line&) = delete;
  ~progress_line() {
    if (visible_) std::fputs("\r\x1b[K", stderr);
  }

  void operator()(double fraction) {
    if (!enabled_) return;
    const std::lock_guard lock(mutex_);
    const auto now = clock::now();
    if (now < next_) return;
    next_ = now + std::chrono::milliseconds(200);
    visible_ = true;
    const double elapsed = std::chrono::duration<double>(now - start_).count();
    const double left = fraction > 0 ? elapsed / fraction - elapsed : 0;
    std::fprintf(stderr, "\r%s %3.0f %%, about %.0f s left\x1b[K", activity_, 100 * fraction, left);
    std::fflush(stderr);
  }

 private:
  using clock = std::chrono::steady_clock;

  const char* activity_;
  bool enabled_;
  bool visible_ = false;
  std::mutex mutex_;
  clock::time_point start_ = clock::now();
  clock::time_point next_ = start_ + std::chrono::seconds(1);
};

}  // namespace gemm_program
