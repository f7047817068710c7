// SPDX-License-Identifier: MIT
// A kernel for launch() with device arguments that nothing makes.
// EXPECT: launch: the kernel has device_args, but no static prepare(const args_type&, const launch_facts&)
// EXPECT_ERRORS: 1
#include <tilewright/launch/ready_kernel.hpp>

namespace tw = tilewright;

struct none {};
struct blocks {
  int x, y, z;
};
struct kernel {
  using args_type = none;
  struct device_args {};
  static const char* check(const none&) { return nullptr; }
  static blocks grid(const none&) { return {1, 1, 1}; }
  static constexpr int block_size = 64;
  static constexpr int lds_bytes = 0;
  void operator()(const none&) const {}
};
static_assert(tw::require_ready_kernel<kernel>());
