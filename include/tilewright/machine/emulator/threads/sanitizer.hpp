// SPDX-License-Identifier: MIT
// Tells AddressSanitizer, in programs built with it, that execution moves to another stack.
#pragma once

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define TILEWRIGHT_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TILEWRIGHT_ADDRESS_SANITIZER 1
#endif
#endif
#ifndef TILEWRIGHT_ADDRESS_SANITIZER
#define TILEWRIGHT_ADDRESS_SANITIZER 0
#endif

#if TILEWRIGHT_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace tilewright::emulator {
namespace detail {

struct stack_bounds {
  const void* bottom = nullptr;
  std::size_t size = 0;
};

#if TILEWRIGHT_ADDRESS_SANITIZER
/// Before a switch; returns the handle for arrive_on_stack() when execution comes back.
inline void* leave_stack(const stack_bounds& to) {
  void* handle = nullptr;
  __sanitizer_start_switch_fiber(&handle, to.bottom, to.size);
  return handle;
}
/// Before the last switch away from a stack.
inline void leave_stack_for_ever(const stack_bounds& to) {
  __sanitizer_start_switch_fiber(nullptr, to.bottom, to.size);
}
/// After a switch; returns the stack that execution came from.
inline stack_bounds arrive_on_stack(void* handle) {
  stack_bounds from;
  __sanitizer_finish_switch_fiber(handle, &from.bottom, &from.size);
  return from;
}
inline void free_stack(const stack_bounds& stack) { __asan_unpoison_memory_region(stack.bottom, stack.size); }
#else
inline void* leave_stack(const stack_bounds&) { return nullptr; }
inline void leave_stack_for_ever(const stack_bounds&) {}
inline stack_bounds arrive_on_stack(void*) { return {}; }
inline void free_stack(const stack_bounds&) {}
#endif

}  // namespace detail
}  // namespace tilewright::emulator
