// SPDX-License-Identifier: MIT
// What docs/contributing/adding_a_target.md shows: a target that this library does not know, described by a program
// that uses it.
#include <tilewright/core.hpp>

#include <gtest/gtest.h>

namespace tw = tilewright;
using namespace tilewright::arch;

namespace {

struct my_gpu {
  static constexpr target value{
      .name = "my_gpu",
      .isa = instruction_set::cdna,
      .wave_size = 64,
      .lds_bytes = 96 * 1024,
      .lds_granule = 512,
      .lds_size_known_by = grade::vendor,
      .lds_size_source = "its manual, section 3.2",
      .max_vgprs = 512,
      .buffer_instructions = true,
      .matrix_ops = list_of<matrix_op, 16>(matrix_op::mfma_32x32x8, matrix_op::mfma_32x32x8_x2),
      .lds = list_of<lds_instruction, tw::arch::num_lds_ops>(
          lds_row(lds_op::read_b128, {contiguous_phases(64, 16), 64, grade::third_party, "counters of a colleague"}),
          lds_row(lds_op::write_b128, {contiguous_phases(64, 8), 32, grade::unknown, "assumed: as gfx942"})),
  };
};
static_assert(is_consistent(my_gpu::value));

constexpr auto tile = tw::lds_index_swapping<64, 8, tw::lds_layer(64, 2, 256), 128, tw::half_t>::descriptor;
using operand = tw::tile_distribution<tw::encoding_of(describe(matrix_op::mfma_32x32x8_x2).a)>;
constexpr auto cost = tw::analyze_lds_access<my_gpu>(tile, operand{}, 2, tw::lds_access_kind::read);

TEST(DocsAddingATarget, Analysis) { EXPECT_EQ(cost.conflicts, 0); }

// Waves of 64 lanes, served in an order that is not that of the lanes: lanes 0-3 with 20-23, and so on.
constexpr lds_phases quads{64, 8, {{1, 2, 20, 4, 8, 32}}};
static_assert(every_lane_is_served_once(quads));
static_assert(quads.lanes_of(0) == 0b1111'0000'0000'0000'0000'1111);

}  // namespace
