// SPDX-License-Identifier: MIT
// A kernel for launch() that does not name the type of its arguments.
// EXPECT: launch: the kernel has no args_type: name the struct of its arguments
// EXPECT_ERRORS: 1
#include <tilewright/launch/ready_kernel.hpp>

namespace tw = tilewright;

struct none {};
struct blocks {
  int x, y, z;
};
struct kernel {
  static const char* check(const none&) { return nullptr; }
  static blocks grid(const none&) { return {1, 1, 1}; }
  static constexpr int block_size = 64;
  static constexpr int lds_bytes = 0;
  void operator()(const none&) const {}
};
static_assert(tw::require_ready_kernel<kernel>());
