// SPDX-License-Identifier: MIT
// The phases that are drawn are those that the analysis counts: degrees, lanes,
// banks and conflicts agree on random accesses.
#include <tilewright/core/arch/arch.hpp>
#include <tilewright/viz/lds_trace.hpp>

#include <gtest/gtest.h>

#include <random>

namespace tilewright::viz {
namespace {

TEST(LdsTrace, PhasesCostWhatTheAnalysisSays) {
  std::mt19937 random(1);
  index_t with_conflicts = 0, without = 0;
  for (const arch::target* target : arch::all_targets) {
    for (const arch::lds_instruction& row : target->lds) {
      const index_t bytes = arch::access_bytes(row.op), align = bytes == 12 ? 4 : bytes;
      for (int round = 0; round < 20; ++round) {
        lds_step step;
        step.op = row.op;
        const index_t stride = index_t(random() % 9) * bytes;
        for (index_t lane = 0; lane < 64; ++lane) {
          const bool active = lane < target->wave_size && random() % 8 != 0;
          const index_t place = round % 2 == 0 ? lane * stride : index_t(random() % 4096);
          step.address[lane] = active ? place / align * align : -1;
        }
        for (const lds_reading reading : {lds_reading::worst, lds_reading::first}) {
          const lds_access_cost cost = lds_cost(*target, row.op, step.address, reading);
          const arch::lds_service& service = deciding_reading(*target, step, reading);
          EXPECT_EQ(service.known_by, cost.known_by);
          index_t cycles = 0, phases = 0;
          for (const lds_phase_trace& phase : phases_of(service, step)) {
            cycles += phase.degree;
            phases += phase.degree > 0;
            if (phase.phase == cost.phase && cost.worst_degree > 0) {
              EXPECT_EQ(phase.degree, cost.worst_degree);
              EXPECT_EQ(index_t(phase.banks[std::size_t(cost.bank)].size()), cost.worst_degree);
            }
            index_t in_conflict = 0;
            for (const index_t lane : phase.lanes) in_conflict += phase.is_in_conflict(lane);
            EXPECT_EQ(in_conflict > 1, phase.degree > 1);
          }
          // With two readings, the costlier one decides the cycles, and that of the worst degree is traced.
          if (reading == lds_reading::worst && row.readings.size() == 2) {
            EXPECT_LE(cycles, cost.cycles);
          } else {
            EXPECT_EQ(cycles, cost.cycles);
            EXPECT_EQ(phases, cost.phases);
          }
          (cost.conflicts > 0 ? with_conflicts : without) += 1;
        }
      }
    }
  }
  EXPECT_GT(with_conflicts, 500);
  EXPECT_GT(without, 100);
}

TEST(LdsTrace, LanesThatWantTheSameWordAreServedTogether) {
  lds_step step;
  step.op = arch::lds_op::read_b32;
  for (index_t lane = 0; lane < 64; ++lane) step.address[lane] = lane < 32 ? 4 * (lane / 2) : -1;
  const auto phases = phases_of(arch::sm90::value.find(step.op)->readings[0], step);
  ASSERT_EQ(phases.size(), 1u);
  EXPECT_EQ(phases[0].degree, 1);
  EXPECT_EQ(phases[0].banks[3][0].lanes, (std::vector<index_t>{6, 7}));
  EXPECT_FALSE(phases[0].is_in_conflict(6));
}

TEST(LdsTrace, LanesAreWrittenAsIntervals) {
  EXPECT_EQ(lanes_text({22, 0, 1, 2, 23, 9}), "0-2, 9, 22-23");
  EXPECT_EQ(lanes_text({}), "");
}

}  // namespace
}  // namespace tilewright::viz
