// SPDX-License-Identifier: MIT
// tile_ops.hip on the emulated GPUs.
#include <amdgcn_emulator.hpp>

#include <tilewright/core/arch/arch.hpp>

#include <gtest/gtest.h>

#include <sys/mman.h>

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
    code.allow(problem.table.data(), problem.table.size() * sizeof(int));
    for (auto& out : problem.out) code.allow(out.data(), out.size() * sizeof(float));
    emu::options options;
    options.order = order;
    const emu::result result = code.launch("run_tile_ops", {1}, {unsigned(2 * target->wave_size)}, 0,
                                           emu::kernarg().add(problem.args()), options);
    for (const emu::race_row& race : result.races) ADD_FAILURE() << race.message;
    EXPECT_EQ(problem.first_difference(), "");
  }
}

TEST_P(TileOperations, GatherRowsBeyondTwoGigabytes) {
  constexpr std::size_t num_rows = 40,
                        stride = 1 << 26;  // floats; addresses without memory, but where they are written
  void* const memory = ::mmap(nullptr, num_rows * stride * 4, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  float* const pool = static_cast<float*>(memory);
  std::vector<int> table;
  for (int i = 0; i < 32; ++i) table.push_back(i == 5 ? -1 : i == 6 ? int(num_rows) : (i * 9 + 39) % int(num_rows));
  for (std::size_t row = 0; row < num_rows; ++row) {
    for (std::size_t col = 0; col < 16; ++col) pool[row * stride + col] = float(row * 16 + col + 1);
  }
  std::vector<float> out(32 * 16, -1.0f);
  emu::module& code = load(GetParam());
  code.forbid_all();
  for (std::size_t row = 0; row < num_rows; ++row) code.allow(pool + row * stride, 64);
  code.allow(table.data(), table.size() * 4);
  code.allow(out.data(), out.size() * 4);
  code.launch("gather_far", {1}, {64}, 0,
              emu::kernarg().add(pool).add(int(num_rows)).add(int(stride)).add(table.data()).add(out.data()));
  for (std::size_t i = 0; i < out.size(); ++i) {
    const int row = table[i / 16];
    const bool exists = row >= 0 && row < int(num_rows);
    ASSERT_EQ(out[i], exists ? float(std::size_t(row) * 16 + i % 16 + 1) : 0.0f) << i;
    if (exists) {
      ASSERT_EQ(pool[std::size_t(row) * stride + i % 16], 2 * out[i]) << i;
    }
  }
  ::munmap(memory, num_rows * stride * 4);
}

INSTANTIATE_TEST_SUITE_P(Targets, TileOperations, testing::ValuesIn(code_objects()),
                         [](const auto& info) { return info.param.arch; });

}  // namespace
