// SPDX-License-Identifier: MIT
// Names the emulated thread whose stack has overflowed, before the signal ends the program.
#pragma once

#include <tilewright/emulator/threads/sanitizer.hpp>
#include <tilewright/emulator/threads/thread_context.hpp>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string_view>

#include <unistd.h>

namespace tilewright::emulator {

namespace detail {

/// "file.hpp:12" without allocating memory.
inline void write_place(char* to, std::size_t bytes, call_site where) {
  const std::string_view file = where.file == nullptr ? "none yet" : where.file;
  std::snprintf(to, bytes, "%s:%d", file.data() + (file.find_last_of("/\\") + 1), where.line);
}

inline struct sigaction action_before;

inline void on_bad_address(int signal, siginfo_t* info, void*) {
  const thread_context* const self = current_thread;
  const auto* const address = static_cast<const char*>(info->si_addr);
  if (self != nullptr && address >= self->stack_guard && address < self->stack_guard + sysconf(_SC_PAGESIZE)) {
    char place[256], text[768];
    write_place(place, sizeof(place), self->last_place);
    const int length = std::snprintf(
        text, sizeof(text),
        "thread %d of block (%d, %d, %d) needs more than its stack of %zu bytes; its last call of the machine was at "
        "(%s): use smaller local arrays or a larger launch_config::stack_bytes\n",
        self->thread_id, self->block.x, self->block.y, self->block.z, self->stack_bytes, place);
    if (write(STDERR_FILENO, text, std::size_t(length)) < 0) _exit(1);
  }
  sigaction(signal, &action_before, nullptr);  // whatever else handles it sees the signal again
}

}  // namespace detail

/// While it lives, overflows of emulated threads' stacks on this thread of the CPU are reported on stderr.
/// AddressSanitizer has a report of its own.
class stack_overflow_reports {
 public:
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
  ~stack_overflow_reports() {
    if (stack_ != nullptr) sigaltstack(&before_, nullptr);
  }

 private:
  static constexpr std::size_t stack_bytes = 64 * 1024;
  std::unique_ptr<char[]> stack_;
  stack_t before_{};
};

}  // namespace tilewright::emulator
