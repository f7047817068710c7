// SPDX-License-Identifier: MIT
// Layouts for random uses and for operands of GEMM kernels: the analysis confirms every one of them, and an exhaustive
// search finds none that is better. ./dev night takes all of them; here are a few.
#include "../../property/setting.hpp"
#include "layout_problems.hpp"

#include <tilewright/core/lds/lds_legality.hpp>

#include <gtest/gtest.h>

namespace tilewright::random_access {
namespace {

index_t worst_degree(const layout_problem& p, const tensor_graph& layout) {
  index_t worst = 0;
  for (const arch::target* t : p.targets) {
    for (const lds_use& use : p.uses) {
      for (const lds_reading reading : {lds_reading::first, lds_reading::second}) {
        const lds_access_pattern pattern(layout, use.distribution, p.tile.element_bytes);
        const auto* row = t->find(detail::lds_op_of(use.kind, pattern.bytes_per_lane(), pattern.element_bytes()));
        if (reading == lds_reading::second && row->readings.size() == 1) continue;
        worst =
            max(worst,
                analyze_lds_access(*t, layout, use.distribution, p.tile.element_bytes, use.kind, reading).worst_degree);
      }
    }
  }
  return worst;
}

/// What was found for many problems.
struct tally {
  index_t problems = 0, free_of_conflicts = 0, better = 0, unproven = 0, unknown = 0;

  /// Solves p, and compares with the analysis and with the exhaustive search.
  void add(const layout_problem& p) {
    const index_t number = problems++;
    const lds_layout_choice choice = p.solve();
    const tensor_graph layout = detail::make_lds_graph(choice.layout);
    ASSERT_EQ(worst_degree(p, layout), choice.worst_degree) << "problem " << number;
    index_t registers = 0;
    for (const lds_use& use : p.uses)
      registers += address_needs(layout, use.distribution, p.tile.element_bytes).registers;
    ASSERT_EQ(registers, choice.address_registers) << "problem " << number;
    unproven += !choice.is_proven_best;
    exhaustive_search search(p);
    using enum exhaustive_search::answer;
    ASSERT_EQ(search.has_degree(choice.worst_degree, most_nodes), yes) << "problem " << number;
    if (choice.worst_degree == 1) {
      ++free_of_conflicts;
      return;
    }
    const auto answer = search.has_degree(choice.worst_degree / 2, most_nodes);
    better += answer == yes;
    unknown += answer == given_up;
  }

  static constexpr long most_nodes = 20'000'000;
};

TEST(LayoutSweep, NoLayoutForRandomUsesCanBeBetter) {
  random_engine random(unsigned(property::setting("TILEWRIGHT_PROPERTY_SEED", 3)));
  tally t;
  for (index_t i = 0; i < property::scaled(300) && !HasFatalFailure(); ++i) t.add(random_problem(random));
  EXPECT_LE(t.better, t.unproven);
  EXPECT_LE(t.unproven, t.problems / 5000) << "the search hardly ever gives up";
  EXPECT_EQ(t.unknown, 0);
  EXPECT_GT(t.free_of_conflicts, t.problems * 7 / 10 - 5) << "most can be served";
  EXPECT_LT(t.free_of_conflicts, t.problems * 17 / 20 + 5) << "some cannot";
  RecordProperty("better", int(t.better));
  RecordProperty("unproven", int(t.unproven));
}

TEST(LayoutSweep, NoLayoutForAGemmOperandCanBeBetter) {
  tally t;
  const index_t every = max(1, index_t(607 / max(1L, property::scaled(1))));
  index_t number = 0;
  for_each_gemm_problem([&](const layout_problem& p) {
    if (number++ % every == 0 && !HasFatalFailure()) t.add(p);
  });
  EXPECT_GT(number, 70000);
  EXPECT_EQ(t.better, 0);
  EXPECT_EQ(t.unproven, 0);
  EXPECT_EQ(t.unknown, 0);
  EXPECT_GT(t.free_of_conflicts, t.problems * 9 / 10);
  EXPECT_LT(t.free_of_conflicts, t.problems);
}

// 16-bit operands with rows of 32 bytes on two targets: a column's bit must often lie above those of rows.
TEST(LayoutSweep, ShortRows) {
  tally t;
  index_t above_rows = 0;
  for_each_gemm_problem([&](const layout_problem& p) {
    if (p.tile.element_bytes != 2 || p.tile.row_bytes() != 32 || p.targets.size() != 2 || HasFatalFailure()) return;
    t.add(p);
    const auto places = p.solve().layout.places;
    above_rows += places.size() > 0 && (places[0] & (places[0] + 1)) != 0;
  });
  EXPECT_GT(t.problems, 105);
  EXPECT_EQ(t.better + t.unproven + t.unknown, 0);
  EXPECT_GT(above_rows, 0);
}

}  // namespace
}  // namespace tilewright::random_access
