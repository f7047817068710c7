// SPDX-License-Identifier: MIT
// gfx1250's tensor data mover, asynchronous copies and clusters against plain loops. Descriptors are packed here field
// by field from the published layout (include/tilewright/core/arch/tensor_descriptor.hpp names the sources).
#include <bit>
#include <cstring>

#include "emulated_kernels.hpp"

namespace {
struct tile_2d {
  const void* global;
  unsigned lds, element_bytes;
  unsigned tensor_x, tensor_y, tile_x, tile_y, stride;
  unsigned pad_every = 0, pad = 0;  // dwords
};
struct words {
  struct alignas(16) {
    unsigned word[4];
  } group0;
  struct alignas(32) {
    unsigned word[8];
  } group1;
};
words pack(const tile_2d& t) {
  const auto address = reinterpret_cast<std::uintptr_t>(t.global);
  words w{{{1, t.lds, unsigned(address), unsigned(address >> 32) | 0x80000000u}}, {}};
  unsigned* const g = w.group1.word;
  const auto log2 = [](unsigned n) { return unsigned(std::countr_zero(n)); };
  g[0] = log2(t.element_bytes) << 16;
  if (t.pad) g[0] |= 1u << 20 | (log2(t.pad_every) - 1) << 22 | (t.pad - 1) << 25;
  g[1] = t.tensor_x << 16, g[2] = t.tensor_x >> 16 | t.tensor_y << 16;
  g[3] = t.tensor_y >> 16 | t.tile_x << 16, g[4] = t.tile_y, g[5] = t.stride;
  return w;
}
emu::module& tensor_kernels() {
  static emu::module code(path_of("tensor", "gfx1250"));
  return code;
}
emu::result move(const tile_2d& load, const tile_2d* store, std::vector<int>& out, bool waits = true) {
  emu::kernarg args;
  const words l = pack(load), s = store ? pack(*store) : words{};
  args.add(out.data()).add(l.group0).add(l.group1).add(s.group0).add(s.group1);
  args.add(int(out.size())).add(int(store != nullptr)).add(int(waits));
  return tensor_kernels().launch("tensor_tile", {1, 1, 1}, {64, 1, 1}, 0, args);
}

TEST(TensorMove, LoadsPadsAndZeros) {
  for (const unsigned bytes : {1u, 2u, 4u, 8u}) {
    std::vector<std::uint8_t> memory(24 * 100 * bytes);
    for (auto& b : memory) b = std::uint8_t(random_numbers()());
    std::vector<int> out(2048);
    allow(tensor_kernels(), memory), allow(tensor_kernels(), out);
    // A tile of 32 x 12 of which 29 x 9 are in the tensor; 4 dwords are left out after each 8.
    const tile_2d t{memory.data(), 64, bytes, 29, 9, 32, 12, 100, 8, 4};
    EXPECT_EQ(first_race(move(t, nullptr, out)), "");
    std::vector<std::uint8_t> expected(out.size() * 4, 0xff);
    for (unsigned n = 0; n < 32 * 12 * bytes; ++n) {
      const unsigned x = n / bytes % 32, y = n / bytes / 32, at = 64 + n + n / 32 * 16;
      expected[at] = x < 29 && y < 9 ? memory[(y * 100 + x) * bytes + n % bytes] : 0;
    }
    EXPECT_EQ(std::memcmp(out.data(), expected.data(), expected.size()), 0) << bytes << " bytes";
    tensor_kernels().forbid_all();
  }
}
TEST(TensorMove, StoresWhatIsInTheTensor) {
  std::vector<int> from = random_ints(16 * 16), to(20 * 16, 7), out(1);
  allow(tensor_kernels(), from), allow(tensor_kernels(), to), allow(tensor_kernels(), out);
  const tile_2d load{from.data(), 0, 4, 16, 16, 16, 16, 16}, store{to.data(), 128, 4, 13, 5, 16, 8, 20};
  EXPECT_EQ(first_race(move(load, &store, out)), "");
  for (unsigned y = 0; y < 16; ++y)
    for (unsigned x = 0; x < 20; ++x)
      EXPECT_EQ(to[y * 20 + x], x < 13 && y < 5 ? from[(y + 2) * 16 + x] : 7) << x << ' ' << y;
  tensor_kernels().forbid_all();
}
TEST(TensorMove, WhatIsNotWaitedForIsFound) {
  std::vector<int> from = random_ints(256), out(256);
  allow(tensor_kernels(), from), allow(tensor_kernels(), out);
  const tile_2d load{from.data(), 0, 4, 16, 16, 16, 16, 16};
  EXPECT_NE(fault_of([&] { move(load, nullptr, out, false); }).find("is used before the load to LDS"),
            std::string::npos);
  const tile_2d beyond{from.data() + 16, 0, 4, 16, 16, 16, 16, 16}, outside{from.data(), 16384, 4, 16, 16, 16, 16, 16};
  EXPECT_NE(fault_of([&] { move(beyond, nullptr, out); }).find("outside of all buffers"), std::string::npos);
  EXPECT_NE(fault_of([&] { move(outside, nullptr, out); }).find("bytes of LDS"), std::string::npos);
  tile_2d empty = load;
  empty.tensor_x = 0;
  EXPECT_THROW(move(empty, nullptr, out), emu::not_supported);
  tensor_kernels().forbid_all();
}
TEST(Clusters, MeetAtTheirBarrier) {
  const int width = 6, height = 4;
  std::vector<int> out(width * height), ids(width * height);
  allow(tensor_kernels(), out), allow(tensor_kernels(), ids);
  emu::kernarg args;
  args.add(out.data()).add(ids.data()).add(width);
  tensor_kernels().launch("cluster_exchange", {width, height, 1}, {64, 1, 1}, 0, args);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      EXPECT_EQ(out[y * width + x], 100 * (y ^ 1) + (x ^ 1));
      EXPECT_EQ(ids[y * width + x], (x % 2 + y % 2 * 2) | x / 2 << 4 | y / 2 << 8 | 3 << 12);
    }
  emu::kernarg one;
  one.add(out.data());
  const auto run = [&](unsigned blocks) {
    return fault_of([&] { tensor_kernels().launch("cluster_deadlock", {blocks, 1, 1}, {32, 1, 1}, 0, one); });
  };
  EXPECT_NE(run(2).find("deadlock at a barrier of the cluster: it waits for 1 more"), std::string::npos);
  EXPECT_THROW(run(3), std::runtime_error);
  tensor_kernels().forbid_all();
}
TEST(AsyncCopies, HaveAnAddressForEachLane) {
  std::vector<int> in = random_ints(128), out(128);
  allow(tensor_kernels(), in), allow(tensor_kernels(), out);
  const auto run = [&](int waits) {
    emu::kernarg args;
    args.add(in.data()).add(out.data()).add(waits);
    tensor_kernels().launch("async_copies", {1, 1, 1}, {32, 1, 1}, 0, args);
  };
  run(1);
  for (int n = 0; n < 128; ++n) EXPECT_EQ(out[std::size_t(n)], in[std::size_t((31 - n / 4) * 4 + n % 4)]);
  EXPECT_NE(fault_of([&] { run(0); }).find("is used before the load to LDS"), std::string::npos);
  tensor_kernels().forbid_all();
}
}  // namespace
