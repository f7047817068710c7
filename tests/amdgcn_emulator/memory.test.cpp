// SPDX-License-Identifier: MIT
// Buffers and their edges, scratch, flat pointers, atomics, accesses of every width, loads to LDS, transposing reads.
#include <cmath>

#include "emulated_kernels.hpp"

class Memory : public emulated_test {
 protected:
  Memory() { allow(code_, in_); }
  emu::result launch(const char* kernel, unsigned block, const emu::kernarg& arguments, unsigned grid = 1) {
    const emu::result result = code_.launch(kernel, {grid}, {block}, 0, arguments);
    EXPECT_EQ(first_race(result), "");
    return result;
  }
  std::vector<int> in_ = random_ints(1024);
};
/// What only some targets have. Partial waits also need optimised code: spills change what vmcnt counts.
class MemoryToLds : public Memory {};
class MemoryToLdsPartialWaits : public Memory {};
class MemoryOfGfx950 : public Memory {};

TEST_P(Memory, BuffersEndWhereTheirDescriptorSays) {
  for (int bytes : {4096, 1000, 1002, 36, 0}) {
    std::vector<int> out(1024 + 256, -1);
    allow(code_, out);
    launch("edge", 256, emu::kernarg().add(in_.data()).add(out.data()).add(bytes));
    for (int i = 0; i < 1024; ++i) EXPECT_EQ(out[i], i >= 1020 ? -1 : 4 * i + 4 <= bytes ? in_[i] : 0) << bytes;
    for (int i = 0; i < 256; ++i)
      EXPECT_EQ(out[1024 + i], 2 * i + 2 <= bytes ? in_[i / 2] >> 16 * (i & 1) & 0xffff : 0) << bytes;
  }
}

TEST_P(Memory, Scratch) {
  std::vector<float> x(256), y(256);
  for (float& v : x) v = float(random_numbers()() % 1000) / 8;
  allow(code_, x), allow(code_, y);
  launch("scratch", 256, emu::kernarg().add(x.data()).add(y.data()).add(7));
  for (int i = 0; i < 256; ++i) {
    double sum = 0;
    for (int k = 0; k < 24; ++k) sum += (x[(i + k * 7) & 255] + (k == i * 7 % 24)) * (k + 1);
    EXPECT_NEAR(y[i], sum, 1e-5 * sum);
  }
}

TEST_P(Memory, FlatPointersReachLdsScratchAndMemory) {
  for (int select : {0, 1, 2, 4}) {
    std::vector<int> out(256, 1);
    allow(code_, out);
    launch("flat", 256, emu::kernarg().add(out.data()).add(select));
    for (int i = 0; i < 256; ++i)
      EXPECT_EQ(out[i], 1 + 10 * i + (select & 1 ? 5 : 0) + 4 * i + 6 + (select & 1 ? 0 : 5));
  }
}

TEST_P(Memory, Atomics) {
  std::vector<int> counters(32 + 1024, 0), x(256);
  std::vector<float> total(1, 0);
  std::vector<std::uint64_t> wide(1, 5);
  unsigned sum = 0;
  int best = 0, histogram[16] = {};
  for (int& v : x) {
    v = int(random_numbers()() % 1000);
    sum += 3 * unsigned(v), best = std::max(best, v), ++histogram[v & 15];
  }
  allow(code_, counters), allow(code_, total), allow(code_, x), allow(code_, wide);
  launch("atomics", 256, emu::kernarg().add(counters.data()).add(total.data()).add(x.data()).add(wide.data()), 3);
  EXPECT_EQ(counters[16], best);
  EXPECT_EQ(counters[17], 768);
  EXPECT_GT(counters[18], 0);
  EXPECT_EQ(total[0], 384.0f);
  EXPECT_EQ(wide[0], 5 + (std::uint64_t(sum) << 32));
  for (int i = 0; i < 16; ++i) EXPECT_EQ(counters[i], 3 * histogram[i]);
  for (int i = 0; i < 768; ++i) EXPECT_EQ(counters[32 + i], 1);
}

TEST_P(Memory, AtomicsOfBuffersAndPairs) {
  std::vector<int> counters(64, 0), old(256, -1);
  std::vector<std::uint16_t> halves(4, 0);
  allow(code_, counters), allow(code_, old), allow(code_, halves);
  launch("more_atomics", 256, emu::kernarg().add(counters.data()).add(halves.data()).add(old.data()));
  for (int i = 0; i < 64; ++i) EXPECT_EQ(counters[i], i < 16 ? 8 * i + 32 * 28 : 0);
  for (int i = 0; i < 256; ++i) {
    const int turn = i / 32;
    EXPECT_EQ(old[i], i % 32 < 16 ? turn * (i % 32) + 32 * (turn * (turn - 1) / 2) : 0);
  }
  const bool has_pairs = target() != "gfx90a" && target() != "gfx1100";
  const std::vector<std::uint16_t> sums = {0x5400, 0x6000, 0x5c00, 0x5800};
  EXPECT_EQ(halves, has_pairs ? sums : std::vector<std::uint16_t>(4));
}

TEST_P(Memory, BlocksOfThreeDimensionsAndDynamicLds) {
  const unsigned bx = 5, by = 7, bz = 3, gx = 2, gy = 3, gz = 2, k = bx * by * bz, total = k * gx * gy * gz;
  std::vector<std::uint8_t> bytes(total);
  std::vector<std::int16_t> shorts(total);
  std::vector<int> ints(total);
  allow(code_, bytes), allow(code_, shorts), allow(code_, ints);
  const auto result = code_.launch("shapes", {gx, gy, gz}, {bx, by, bz}, k,
                                   emu::kernarg().add(bytes.data()).add(shorts.data()).add(ints.data()).add(int(k)));
  EXPECT_EQ(first_race(result), "");
  for (unsigned block = 0; block < gx * gy * gz; ++block)
    for (unsigned i = 0; i < k; ++i) {
      const int g = int(block % gx + 10 * (block / gx % gy) + 100 * (block / (gx * gy)));
      const auto value = static_cast<signed char>(int((i * 5 + 1) % k) * 3 - g);
      const unsigned at = i + k * block;
      EXPECT_EQ(bytes[at], std::uint8_t(value));
      EXPECT_EQ(shorts[at], std::int16_t(value * 9));
      EXPECT_EQ(ints[at], int(gx * bx * 1000) + g);
    }
}

TEST_P(Memory, WorkgroupsThatWaitForEachOther) {
  std::vector<int> flags(65), out(64);
  allow(code_, flags), allow(code_, out);
  emu::options options;
  options.limit = 100000;
  const auto arguments = emu::kernarg().add(flags.data()).add(out.data());
  const std::string fault = fault_of([&] { code_.launch("handshake", {2}, {64}, 0, arguments, options); });
  EXPECT_NE(fault.find("endless loop"), fault.npos) << fault;
  options.resident = 2;
  code_.launch("handshake", {2}, {64}, 0, arguments, options);
  for (int i = 0; i < 64; ++i) EXPECT_EQ(out[i], 7 * i);
}

TEST_P(Memory, WorkgroupsOnSeveralThreads) {
  std::vector<int> flags(65), out(64), counters(32 + 64 * 256), in = random_ints(256);
  std::vector<float> total(1);
  std::vector<std::uint64_t> wide(1);
  allow(code_, flags), allow(code_, out), allow(code_, counters), allow(code_, in), allow(code_, total);
  allow(code_, wide);
  emu::options options;
  options.collect = true, options.threads = 2;
  code_.launch("handshake", {2}, {64}, 0, emu::kernarg().add(flags.data()).add(out.data()), options);
  for (int i = 0; i < 64; ++i) EXPECT_EQ(out[std::size_t(i)], 7 * i);
  options.threads = 3;
  const auto arguments = emu::kernarg().add(counters.data()).add(total.data()).add(in.data()).add(wide.data());
  const emu::result result = code_.launch("atomics", {64}, {256}, 0, arguments, options);
  for (const emu::finding& f : result.findings) ADD_FAILURE() << text_of(f);
  EXPECT_EQ(counters[17], 64 * 256) << "no atomic is lost";
  EXPECT_EQ(total[0], 64 * 128.0f);
}

TEST_P(Memory, AccessesOfEveryWidth) {
  std::vector<std::uint16_t> a(256), b(256);
  for (auto& v : a) v = std::uint16_t(random_numbers()());
  allow(code_, a), allow(code_, b);
  launch("widths", 64, emu::kernarg().add(a.data()).add(b.data()));
  for (int i = 0; i < 256; ++i) EXPECT_EQ(b[i], a[255 - i]);
}

TEST_P(MemoryToLds, LandsWhereM0Says) {
  std::vector<int> out(512);
  allow(code_, out);
  const auto arguments = emu::kernarg().add(in_.data()).add(out.data());
  launch("dma", 256, arguments);
  for (int i = 0; i < 256; ++i) {
    const int at = ((i * 4) ^ 32) + 256;
    EXPECT_EQ(out[i], in_[i ^ 5]);
    EXPECT_EQ(out[256 + i], at + 4 <= 1000 ? in_[at / 4] : 0);
  }
  const std::string fault = fault_of([&] { code_.launch("dma_unwaited", {1}, {64}, 0, arguments); });
  EXPECT_NE(fault.find("before the load to LDS"), fault.npos) << fault;
}

TEST_P(MemoryToLdsPartialWaits, OrderTheOldestLoads) {
  for (auto order : {emu::options::in_order, emu::options::random}) {
    std::vector<int> in = random_ints(4 * 256), out(256);
    allow(code_, in), allow(code_, out);
    emu::options options;
    options.order = order, options.slice = 3;
    const auto arguments = emu::kernarg().add(in.data()).add(out.data()).add(4);
    EXPECT_EQ(first_race(code_.launch("dma_pipeline", {1}, {256}, 0, arguments, options)), "");
    for (int i = 0; i < 256; ++i) {
      unsigned sum = 0;
      for (unsigned k = 0; k < 4; ++k) sum += unsigned(in[k * 256 + (i + 64) % 256]) * (k + 1);
      EXPECT_EQ(out[i], int(sum));
    }
    const std::string fault = fault_of([&] { code_.launch("dma_pipeline_wrong", {1}, {256}, 0, arguments, options); });
    EXPECT_NE(fault.find("before the load to LDS"), fault.npos) << fault;
  }
}

TEST_P(MemoryOfGfx950, TransposingReads) {
  std::vector<std::uint16_t> a(256), b(256);
  for (int i = 0; i < 256; ++i) a[i] = std::uint16_t(i + 1);
  allow(code_, a), allow(code_, b);
  for (const int lanes : {64, 40}) {  // lanes that EXEC leaves out give zeros to others
    launch("transposing", 64, emu::kernarg().add(a.data()).add(b.data()).add(lanes));
    for (int lane = 0; lane < lanes; ++lane)
      for (int j = 0; j < 4; ++j) {
        const int from = (4 * (lane / 16) + j) * 16 + lane % 16;  // lane `from / 4` reads it
        EXPECT_EQ(b[lane * 4 + j], from / 4 < lanes ? a[from] : 0);
      }
  }
}

TEST_P(MemoryOfGfx950, LoadsOfSixteenBytesToLds) {
  std::vector<int> out(256);
  allow(code_, out);
  launch("dma16", 64, emu::kernarg().add(in_.data()).add(out.data()));
  for (int i = 0; i < 256; ++i) EXPECT_EQ(out[i], in_[4 * (63 - i / 4) + i % 4]);
}

INSTANTIATE_TEST_SUITE_P(Kernels, Memory, testing::ValuesIn(objects_named({"memory", "memory_o0"})));
INSTANTIATE_TEST_SUITE_P(Kernels, MemoryToLds,
                         testing::ValuesIn(objects_named({"memory", "memory_o0"}, {"gfx942", "gfx950"})));
INSTANTIATE_TEST_SUITE_P(Kernels, MemoryToLdsPartialWaits,
                         testing::ValuesIn(objects_named({"memory"}, {"gfx942", "gfx950"})));
INSTANTIATE_TEST_SUITE_P(Kernels, MemoryOfGfx950,
                         testing::ValuesIn(objects_named({"memory", "memory_o0"}, {"gfx950"})));
