// SPDX-License-Identifier: MIT
// Softmax and RMSNorm on the CPU, in waves of 64 and of 32.
#include "../device/row_kernels_problem.hpp"

#include <tilewright/core/arch/arch.hpp>
#include <tilewright/machine/emulator/launch.hpp>

#include <gtest/gtest.h>

namespace {

using namespace row_kernels;

template <class Kernel, class Args>
void launch(const tw::arch::target& target, index_t lds_bytes, const Args& args) {
  const index_t blocks = tw::ceil_div(args.rows, Kernel::rows_per_block);
  tw::emulator::launch({.target = &target,
                        .grid = {blocks},
                        .block_size = Kernel::block_size,
                        .lds_bytes = lds_bytes,
                        .check_lds = tw::emulator::lds_checks::on},
                       [&] { Kernel{}(args); });
}

TEST(RowKernels, SoftmaxIsRight) {
  softmax_problem wide, narrow;
  launch<softmax<64>>(tw::arch::gfx942::value, 0, wide.args());
  launch<softmax<32>>(tw::arch::sm90::value, 0, narrow.args());
  EXPECT_LE(wide.error(), softmax_tolerance);
  EXPECT_LE(narrow.error(), softmax_tolerance);
}

TEST(RowKernels, RmsNormIsRight) {
  rms_norm_problem wide, narrow;
  launch<rms_norm<64>>(tw::arch::gfx942::value, rms_norm<64>::lds_bytes, wide.args());
  launch<rms_norm<32>>(tw::arch::gfx1201::value, rms_norm<32>::lds_bytes, narrow.args());
  EXPECT_LE(wide.error(), rms_norm_tolerance);
  EXPECT_LE(narrow.error(), rms_norm_tolerance);
}

}  // namespace
