// SPDX-License-Identifier: MIT
// A kernel for launch() with blocks of no threads.
// EXPECT: launch: the kernel has no positive constant block_size: the number of threads of a block
// EXPECT_ERRORS: 1
#include <tilewright/launch/ready_kernel.hpp>

namespace tw = tilewright;

struct none {};
struct blocks {
  int x, y, z;
};
struct kernel {
  using args_type = none;
  static const char* check(const none&) { return nullptr; }
  static blocks grid(const none&) { return {1, 1, 1}; }
  static constexpr int block_size = 0;
  static constexpr int lds_bytes = 0;
  void operator()(const none&) const {}
};
static_assert(tw::require_ready_kernel<kernel>());
