// SPDX-License-Identifier: MIT
// The documents' functions for swizzled LDS on the CPU emulator: what is written is read, and columns meet in no bank.
#include <tilewright/compat/ck_tile/xor_preshuffle.hpp>
#include <tilewright/core/arch/arch.hpp>
#include <tilewright/machine/emulator/launch.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace tilewright {
namespace {

/// A wave writes 64 rows, each by 8 lanes, and every lane reads a row's first vector, and then the others. Returns the
/// conflicts of reads.
template <index_t RowStride>
long_index_t conflicts_of_columns(const arch::target& target) {
  constexpr index_t rows = 64;
  const index_t lanes = target.wave_size;
  std::vector<half_t> seen(rows * 64);
  const emulator::launch_report report =
      emulator::launch({.target = &target, .block_size = lanes, .lds_bytes = rows * RowStride * 2, .workers = 1}, [&] {
        const exec::lds_pointer lds = exec::lds_allocate<rows * RowStride * 2>();
        const index_t lane = exec::lane_id();
        for (index_t i = lane; i < rows * 8; i += lanes) {
          half_t values[8];
          for (index_t e = 0; e < 8; ++e) values[e] = half_t(float(i * 8 + e) / 4);
          lds_write_with_xor<half_t, RowStride>(lds, values, i / 8, i % 8);
        }
        exec::block_sync();
        for (index_t row = lane; row < rows; row += lanes) {
          for (index_t col = 0; col < 8; ++col)
            lds_read_with_xor<half_t, RowStride>(&seen[std::size_t(row * 64 + col * 8)], lds, row, col);
        }
      });
  for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(float(seen[i]), float(half_t(float(i) / 4)));
  return report.of(arch::lds_op::read_b128).conflicts;
}

TEST(LdsWithXor, ReadsColumnsWithoutConflicts) {
  for (const arch::target* target : arch::all_targets)
    EXPECT_EQ(conflicts_of_columns<64>(*target), target == &arch::gfx950::value ? 32 : 0) << target->name;
}
TEST(LdsWithXor, CountsTheConflictsOfWiderRowsToo) {
  EXPECT_GT(conflicts_of_columns<72>(arch::gfx942::value), 0) << "padding and swizzling at once undo each other";
}

}  // namespace
}  // namespace tilewright
