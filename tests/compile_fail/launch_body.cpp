// SPDX-License-Identifier: MIT
// A kernel for launch() without operator().
// EXPECT: launch: the kernel has no operator()(args) const; it takes args_type
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
  static constexpr int block_size = 64;
  static constexpr int lds_bytes = 0;
};
static_assert(tw::require_ready_kernel<kernel>());
