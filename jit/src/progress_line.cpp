// SPDX-License-Identifier: MIT
#include <chrono>
#include <cstdio>
#include <functional>

#include <unistd.h>

#include <tilewright/jit/compiler.hpp>

namespace tilewright::jit {

std::function<void(const progress&)> progress_line() {
  const auto start = std::chrono::steady_clock::now();
  const bool is_terminal = ::isatty(2) == 1;
  return [start, is_terminal, shown = false](const progress& p) mutable {
    if (std::chrono::steady_clock::now() - start < std::chrono::seconds(1)) return;
    if (is_terminal) {
      std::fprintf(stderr, "\rtilewright: %zu of %zu kernels are ready%s", p.done, p.total,
                   p.done == p.total ? "\n" : "");
    } else if (!shown || p.done == p.total) {
      std::fprintf(stderr, "tilewright: %zu of %zu kernels are ready\n", p.done, p.total);
    }
    shown = true;
  };
}

}  // namespace tilewright::jit
