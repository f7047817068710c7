// SPDX-License-Identifier: MIT
// A kernel for launch() without a number of blocks.
// EXPECT: launch: the kernel has no static grid(args) that returns the number of blocks as x, y and z
// EXPECT_ERRORS: 1
#include <tilewright/launch/ready_kernel.hpp>

namespace tw = tilewright;

struct none {};
struct kernel {
  using args_type = none;
  static const char* check(const none&) { return nullptr; }
  static constexpr int block_size = 64;
  static constexpr int lds_bytes = 0;
  void operator()(const none&) const {}
};
static_assert(tw::require_ready_kernel<kernel>());
