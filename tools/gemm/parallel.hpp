// SPDX-License-Identifier: MIT
// A loop whose iterations run on all cores.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace gemm_program {

/// Calls body(i) for every i in [0, count), on all cores and in no particular order, and progress(fraction) on the
/// calling thread, growing up to 1. The first exception ends the loop and comes out of it.
template <class Body>
void parallel_for(std::int64_t count, const Body& body, const std::function<void(double)>& progress = {}) {
  std::atomic<std::int64_t> next = 0, done = 0;
  std::exception_ptr failure;
  std::mutex failure_mutex;

  const auto work = [&](bool reports) {
    try {
      for (std::int64_t i; (i = next++) < count;) {
        body(i);
        ++done;
        const std::int64_t so_far = done;
        if (reports && progress && so_far < count) progress(double(so_far) / double(count));
      }
    } catch (...) {
      next = count;
      const std::lock_guard lock(failure_mutex);
      if (!failure) failure = std::current_exception();
    }
  };

  {
    std::vector<std::jthread> helpers;
    try {
      for (std::int64_t i = 1; i < std::min<std::int64_t>(count, std::thread::hardware_concurrency()); ++i)
        helpers.emplace_back(work, /*reports=*/false);
    } catch (const std::system_error&) {
      // This machine gives no more threads; those that run do the work.
    }
    work(/*reports=*/true);
  }
  if (failure) std::rethrow_exception(failure);
  if (progress && count > 0) progress(1);
}

}  // namespace gemm_program
