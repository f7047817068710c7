// SPDX-License-Identifier: MIT
// LDS conflicts counted on the CPU: patterns computed by hand, and random ones against lds_cost, on every target.
#include <tilewright/core/arch/arch.hpp>
#include <tilewright/machine/emulator/launch.hpp>
#include <tilewright/machine/exec/exec.hpp>

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

namespace tw = tilewright;
namespace arch = tw::arch;
namespace emulator = tw::emulator;
namespace exec = tw::exec;
using arch::lds_op;
using tw::index_t;

namespace {

using bytes_4 = int;
using bytes_16 = tw::array<int, 4>;

/// Counts for one wave in which lane l reads a V at address(l).
template <class V, class Address>
emulator::lds_counts count_reads(const arch::target& target, Address address) {
  const emulator::launch_report report = emulator::launch({.target = &target,
                                                           .block_size = target.wave_size,
                                                           .lds_bytes = 16384,
                                                           .workers = 1,
                                                           .check_lds = emulator::lds_checks::off},
                                                          [&] {
                                                            const exec::lds_pointer lds = exec::lds_allocate<16384>();
                                                            exec::lds_load<V>(lds, address(exec::lane_id()));
                                                          });
  return report.of(arch::lds_read_op(sizeof(V)));
}

struct expected_conflicts {
  index_t phases;  // of a ds_read_b128
  index_t column;  // conflicts of lane l reading the first 16 bytes of row l; rows are 128 bytes
  index_t xored;   // as before, but the 16-byte chunk is l % 8
  index_t column_b32;
};

TEST(LdsRecorder, ConflictsOfATileWithRowsOf128Bytes) {
  // gfx950 has 64 banks for ds_read_b128, so two rows before banks repeat, and 16 lanes in a phase; for ds_read_b32 the
  // worse of its two readings is 2 phases of 32 lanes on 32 banks.
  const std::map<std::string, expected_conflicts> expected{
      {"gfx908", {8, 8 * 7, 0, 62}},  {"gfx1150", {4, 4 * 7, 0, 31}}, {"gfx1151", {4, 4 * 7, 0, 31}},
      {"gfx1200", {4, 4 * 7, 0, 31}}, {"gfx1250", {4, 4 * 7, 0, 31}}, {"gfx90a", {8, 8 * 7, 0, 62}},
      {"gfx942", {8, 8 * 7, 0, 62}},  {"gfx950", {4, 4 * 7, 4, 62}},  {"gfx1100", {4, 4 * 7, 0, 31}},
      {"gfx1201", {4, 4 * 7, 0, 31}}, {"sm_80", {4, 4 * 7, 0, 31}},   {"sm_90", {4, 4 * 7, 0, 31}}};
  for (const arch::target* target : arch::all_targets) {
    SCOPED_TRACE(target->name);
    const expected_conflicts& e = expected.at(target->name);
    const emulator::lds_counts row = count_reads<bytes_16>(*target, [](index_t lane) { return lane * 16; });
    EXPECT_EQ(row.executions, 1);
    EXPECT_EQ(row.phases, e.phases);
    EXPECT_EQ(row.cycles, e.phases);
    EXPECT_EQ(row.conflicts, 0);
    EXPECT_EQ(row.worst_degree, 1);
    const emulator::lds_counts column = count_reads<bytes_16>(*target, [](index_t lane) { return lane * 128; });
    EXPECT_EQ(column.conflicts, e.column);
    EXPECT_EQ(column.worst_degree, 8);
    EXPECT_EQ(count_reads<bytes_16>(*target, [](index_t lane) { return lane * 128 + lane % 8 * 16; }).conflicts,
              e.xored);
    EXPECT_EQ(count_reads<bytes_4>(*target, [](index_t lane) { return lane * 128; }).conflicts, e.column_b32);
    EXPECT_EQ(count_reads<bytes_4>(*target, [](index_t) { return 64; }).conflicts, 0) << "reads of one dword merge";
  }
}

template <class V>
void expect_counts_as_predicted(const arch::target& target, unsigned seed) {
  constexpr index_t accesses = 20, lds_bytes = 16384;
  constexpr lds_op read = arch::lds_read_op(sizeof(V)), write = arch::lds_write_op(sizeof(V));
  std::mt19937 random(seed);
  std::vector<tw::lds_addresses> reads(accesses), writes(accesses);
  for (auto* list : {&reads, &writes}) {
    for (tw::lds_addresses& pattern : *list) {
      const unsigned span = 1u << random() % 10, pitch = 1u << random() % 3;
      for (index_t& a : pattern) a = index_t(random() % span * pitch * sizeof(V) % lds_bytes);
      for (index_t& a : pattern) a = random() % 8 == 0 ? -1 : a;
    }
  }
  emulator::lds_counts predicted_read, predicted_write;
  const auto predict = [&](lds_op op, const tw::lds_addresses& pattern) -> emulator::lds_counts {
    const tw::lds_access_cost cost = tw::lds_cost(target, op, pattern);
    return {2, cost.phases * 2, cost.cycles * 2, cost.conflicts * 2, cost.worst_degree};
  };
  for (index_t i = 0; i < accesses; ++i) {
    predicted_read.add(predict(read, reads[std::size_t(i)]));
    predicted_write.add(predict(write, writes[std::size_t(i)]));
  }
  // Lanes are masked off as a GPU does it, so that those of one instruction meet at the barrier that follows it.
  const emulator::launch_report report = emulator::launch(
      {.target = &target,
       .block_size = 2 * target.wave_size,
       .lds_bytes = lds_bytes,
       .check_lds = emulator::lds_checks::off},
      [&] {
        const exec::lds_pointer lds = exec::lds_allocate<lds_bytes>();
        for (index_t i = 0; i < accesses; ++i) {
          const index_t from = reads[std::size_t(i)][exec::lane_id()], to = writes[std::size_t(i)][exec::lane_id()];
          if (from >= 0) exec::lds_load<V>(lds, from);
          if (to >= 0) exec::lds_store(lds, to, V{});
          exec::block_sync();
        }
      });
  EXPECT_EQ(report.of(read), predicted_read) << target.name << " read of " << sizeof(V);
  EXPECT_EQ(report.of(write), predicted_write) << target.name << " write of " << sizeof(V);
  EXPECT_EQ(report.totals.conflicts, predicted_read.conflicts + predicted_write.conflicts);
}

TEST(LdsRecorder, RandomAccessesAreCountedAsPredicted) {
  for (const arch::target* target : arch::all_targets) {
    expect_counts_as_predicted<signed char>(*target, 1);
    expect_counts_as_predicted<short>(*target, 2);
    expect_counts_as_predicted<int>(*target, 3);
    expect_counts_as_predicted<double>(*target, 4);
    expect_counts_as_predicted<bytes_16>(*target, 5);
  }
}

TEST(LdsRecorder, DivergentLanesMakeSeparateInstructions) {
  const emulator::launch_report report = emulator::launch(
      {.target = &arch::gfx942::value, .block_size = 64, .lds_bytes = 1024, .check_lds = emulator::lds_checks::off},
      [] {
        const exec::lds_pointer lds = exec::lds_allocate<1024>();
        const index_t t = exec::thread_id();
        if (t < 32) {
          exec::lds_store(lds, t * 4, t);
        } else {
          exec::lds_load<double>(lds, t * 8);
        }
        exec::lds_load<int>(lds, t * 4);
      });
  EXPECT_EQ(report.of(lds_op::write_b32).executions, 1);
  EXPECT_EQ(report.of(lds_op::read_b64).executions, 1);
  EXPECT_EQ(report.of(lds_op::read_b32).executions, 1);
  EXPECT_EQ(report.totals.executions, 3);
}

TEST(LdsRecorder, AccessesWithoutEndBetweenBarriersAreAllCounted) {
  const emulator::launch_report report = emulator::launch(
      {.target = &arch::sm90::value, .block_size = 64, .lds_bytes = 1024, .check_lds = emulator::lds_checks::off}, [] {
        const exec::lds_pointer lds = exec::lds_allocate<1024>();
        for (index_t i = 0; i < 5000 + exec::thread_id(); ++i)
          exec::lds_load<int>(lds, (exec::lane_id() + i) % 256 * 4);
      });
  EXPECT_EQ(report.of(lds_op::read_b32).executions, 5000 + 31 + 5000 + 63);
}

}  // namespace
