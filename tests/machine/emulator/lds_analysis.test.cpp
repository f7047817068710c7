// SPDX-License-Identifier: MIT
// Random tile accesses, carried out by threads on the CPU: what it counts is what the analysis predicts.
#include "../../core/lds/random_access.hpp"

#include <tilewright/machine/emulator/launch.hpp>
#include <tilewright/machine/exec/exec.hpp>

#include <gtest/gtest.h>

namespace tilewright::random_access {
namespace {

template <class V>
void touch(exec::lds_pointer lds, index_t address, lds_access_kind kind) {
  if (kind == lds_access_kind::read) {
    exec::lds_load<V>(lds, address);
  } else {
    exec::lds_store(lds, address, V{});
  }
}

void touch(exec::lds_pointer lds, index_t address, index_t bytes, lds_access_kind kind) {
  switch (bytes) {
    case 1: return touch<signed char>(lds, address, kind);
    case 2: return touch<short>(lds, address, kind);
    case 4: return touch<int>(lds, address, kind);
    case 8: return touch<double>(lds, address, kind);
    default: return touch<array<int, 4>>(lds, address, kind);
  }
}

TEST(LdsAnalysis, PredictsWhatTheCpuCounts) {
  constexpr index_t lds_bytes = 32768;
  for (const arch::target* target : arch::all_targets) {
    random_engine random(17);
    index_t conflicts = 0;
    for (index_t i = 0; i < 12; ++i) {
      const index_t element_bytes = 1 << below(random, 3);
      const lds_tile tile{8 << below(random, 3), 32 << below(random, 2), element_bytes};
      const layout where = random_layout(random, tile);
      const distribution_encoding e = random_distribution(random, tile, target->wave_size);
      // Lanes that write the same bytes are a race, which the CPU would report.
      const bool replicated = !e.r.empty() && e.r[0] > 1;
      const lds_access_kind kind = replicated || below(random, 2) == 0 ? lds_access_kind::read : lds_access_kind::write;
      const lds_access_analysis predicted = analyze_lds_access(*target, where.graph, e, element_bytes, kind);
      const lds_access_pattern pattern(where.graph, e, element_bytes);
      const index_t vector = pattern.vector().length, dim = pattern.vector().dim_y;

      const emulator::launch_report report =
          emulator::launch({.target = target,
                            .block_size = pattern.num_waves() * target->wave_size,
                            .lds_bytes = lds_bytes,
                            .workers = 1,
                            .check_lds = emulator::lds_checks::off},  // reads what no thread has written
                           [&] {
                             const exec::lds_pointer lds = exec::lds_allocate<lds_bytes>();
                             naive::each_index(naive::y_lengths(e), [&](const naive::indices& y) {
                               if (y[std::size_t(dim)] % vector != 0) return;
                               const naive::indices x = naive::position(e, {exec::wave_id(), exec::lane_id()}, y);
                               touch(lds, where.byte_of(x[0], x[1]), vector * element_bytes, kind);
                             });
                           });
      const emulator::lds_counts counted = report.of(predicted.op);
      ASSERT_EQ(counted.executions, predicted.executions) << target->name << ", case " << i << ", " << where.name;
      ASSERT_EQ(counted.phases, predicted.phases) << target->name << ", case " << i << ", " << where.name;
      ASSERT_EQ(counted.cycles, predicted.cycles) << target->name << ", case " << i << ", " << where.name;
      ASSERT_EQ(counted.conflicts, predicted.conflicts) << target->name << ", case " << i << ", " << where.name;
      ASSERT_EQ(counted.worst_degree, predicted.worst_degree) << target->name << ", case " << i << ", " << where.name;
      conflicts += predicted.conflicts;
    }
    EXPECT_GT(conflicts, 10) << target->name;
  }
}

}  // namespace
}  // namespace tilewright::random_access
