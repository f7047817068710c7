// SPDX-License-Identifier: MIT
// The code in docs/launch.md.
#include <tilewright/launch/launch.hpp>
#include <tilewright/tilewright.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace {

namespace tw = tilewright;
using tw::index_t;

struct scale_args {
  const float* from = nullptr;
  float* to = nullptr;
  index_t size = 0;
  float factor = 1;
};

struct scale {
  using args_type = scale_args;
  static constexpr index_t block_size = 256, lds_bytes = 0;

  static constexpr const char* check(const scale_args& args) { return args.size > 0 ? nullptr : "the vector is empty"; }
  static constexpr tw::exec::block_index grid(const scale_args& args) { return {tw::ceil_div(args.size, block_size)}; }

  TILEWRIGHT_HD void operator()(const scale_args& args) const {
    const index_t i = tw::exec::block_id().x * block_size + tw::exec::thread_id();
    if (i < args.size) args.to[i] = args.from[i] * args.factor;
  }
};
static_assert(tw::ReadyKernel<scale>);

TEST(DocsLaunch, Scale) {
  const std::vector<float> from(1000, 3);
  std::vector<float> to(1000);
  const scale_args args{from.data(), to.data(), 1000, 2};
  const tw::emulator::launch_report report = tw::launch<scale>(args, {.emulate = tw::arch::gfx942::value});
  EXPECT_EQ(report.blocks, 4);
  EXPECT_EQ(to, std::vector<float>(1000, 6));
  try {
    tw::launch<scale>({.size = 0}, {.emulate = tw::arch::gfx942::value});
    ADD_FAILURE() << "not refused";
  } catch (const tw::launch_error& error) {
    EXPECT_STREQ(error.what(), "the vector is empty");
  }
}

}  // namespace
