// SPDX-License-Identifier: MIT
// Runs work on several threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "process.hpp"

namespace tilewright::jit {

/// Calls work(i) for i < count, on that many threads (0: usable_cpus()). What throws does not stop the
/// others; the exception with the smallest i is thrown at the end.
template <class Work>
void in_parallel(std::size_t count, unsigned threads, Work work) {
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::size_t first_failed = count;
  std::exception_ptr failure;
  const auto run = [&] {
    for (std::size_t i; (i = next++) < count;) {
      try {
        work(i);
      } catch (...) {
        const std::lock_guard guard(mutex);
        if (i > first_failed) continue;
        first_failed = i;
        failure = std::current_exception();
      }
    }
  };
  if (threads == 0) threads = usable_cpus();
  std::vector<std::thread> helpers;
  for (std::size_t t = 1; t < std::min<std::size_t>(threads, count); ++t) helpers.emplace_back(run);
  run();
  for (std::thread& helper : helpers) helper.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace tilewright::jit
