// SPDX-License-Identifier: MIT
// algebra.hip on the emulated GPUs.
#include <amdgcn_emulator.hpp>

#include <gtest/gtest.h>

#include "algebra_checks.hpp"
#include "code_objects.hpp"

namespace {

class Algebra : public testing::TestWithParam<code_object> {};

TEST_P(Algebra, ChecksHoldInDeviceCode) {
  constexpr int count = tilewright::algebra::num_checks;
  const std::vector<int> ones(count, 1);
  std::vector<int> out(count, 0);
  emu::module& kernel = load(GetParam());
  kernel.allow(ones.data(), count * sizeof(int));
  kernel.allow(out.data(), count * sizeof(int));
  kernel.launch("algebra", {1}, {64}, 0, emu::kernarg().add(ones.data()).add(out.data()));
  for (int i = 0; i < count; ++i) EXPECT_EQ(out[std::size_t(i)], 1) << "check " << i;
}

INSTANTIATE_TEST_SUITE_P(Targets, Algebra, testing::ValuesIn(code_objects()),
                         [](const auto& info) { return info.param.arch; });

}  // namespace
