// SPDX-License-Identifier: MIT
// Layouts for random uses: the analysis confirms every one of them, and where it says that none is better,
// no sampled one is.
#include "random_access.hpp"

#include <tilewright/lds/layout_solver.hpp>
#include <tilewright/lds/lds_legality.hpp>

#include <gtest/gtest.h>

namespace tilewright::random_access {
namespace {

struct problem {
  lds_tile tile;
  std::vector<lds_use> uses;
  std::vector<const arch::target*> targets;
};

/// Up to four uses by random distributions, on up to three targets of one wave size.
problem random_problem(random_engine& random) {
  const index_t wave = below(random, 2) == 0 ? 32 : 64, bytes = 1 << below(random, 3);
  problem p{{16 << below(random, 3), (32 << below(random, 3)) / bytes, bytes}, {}, {}};
  for (index_t i = 1 + below(random, 4); i > 0; --i)
    p.uses.push_back({random_distribution(random, p.tile, wave),
                      below(random, 2) == 0 ? lds_access_kind::read : lds_access_kind::write});
  std::vector<const arch::target*> same_wave;
  for (const arch::target* t : arch::all_targets) {
    if (t->wave_size == wave) same_wave.push_back(t);
  }
  std::shuffle(same_wave.begin(), same_wave.end(), random);
  p.targets.assign(same_wave.begin(), same_wave.begin() + 1 + below(random, 3));
  return p;
}

lds_layout_choice solve(const problem& p) {
  return choose_lds_layout(p.targets.data(), index_t(p.targets.size()), p.tile, p.uses.data(), index_t(p.uses.size()));
}

index_t worst_degree(const problem& p, const tensor_graph& layout) {
  index_t worst = 0;
  for (const arch::target* t : p.targets) {
    for (const lds_use& use : p.uses) {
      for (const lds_reading reading : {lds_reading::first, lds_reading::second}) {
        const lds_access_walk walk(layout, use.distribution, p.tile.element_bytes);
        const auto* row = t->find(lds_op_of(use.kind, walk.bytes_per_lane(), walk.element_bytes()));
        if (reading == lds_reading::second && row->readings.size() == 1) continue;
        worst =
            max(worst,
                analyze_lds_access(*t, layout, use.distribution, p.tile.element_bytes, use.kind, reading).worst_degree);
      }
    }
  }
  return worst;
}

TEST(ChooseLdsLayout, SaysTheDegreeThatTheAnalysisFinds) {
  random_engine random(3);
  index_t free_of_conflicts = 0, proven = 0;
  for (index_t i = 0; i < 2000; ++i) {
    const problem p = random_problem(random);
    const lds_layout_choice choice = solve(p);
    const tensor_graph layout = make_lds_graph(choice.layout);
    ASSERT_EQ(worst_degree(p, layout), choice.worst_degree) << "problem " << i;
    free_of_conflicts += choice.worst_degree == 1;
    proven += choice.is_proven_best;
    index_t registers = 0;
    for (const lds_use& use : p.uses)
      registers += address_needs(layout, use.distribution, p.tile.element_bytes).registers;
    ASSERT_EQ(registers, choice.address_registers) << "problem " << i;
  }
  EXPECT_GT(free_of_conflicts, 1400) << "most can be served";
  EXPECT_LT(free_of_conflicts, 1700) << "some cannot";
  EXPECT_GT(proven, 1980) << "the search hardly ever gives up";
}

TEST(ChooseLdsLayout, NoSampledLayoutIsBetter) {
  random_engine random(5);
  index_t impossible = 0;
  for (index_t i = 0; i < 400; ++i) {
    const problem p = random_problem(random);
    const lds_layout_choice choice = solve(p);
    if (choice.worst_degree == 1 || !choice.is_proven_best) continue;
    ++impossible;
    for (index_t sample = 0; sample < 100; ++sample) {
      swizzled_layout other = random_swizzle(random, p.tile);
      if (other.chunk_bytes < choice.layout.chunk_bytes) continue;  // it would break vectors
      ASSERT_GE(worst_degree(p, make_lds_graph(other)), choice.worst_degree) << "problem " << i;
    }
  }
  EXPECT_GT(impossible, 50);
}

}  // namespace
}  // namespace tilewright::random_access
