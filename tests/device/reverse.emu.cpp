// SPDX-License-Identifier: MIT
// reverse.hip on the emulated GPUs: barriers, LDS and bounds-checked memory of the code that the compiler emitted.
#include <amdgcn_emulator.hpp>

#include <gtest/gtest.h>

#include "code_objects.hpp"

namespace {

class Reverse : public testing::TestWithParam<code_object> {};

TEST_P(Reverse, ReversesEachBlockAndStaysInBounds) {
  constexpr int blocks = 3, block_size = 256, length = blocks * block_size - 56;
  std::vector<int> in(length), out(length, -1);
  for (int i = 0; i < length; ++i) in[i] = i + 1;

  emu::module& kernel = load(GetParam());
  kernel.allow(in.data(), length * sizeof(int));
  kernel.allow(out.data(), length * sizeof(int));
  const emu::result result =
      kernel.launch("reverse", {blocks}, {block_size}, 0, emu::kernarg().add(in.data()).add(out.data()).add(length));

  EXPECT_TRUE(result.races.empty());
  for (int i = 0; i < length; ++i) {
    const int mirrored = i / block_size * block_size + (block_size - 1 - i % block_size);
    ASSERT_EQ(out[i], mirrored < length ? in[mirrored] : 0) << "element " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, Reverse, testing::ValuesIn(code_objects()),
                         [](const auto& info) { return info.param.arch; });

}  // namespace
