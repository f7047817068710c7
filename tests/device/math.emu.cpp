// SPDX-License-Identifier: MIT
// math.hip on the emulated GPUs.
#include <amdgcn_emulator.hpp>

#include <gtest/gtest.h>

#include "code_objects.hpp"
#include "math_problem.hpp"

namespace {

class Math : public testing::TestWithParam<code_object> {};

TEST_P(Math, ErrorsAreAsDocumented) {
  emu::module& code = load(GetParam());
  math_problem::problem p;
  for (auto* memory : {&p.x, &p.y, &p.out}) code.allow(memory->data(), memory->size() * 4);
  code.launch("functions", {math_problem::size / 256}, {256}, 0,
              emu::kernarg().add(p.x.data()).add(p.y.data()).add(p.out.data()));
  for (int f = 0; f < math_problem::num_functions; ++f) {
    const auto verdict = judge(p, math_problem::function(f));
    EXPECT_LE(verdict.worst, 1) << verdict.what;
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, Math, testing::ValuesIn(code_objects()),
                         [](const auto& info) { return info.param.arch; });

}  // namespace
