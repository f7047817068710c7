// SPDX-License-Identifier: MIT
// The kernel of examples/08_convolution on emulated GPUs: results, bounds and races.
#include "../../examples/08_convolution/reference.hpp"

#include <tilewright/core/arch/arch.hpp>

#include <gtest/gtest.h>

#include <amdgcn_emulator.hpp>

#include "code_objects.hpp"

namespace {

using namespace convolution_example;

template <class Arch>
void expect_right(const code_object& object, const convolution_args& shape) {
  using kernel_type = kernel<Arch>;
  problem p(shape);
  ASSERT_EQ(kernel_type::check(p.args), nullptr);
  const prepared_args args = kernel_type::prepare(p.args, {});
  const tw::grid_size grid = kernel_type::grid(args);
  emu::module& code = load(object);
  for (auto* values : {&p.x, &p.w, &p.y}) code.allow(values->data(), values->size() * sizeof(half_t));
  emu::options options;
  options.order = emu::options::random;
  options.seed = 7;
  const emu::result result = code.launch("convolution", {unsigned(grid.x), unsigned(grid.y), unsigned(grid.z)},
                                         {unsigned(kernel_type::block_size)}, 0, emu::kernarg().add(args), options);
  for (const emu::race_row& race : result.races) ADD_FAILURE() << race.message;
  EXPECT_EQ(p.count_wrong(), 0);
}

class Convolution : public testing::TestWithParam<code_object> {};

TEST_P(Convolution, IsRight) {
  const code_object& object = GetParam();
  if (object.arch == "gfx942") {
    expect_right<tw::arch::gfx942>(object, general);
  } else if (object.arch == "gfx1201") {
    expect_right<tw::arch::gfx1201>(object, plain);
  } else {
    FAIL() << "no kernel for " << object.arch;
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, Convolution, testing::ValuesIn(code_objects()),
                         [](const auto& target) { return target.param.arch; });

}  // namespace
