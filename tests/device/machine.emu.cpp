// SPDX-License-Identifier: MIT
// machine.hip on the emulated GPUs.
#include <amdgcn_emulator.hpp>

#include <tilewright/core/base/atomic_op.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "code_objects.hpp"

namespace {

namespace tw = tilewright;
using tw::bfloat16_t, tw::half_t;

class Machine : public testing::TestWithParam<code_object> {
 protected:
  emu::module& code_ = load(GetParam());
};

TEST_P(Machine, UpdatesAtomicallyAndInBounds) {
  constexpr unsigned blocks = 2, n = blocks * 256;
  std::vector<unsigned> sums(5, 0), largest(5, 0), in_lds(blocks * 10);
  for (auto* memory : {&sums, &largest, &in_lds}) code_.allow(memory->data(), memory->size() * 4);
  code_.launch("update", {blocks}, {256}, 0, emu::kernarg().add(sums.data()).add(largest.data()).add(in_lds.data()));

  const auto expect = [&](const unsigned* sum, const unsigned* most, unsigned first, unsigned count) {
    const unsigned total = count * (2 * first + count - 1) / 2;
    EXPECT_EQ(int(sum[0]), int(total) - 100 * int(count));
    EXPECT_EQ(sum[1], total);
    EXPECT_EQ(tw::bit_cast<float>(sum[2]), -0.5f * float(count));
    const auto halves = tw::bit_cast<tw::vector_t<half_t, 2>>(sum[3]);
    EXPECT_EQ(float(halves[0]), -0.5f * float(count));
    EXPECT_EQ(float(halves[1]), float(count));
    const auto brains = tw::bit_cast<tw::vector_t<bfloat16_t, 2>>(sum[4]);
    EXPECT_EQ(float(brains[0]), -float(count / 16));
    EXPECT_EQ(float(brains[1]), float(count / 256));
    EXPECT_EQ(int(most[0]), int(first + count - 1) - 100);
    EXPECT_EQ(most[1], first + count - 1);
    EXPECT_EQ(tw::bit_cast<float>(most[2]), 7.0f);
    EXPECT_EQ(float(tw::bit_cast<tw::vector_t<half_t, 2>>(most[3])[0]), 7.0f);
    EXPECT_EQ(float(tw::bit_cast<tw::vector_t<bfloat16_t, 2>>(most[4])[1]), 1.0f);
  };
  expect(sums.data(), largest.data(), 0, n);
  for (unsigned b = 0; b < blocks; ++b) expect(&in_lds[b * 10], &in_lds[b * 10 + 5], b * 256, 256);
}

TEST_P(Machine, CopiesToLds) {
  for (const int bytes_each : {4, 16}) {
    const int bytes = 512 * bytes_each, readable = bytes - 16 * 13;
    std::vector<char> in(std::size_t(readable), 0), out(std::size_t(bytes), 99);
    std::iota(in.begin(), in.end(), char(1));
    code_.forbid_all();
    code_.allow(in.data(), in.size());
    code_.allow(out.data(), out.size());
    const emu::result result = code_.launch("copy_" + std::to_string(bytes_each), {1}, {256}, 0,
                                            emu::kernarg().add(in.data()).add(out.data()).add(readable));
    for (const emu::race_row& race : result.races) ADD_FAILURE() << race.message;
    in.resize(std::size_t(bytes), 0);
    EXPECT_EQ(in, out) << bytes_each;
  }
}

TEST_P(Machine, ExchangesBetweenLanes) {
  std::vector<int> out(32 * 32, -1);
  code_.allow(out.data(), out.size() * 4);
  code_.launch("exchange", {1}, {64}, 0, emu::kernarg().add(out.data()));
  for (int mask = 1; mask < 32; ++mask) {
    for (int lane = 0; lane < 32; ++lane) ASSERT_EQ(out[std::size_t(mask * 32 + lane)], lane ^ mask) << mask;
  }
  for (int lane = 0; lane < 32; ++lane) ASSERT_EQ(out[std::size_t(lane)], 1);
}

// Matrices of 4 (halves) or 8 (bytes) rows and 16 columns in a row; lane i of 16 has column i.
TEST_P(Machine, Transposes) {
  std::vector<unsigned char> in(1024);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<unsigned char>(i * 37 + i / 256);
  std::vector<short> wide(64 * 4);
  std::vector<unsigned char> narrow(64 * 8);
  code_.allow(in.data(), in.size());
  code_.allow(wide.data(), wide.size() * 2);
  code_.allow(narrow.data(), narrow.size());
  code_.launch("transposing_reads", {1}, {256}, 0, emu::kernarg().add(in.data()).add(wide.data()).add(narrow.data()));
  if (GetParam().arch != "gfx950") {  // the others have no such instruction
    EXPECT_EQ(wide, std::vector<short>(64 * 4));
    return;
  }
  for (std::size_t lane = 0; lane < 64; ++lane) {
    const std::size_t group = lane / 16, column = lane % 16;
    for (std::size_t row = 0; row < 4; ++row) {
      short expected;
      std::memcpy(&expected, &in[512 + group * 128 + row * 32 + column * 2], 2);
      ASSERT_EQ(wide[lane * 4 + row], expected) << lane << ", " << row;
    }
    for (std::size_t row = 0; row < 8; ++row)
      ASSERT_EQ(narrow[lane * 8 + row], in[group * 128 + row * 16 + column]) << lane << ", " << row;
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, Machine, testing::ValuesIn(code_objects()),
                         [](const auto& info) { return info.param.arch; });

}  // namespace
