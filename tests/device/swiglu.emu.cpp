// SPDX-License-Identifier: MIT
// The kernel of examples/07_swiglu on emulated GPUs: results, bounds and races.
#include "../../examples/07_swiglu/reference.hpp"

#include <tilewright/core/arch/arch.hpp>

#include <gtest/gtest.h>

#include <amdgcn_emulator.hpp>

#include "code_objects.hpp"

namespace {

using namespace swiglu_example;

template <class Arch>
void expect_right(const code_object& object) {
  using kernel_type = kernel<Arch>;
  problem p;
  ASSERT_STREQ(kernel_type::check(p.args), nullptr);
  const tw::grid_size grid = kernel_type::grid(p.args);
  emu::module& code = load(object);
  for (auto* values : {&p.a, &p.b, &p.bias, &p.c}) code.allow(values->data(), values->size() * sizeof(half_t));
  emu::options options;
  options.order = emu::options::random;
  options.seed = 7;
  const emu::result result = code.launch("gemm_swiglu", {unsigned(grid.x), unsigned(grid.y), unsigned(grid.z)},
                                         {unsigned(kernel_type::block_size)}, 0, emu::kernarg().add(p.args), options);
  for (const emu::race_row& race : result.races) ADD_FAILURE() << race.message;
  EXPECT_EQ(p.count_wrong(), 0);
}

class Swiglu : public testing::TestWithParam<code_object> {};

TEST_P(Swiglu, IsRight) {
  const code_object& object = GetParam();
  if (object.arch == "gfx942") {
    expect_right<tw::arch::gfx942>(object);
  } else if (object.arch == "gfx1201") {
    expect_right<tw::arch::gfx1201>(object);
  } else {
    FAIL() << "no kernel for " << object.arch;
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, Swiglu, testing::ValuesIn(code_objects()),
                         [](const auto& target) { return target.param.arch; });

}  // namespace
