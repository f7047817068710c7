// SPDX-License-Identifier: MIT
// walks.hip on the emulated GPUs: curves and distributions are there what they are for the compiler and on the CPU.
#include <amdgcn_emulator.hpp>

#include <gtest/gtest.h>

#include "code_objects.hpp"
#include "walks.hpp"

namespace {

// The same function as a constant expression; what it must say is tested in tests/core/distribution.
static_assert(walks::position(0, 30, walks::rows, walks::cols) == tilewright::hilbert_curve{13, 24}.get_index(30));
static_assert(walks::position(3, 13, walks::rows, walks::cols) == tilewright::multi_index<2>{12, 1}, "the snake turns");
static_assert(walks::position(5, 33, walks::rows, walks::cols) == tilewright::multi_index<2>{32, 8}, "wave 1, lane 1");

class WalksOnGpu : public testing::TestWithParam<code_object> {};

TEST_P(WalksOnGpu, AreTheSame) {
  std::vector<int> out(std::size_t(walks::num_walks * walks::size * 2), -1);
  emu::module& kernel = load(GetParam());
  kernel.allow(out.data(), out.size() * sizeof(int));
  kernel.launch("evaluate_walks", {2}, {256}, 0, emu::kernarg().add(out.data()).add(walks::rows).add(walks::cols));
  for (int walk = 0; walk < walks::num_walks; ++walk) {
    for (int i = 0; i < walks::size; ++i) {
      const auto expected = walks::position(walk, i, walks::rows, walks::cols);
      const std::size_t at = std::size_t(walk * walks::size + i) * 2;
      ASSERT_EQ(out[at], expected[0]) << "walk " << walk << ", position " << i;
      ASSERT_EQ(out[at + 1], expected[1]) << "walk " << walk << ", position " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, WalksOnGpu, testing::ValuesIn(code_objects()),
                         [](const auto& info) { return info.param.arch; });

}  // namespace
