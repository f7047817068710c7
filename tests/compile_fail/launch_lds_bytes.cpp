// SPDX-License-Identifier: MIT
// A kernel for launch() that does not say how much LDS it uses.
// EXPECT: launch: the kernel has no constant lds_bytes: the bytes of LDS of a block; 0 if it uses none
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
  void operator()(const none&) const {}
};
static_assert(tw::require_ready_kernel<kernel>());
