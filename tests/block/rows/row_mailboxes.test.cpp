// SPDX-License-Identifier: MIT
// Sums over the waves of one or several blocks, row after row.
#include <tilewright/block/rows/row_mailboxes.hpp>
#include <tilewright/core/arch/arch.hpp>
#include <tilewright/machine/emulator/launch.hpp>

#include <gtest/gtest.h>

#include <atomic>

namespace tilewright {
namespace {

template <class Arch, index_t Blocks, index_t Waves, index_t Values>
void expect_sums() {
  using mailboxes = detail::row_mailboxes<Arch, Blocks, Waves, Values>;
  constexpr index_t wave_size = Arch::value.wave_size, rows = 5;  // each half of the mailboxes twice, and once more
  std::atomic<int> wrong = 0;
  emulator::launch({.target = &Arch::value,
                    .grid = {Blocks},
                    .cluster = Blocks,
                    .block_size = Waves * wave_size,
                    .lds_bytes = mailboxes::lds_bytes,
                    .check_lds = emulator::lds_checks::on},
                   [&] {
                     mailboxes waves{exec::lds_allocate<mailboxes::lds_bytes>()};
                     waves.start();
                     const index_t wave = detail::block_of_row<Blocks>() * Waves + exec::wave_id();
                     for (index_t row = 1; row <= rows; ++row) {
                       array<float, Values> own;
                       for (index_t v = 0; v < Values; ++v) own[v] = float(row * (wave + 1) + v);
                       waves.post(own);
                       const array<float, Values> sums = waves.template sums<wave_size>();
                       constexpr index_t n = Waves * Blocks;
                       for (index_t v = 0; v < Values; ++v) wrong += sums[v] != float(row * n * (n + 1) / 2 + v * n);
                     }
                     detail::start_cluster<Blocks>();  // the others read what this block has sent
                   });
  EXPECT_EQ(wrong, 0);
}

TEST(RowMailboxes, SumsOfAllWaves) {
  expect_sums<arch::sm90, 1, 4, 2>();
  expect_sums<arch::sm90, 2, 2, 1>();
  expect_sums<arch::sm90, 4, 4, 2>();
  expect_sums<arch::gfx942, 1, 4, 2>();
}

}  // namespace
}  // namespace tilewright
