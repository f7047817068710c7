// SPDX-License-Identifier: MIT
// row_kernels.hip on the emulated GPUs.
#include <amdgcn_emulator.hpp>

#include <gtest/gtest.h>

#include "code_objects.hpp"
#include "row_kernels_problem.hpp"

namespace {

using namespace row_kernels;

class RowKernel : public testing::TestWithParam<code_object> {
 protected:
  emu::module& code_ = load(GetParam());
};

TEST_P(RowKernel, SoftmaxIsRight) {
  softmax_problem p;
  code_.forbid_all();
  for (auto* memory : {&p.x, &p.y}) code_.allow(memory->data(), memory->size() * 2);
  code_.launch("softmax", {2}, {256}, 0, emu::kernarg().add(p.args()));
  EXPECT_LE(p.error(), softmax_tolerance);
}

TEST_P(RowKernel, RmsNormIsRight) {
  rms_norm_problem p;
  code_.forbid_all();
  for (auto* memory : {&p.x, &p.weight, &p.residual, &p.y}) code_.allow(memory->data(), memory->size() * 2);
  const emu::result result = code_.launch("rms_norm", {6}, {256}, 0, emu::kernarg().add(p.args()));
  for (const emu::race_row& race : result.races) ADD_FAILURE() << race.message;
  EXPECT_LE(p.error(), rms_norm_tolerance);
}

INSTANTIATE_TEST_SUITE_P(Targets, RowKernel, testing::ValuesIn(code_objects()),
                         [](const auto& info) { return info.param.arch; });

}  // namespace
