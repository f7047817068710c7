// SPDX-License-Identifier: MIT
// Vectors that begin at any byte, from memory that begins at any byte.
#include <tilewright/core/arch/arch.hpp>
#include <tilewright/machine/emulator/launch.hpp>
#include <tilewright/tile/copy/cut_vectors.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

namespace tilewright {
namespace {

template <index_t Unit>
void expect_vectors() {
  constexpr index_t bytes = 40;
  alignas(4) unsigned char memory[64];
  for (index_t i = 0; i < 64; ++i) memory[i] = static_cast<unsigned char>(i + 1);
  for (index_t first = 0; first < 4; first += Unit) {
    const auto from = detail::shifted_memory<index_t>::make(memory + first, bytes);
    index_t loaded = 0;
    for (index_t at = 0; at < bytes; at += Unit) {
      if (!from.has(at, 8)) continue;
      ++loaded;
      const array<unsigned, 2> words = from.template load<Unit, 2>(at);
      for (index_t i = 0; i < 8; ++i)
        EXPECT_EQ(words[i / 4] >> i % 4 * 8 & 0xff, unsigned(memory[first + at + i]))
            << "memory from byte " << first << ", vector at " << at << ", byte " << i;
    }
    EXPECT_GT(loaded, 16 / Unit) << first;
  }
}

TEST(CutVectors, BeginAtAnyByte) {
  emulator::launch({.target = &arch::gfx942::value, .grid = {1}, .block_size = 64}, [] {
    if (exec::thread_id() > 0) return;
    expect_vectors<1>();
    expect_vectors<2>();
    expect_vectors<4>();
  });
}

/// Vectors of four halves at any byte, of which elements lower to upper - 1 are inside of the memory.
void expect_parts(index_t bytes) {
  alignas(8) unsigned short memory[20];
  for (index_t i = 0; i < 20; ++i) memory[i] = static_cast<unsigned short>(257 * (i + 1));
  const exec::global_buffer from = exec::make_global_buffer(memory, bytes);
  for (index_t at = 0; at + 8 <= bytes; at += 2) {
    for (index_t lower = 0; lower <= 4; ++lower) {
      for (index_t upper = lower; upper <= 4; ++upper) {
        const auto words = detail::load_part<array<unsigned, 2>, unsigned short>(from, at, lower, upper);
        for (index_t e = 0; e < 4; ++e)
          EXPECT_EQ(words[e / 2] >> e % 2 * 16 & 0xffff, e >= lower && e < upper ? memory[at / 2 + e] : 0u)
              << "at " << at << ", elements " << lower << " to " << upper << ", element " << e;
      }
    }
  }
}

TEST(CutVectors, PartsAreZeroOutside) {
  emulator::launch({.target = &arch::gfx942::value, .grid = {1}, .block_size = 64}, [] {
    if (exec::thread_id() == 0) expect_parts(40), expect_parts(22);  // the second one ends within a vector
  });
}

}  // namespace
}  // namespace tilewright
