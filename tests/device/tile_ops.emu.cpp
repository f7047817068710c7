// SPDX-License-Identifier: MIT
// tile_ops.hip on the emulated GPUs.
#include <amdgcn_emulator.hpp>

#include <tilewright/core/arch/arch.hpp>

#include <gtest/gtest.h>

#include "code_objects.hpp"
#include "tile_ops_problem.hpp"

namespace {

class TileOperations : public testing::TestWithParam<code_object> {};

TEST_P(TileOperations, AreRightInAnyOrderOfWaves) {
  const tilewright::arch::target* target = tilewright::arch::find_target(GetParam().arch.c_str());
  ASSERT_NE(target, nullptr);
  emu::module& code = load(GetParam());
  for (const auto order : {emu::options::in_order, emu::options::reverse, emu::options::random}) {
    tile_ops::problem problem;
    code.forbid_all();
    code.allow(problem.in.data(), problem.in.size() * sizeof(float));
    code.allow(problem.in_half.data(), problem.in_half.size() * 2);
    for (auto& out : problem.out) code.allow(out.data(), out.size() * sizeof(float));
    emu::options options;
    options.order = order;
    const emu::result result = code.launch("run_tile_ops", {1}, {unsigned(2 * target->wave_size)}, 0,
                                           emu::kernarg().add(problem.args()), options);
    for (const emu::race_row& race : result.races) ADD_FAILURE() << race.message;
    EXPECT_EQ(problem.first_difference(), "");
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, TileOperations, testing::ValuesIn(code_objects()),
                         [](const auto& info) { return info.param.arch; });

}  // namespace
