// SPDX-License-Identifier: MIT
// Copies, transposition through LDS, moves between lanes, and bank conflicts known in advance.
#include "emulated_kernels.hpp"

using Basic = emulated_test;

TEST_P(Basic, EveryInstructionIsKnown) { expect_supported(code_); }

TEST(Library, RunsAKernel) {
  std::vector<float> x(1000, 2), y(1000, 1), z(1000);
  emu::module code(path_of("basic", "gfx942"));
  for (std::vector<float>* memory : {&x, &y, &z}) code.allow(memory->data(), 4000);  // the rest is out of bounds
  emu::options options;
  options.count = options.lds_log = true;
  const auto arguments = emu::kernarg().add(x.data()).add(y.data()).add(z.data()).add(1000).add(2.5f);
  const emu::result result = code.launch("saxpy", {4}, {256}, /*dynamic LDS*/ 0, arguments, options);
  EXPECT_EQ(z[999], 6);
  EXPECT_EQ(result.waves, 16u);
  EXPECT_FALSE(result.counts.empty());
}

TEST_P(Basic, Saxpy) {
  std::vector<float> x(1000), y(1000), z(1024, 0);
  for (int i = 0; i < 1000; ++i) x[i] = float(i) * 0.5f, y[i] = float(1000 - i);
  allow(code_, x), allow(code_, y), allow(code_, z);
  code_.launch("saxpy", {4}, {256}, 0, emu::kernarg().add(x.data()).add(y.data()).add(z.data()).add(1000).add(2.5f));
  for (int i = 0; i < 1024; ++i) EXPECT_EQ(z[i], i < 1000 ? 2.5f * x[i] + y[i] : 0);
}

TEST_P(Basic, TransposesInEveryOrderOfWaves) {
  for (auto order : {emu::options::in_order, emu::options::reverse, emu::options::random}) {
    std::vector<std::uint16_t> a(128 * 128), b(128 * 128);
    for (auto& x : a) x = std::uint16_t(random_numbers()());
    allow(code_, a), allow(code_, b);
    emu::options options;
    options.order = order;
    const auto result =
        code_.launch("transpose", {2, 2}, {256}, 0, emu::kernarg().add(a.data()).add(b.data()).add(128), options);
    EXPECT_EQ(first_race(result), "");
    int wrong = 0;
    for (int i = 0; i < 128; ++i)
      for (int j = 0; j < 128; ++j) wrong += b[j * 128 + i] != a[i * 128 + j];
    EXPECT_EQ(wrong, 0);
  }
}

TEST_P(Basic, MovesBetweenLanes) {
  std::vector<int> in = random_ints(256), out(576);
  allow(code_, in), allow(code_, out);
  code_.launch("reduce", {1}, {256}, 0, emu::kernarg().add(in.data()).add(out.data()));
  const int lanes = int(wave_size(target()));
  for (int wave = 0; wave < 256 / lanes; ++wave) {
    unsigned sum = 0, odd = 0;
    for (int lane = 0; lane < lanes; ++lane)
      sum += unsigned(in[wave * lanes + lane]), odd += in[wave * lanes + lane] & 1;
    EXPECT_EQ(out[wave], int(sum)) << "DPP and readlane";
    EXPECT_EQ(out[16 + wave], int(sum)) << "bpermute";
    EXPECT_EQ(out[32 + wave], int(odd)) << "ballot";
  }
  for (int i = 0; i < 256; ++i) {
    int below = 0;
    for (int k = i / lanes * lanes; k < i; ++k) below += in[k] & 1;
    EXPECT_EQ(out[64 + i], below) << "mbcnt";
    const unsigned moved =
        unsigned(in[i ^ 16]) + unsigned(in[(i & ~3) | (3 - (i & 3))]) + unsigned(in[i / lanes * lanes]);
    EXPECT_EQ(out[320 + i], int(moved)) << "swizzle, DPP, readfirstlane";
  }
}

TEST_P(Basic, CountsBankConflicts) {
  const unsigned lanes = wave_size(target());
  emu::options options;
  options.lds_log = true;
  for (int stride : {1, 2, 32}) {
    std::vector<int> out(64);
    allow(code_, out);
    const auto result = code_.launch("conflicts", {1}, {lanes}, 0, emu::kernarg().add(out.data()).add(stride), options);
    std::uint64_t conflicts = 0;
    for (const emu::lds_row& row : result.lds)
      if (!row.store && row.bytes == 4) conflicts = std::max(conflicts, row.conflicts);
    // gfx950 reads 64 lanes on 64 banks: strides 2 and 32 give 2 and 32 lanes per bank; elsewhere 32 lanes on 32 banks.
    const std::uint64_t phases = lanes == 32 || target() == "gfx950" ? 1 : 2;
    EXPECT_EQ(conflicts, phases * unsigned(stride - 1)) << "stride " << stride;
    for (unsigned lane = 0; lane < lanes; ++lane) EXPECT_EQ(out[lane], int(lane) * stride);
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, Basic, testing::ValuesIn(objects_named({"basic", "basic_o0"})));
