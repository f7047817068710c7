// SPDX-License-Identifier: MIT
// The phase tables, restated as the lists of lanes that their sources give.
#include <tilewright/core/arch/arch.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tilewright::arch {
namespace {

using lanes = std::vector<index_t>;

lanes range(index_t first, index_t last) {
  lanes result;
  for (index_t lane = first; lane <= last; ++lane) result.push_back(lane);
  return result;
}

lanes operator+(lanes a, const lanes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

unsigned long long mask_of(const lanes& list) {
  unsigned long long mask = 0;
  for (const index_t lane : list) mask |= 1ull << lane;
  return mask;
}

/// The groups, and for waves of 64 lanes the same groups 32 lanes further.
std::vector<unsigned long long> repeated(const std::vector<lanes>& groups, index_t wave_size) {
  std::vector<unsigned long long> masks;
  for (index_t first = 0; first < wave_size; first += 32) {
    for (const lanes& group : groups) masks.push_back(mask_of(group) << first);
  }
  return masks;
}

std::vector<unsigned long long> contiguous(index_t wave_size, index_t per_phase) {
  std::vector<unsigned long long> masks;
  for (index_t first = 0; first < wave_size; first += per_phase) {
    masks.push_back(mask_of(range(first, first + per_phase - 1)));
  }
  return masks;
}

std::vector<unsigned long long> phases_of(const target& t, lds_op op, index_t reading = 0) {
  const lds_phases& phases = t.find(op)->readings[reading].phases;
  std::vector<unsigned long long> masks;
  for (index_t phase = 0; phase < phases.num_phases(); ++phase) masks.push_back(phases.lanes_of(phase));
  return masks;
}

const std::vector<lanes> quads = {range(0, 3) + range(20, 23), range(4, 7) + range(16, 19),
                                  range(8, 11) + range(28, 31), range(12, 15) + range(24, 27)};
const std::vector<lanes> gfx950_b128 = {range(0, 3) + range(12, 15) + range(20, 27),
                                        range(4, 11) + range(16, 19) + range(28, 31)};

TEST(LdsPhases, Cdna3AndCdna2) {
  for (const target* t : {&gfx942::value, &gfx90a::value}) {
    EXPECT_EQ(phases_of(*t, lds_op::read_b32), contiguous(64, 32));
    EXPECT_EQ(phases_of(*t, lds_op::read_b64), contiguous(64, 16));
    EXPECT_EQ(phases_of(*t, lds_op::read_b96), repeated(quads, 64));
    EXPECT_EQ(phases_of(*t, lds_op::read_b128), repeated(quads, 64));
    EXPECT_EQ(phases_of(*t, lds_op::write_b32), contiguous(64, 32));
    EXPECT_EQ(phases_of(*t, lds_op::write_b64), contiguous(64, 16));
    EXPECT_EQ(phases_of(*t, lds_op::write_b128), contiguous(64, 8));
    for (const lds_instruction& row : t->lds) EXPECT_EQ(row.readings[0].banks, 32);
  }
}

TEST(LdsPhases, Cdna4) {
  const target& t = gfx950::value;
  EXPECT_EQ(phases_of(t, lds_op::read_b32, 0), contiguous(64, 64));
  EXPECT_EQ(phases_of(t, lds_op::read_b32, 1), contiguous(64, 32));
  EXPECT_EQ(phases_of(t, lds_op::read_b64), contiguous(64, 32));
  EXPECT_EQ(phases_of(t, lds_op::read_b64_tr_b16), contiguous(64, 32));
  EXPECT_EQ(phases_of(t, lds_op::read_b64_tr_b8), contiguous(64, 32));
  EXPECT_EQ(phases_of(t, lds_op::read_b96), repeated(quads, 64));
  EXPECT_EQ(phases_of(t, lds_op::read_b128), repeated(gfx950_b128, 64));
  EXPECT_EQ(phases_of(t, lds_op::write_b32), contiguous(64, 32));
  EXPECT_EQ(phases_of(t, lds_op::write_b64), contiguous(64, 16));
  EXPECT_EQ(phases_of(t, lds_op::write_b128), contiguous(64, 8));
  const auto banks = [&](lds_op op, index_t reading = 0) { return t.find(op)->readings[reading].banks; };
  EXPECT_EQ(banks(lds_op::read_b32, 0), 64);
  EXPECT_EQ(banks(lds_op::read_b32, 1), 32);
  EXPECT_EQ(banks(lds_op::read_b64), 64);
  EXPECT_EQ(banks(lds_op::read_b96), 32);
  EXPECT_EQ(banks(lds_op::read_b128), 64);
  for (const lds_op op :
       {lds_op::write_b8, lds_op::write_b32, lds_op::write_b64, lds_op::write_b96, lds_op::write_b128}) {
    EXPECT_EQ(banks(op), 32);
  }
}

TEST(LdsPhases, Rdna) {
  for (const target* t : {&gfx1100::value, &gfx1201::value}) {
    EXPECT_EQ(phases_of(*t, lds_op::read_b32), contiguous(32, 32));
    EXPECT_EQ(phases_of(*t, lds_op::read_b64), contiguous(32, 16));
    EXPECT_EQ(phases_of(*t, lds_op::write_b32), contiguous(32, 32));
    EXPECT_EQ(phases_of(*t, lds_op::write_b64), contiguous(32, 16));
    EXPECT_EQ(phases_of(*t, lds_op::write_b128), contiguous(32, 8));
  }
  EXPECT_EQ(phases_of(gfx1100::value, lds_op::read_b128), repeated(quads, 32));
  EXPECT_EQ(phases_of(gfx1201::value, lds_op::read_b96), contiguous(32, 8));
  EXPECT_EQ(phases_of(gfx1201::value, lds_op::read_b128), contiguous(32, 8));
}

TEST(LdsPhases, Nvidia) {
  for (const target* t : {&sm80::value, &sm90::value}) {
    for (const bool write : {false, true}) {
      const auto op = [&](index_t bytes) { return write ? lds_write_op(bytes) : lds_read_op(bytes); };
      EXPECT_EQ(phases_of(*t, op(4)), contiguous(32, 32));
      EXPECT_EQ(phases_of(*t, op(8)), contiguous(32, 16));
      EXPECT_EQ(phases_of(*t, op(16)), contiguous(32, 8));
    }
    EXPECT_EQ(phases_of(*t, lds_op::ldmatrix), contiguous(32, 8));
  }
  EXPECT_EQ(phases_of(sm90::value, lds_op::stmatrix), contiguous(32, 8));
}

TEST(LdsPhases, PhasesAreCosetsOfTheirFirst) {
  for (const target* t : all_targets) {
    for (const lds_instruction& row : t->lds) {
      for (const lds_service& reading : row.readings) {
        const lds_phases& p = reading.phases;
        EXPECT_TRUE(every_lane_is_served_once(p));
        for (index_t phase = 0; phase < p.num_phases(); ++phase) {
          const index_t representative = p.lane_at_position(phase * p.lanes_per_phase);
          unsigned long long coset = 0;
          for (index_t lane = 0; lane < p.wave_size; ++lane) {
            if (p.lanes_of(0) >> lane & 1) coset |= 1ull << (lane ^ representative);
          }
          EXPECT_EQ(coset, p.lanes_of(phase));
        }
      }
    }
  }
}

static_assert(every_lane_is_served_once(contiguous_phases(64, 16)));
static_assert(!every_lane_is_served_once({64, 8, {{1, 2, 3, 8, 16, 32}}}), "lane 4 is never served");
static_assert(!every_lane_is_served_once({32, 8, {{1, 2, 4, 8, 32, 16}}}), "lane 32 is not in a wave of 32");
static_assert(!every_lane_is_served_once({64, 24, {{1, 2, 4, 8, 16, 32}}}), "24 lanes do not divide a wave");

}  // namespace
}  // namespace tilewright::arch
