// SPDX-License-Identifier: MIT
// Kernels for launch(), each without one part.
// EXPECT: launch: the kernel has no args_type: name the struct of its arguments
// EXPECT: launch: the kernel has no static check(const args_type&) that returns a const char*
// EXPECT: launch: the kernel has device_args, but no static prepare(const args_type&, const launch_facts&)
// EXPECT: launch: the kernel has no static grid(args) that returns the number of blocks as x, y and z
// EXPECT: launch: the kernel has no positive constant block_size: the number of threads of a block
// EXPECT: launch: the kernel has no constant lds_bytes: the bytes of LDS of a block; 0 if it uses none
// EXPECT: launch: the kernel has no operator()(args) const; it takes args_type
// EXPECT: launch: at most two kernels follow the first one
// EXPECT_ERRORS: 8
#include <tilewright/launch/launch.hpp>

namespace tw = tilewright;

struct none {};
struct blocks {
  int x, y, z;
};
struct complete {
  using args_type = none;
  static const char* check(const none&) { return nullptr; }
  static blocks grid(const none&) { return {1, 1, 1}; }
  static constexpr int block_size = 64, lds_bytes = 0;
  void operator()(const none&) const {}
};
static_assert(tw::require_ready_kernel<complete>());

// What is private is not there for launch().
class without_args_type : public complete {
  using complete::args_type;
};
class without_check : public complete {
  using complete::check;
};
struct without_prepare : complete {
  using device_args = none;
};
class without_grid : public complete {
  using complete::grid;
};
class without_block_size : public complete {
  using complete::block_size;
};
class without_lds_bytes : public complete {
  using complete::lds_bytes;
};
class without_body : public complete {
  using complete::operator();
};
static_assert(tw::require_ready_kernel<without_args_type>());
void launch_unchecked() { tw::launch<without_check>(none{}, tw::launch_options{}); }
static_assert(tw::require_ready_kernel<without_prepare>());
static_assert(tw::require_ready_kernel<without_grid>());
static_assert(tw::require_ready_kernel<without_block_size>());
static_assert(tw::require_ready_kernel<without_lds_bytes>());
static_assert(tw::require_ready_kernel<without_body>());

template <class Kernel>
struct before : Kernel {
  using followed_by = Kernel;
};
static_assert(tw::require_ready_kernel<before<before<complete>>>());
static_assert(tw::require_ready_kernel<before<before<before<complete>>>>());
