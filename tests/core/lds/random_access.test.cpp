// SPDX-License-Identifier: MIT
// The analysis on thousands of random layouts and distributions for each target: by rank, by enumeration,
// and by simulation.
#include "random_access.hpp"

#include <tilewright/core/descriptor/make_descriptor.hpp>

#include <gtest/gtest.h>

namespace tilewright::random_access {
namespace {

struct access_case {
  lds_tile tile;
  layout where;
  distribution_encoding distribution;
  lds_access_kind kind;
};

access_case random_case(random_engine& random, const arch::target& target) {
  const index_t bytes = 1 << below(random, 3);
  access_case c{{8 << below(random, 4), 16 << below(random, 3), bytes}, {}, {}, {}};
  if (c.tile.rows * c.tile.cols < target.wave_size) c.tile.rows *= 2;
  c.where = random_layout(random, c.tile);
  c.distribution = random_distribution(random, c.tile, target.wave_size);
  c.kind = below(random, 2) == 0 ? lds_access_kind::read : lds_access_kind::write;
  return c;
}

TEST(RandomAccesses, RanksAndEnumerationAgree) {
  for (const arch::target* target : arch::all_targets) {
    random_engine random(7);
    index_t linear = 0, with_conflicts = 0;
    for (index_t i = 0; i < 2000; ++i) {
      const access_case c = random_case(random, *target);
      ASSERT_TRUE(check_encoding(c.distribution).is_sound());
      for (const lds_reading reading : {lds_reading::first, lds_reading::worst}) {
        const lds_access_analysis fast =
            analyze_lds_access(*target, c.where.graph, c.distribution, c.tile.element_bytes, c.kind, reading);
        const lds_access_pattern pattern(c.where.graph, c.distribution, c.tile.element_bytes);
        lds_access_cost sum;
        for (index_t wave = 0; wave < pattern.num_waves(); ++wave) {
          for (index_t access = 0; access < pattern.num_access(); ++access)
            sum.add(lds_cost(*target, fast.op, pattern.addresses(wave, access), reading), 1);
        }
        ASSERT_EQ(static_cast<const lds_access_cost&>(fast), sum)
            << target->name << ", case " << i << ", " << c.where.name;
        with_conflicts += !fast.is_conflict_free();
      }
      linear += lds_access_pattern(c.where.graph, c.distribution, c.tile.element_bytes).rule() ==
                lds_access_pattern::addresses_are::xor_of_terms;
    }
    EXPECT_GT(linear, 1000) << "most cases are for the rank";
    EXPECT_GT(with_conflicts, 500);
  }
}

TEST(RandomAccesses, CostWhatTheBanksSay) {
  for (const arch::target* target : arch::all_targets) {
    random_engine random(11);
    for (index_t i = 0; i < 100; ++i) {
      const access_case c = random_case(random, *target);
      const auto result =
          analyze_lds_access(*target, c.where.graph, c.distribution, c.tile.element_bytes, c.kind, lds_reading::first);
      const lds_access_pattern pattern(c.where.graph, c.distribution, c.tile.element_bytes);
      const simulated_cost expected = simulate(target->find(result.op)->readings[0], c.where, c.distribution,
                                               c.tile.element_bytes, pattern.vector().length, pattern.vector().dim_y);
      ASSERT_EQ(result.executions, expected.executions) << target->name << ", case " << i << ", " << c.where.name;
      ASSERT_EQ(result.cycles, expected.cycles) << target->name << ", case " << i << ", " << c.where.name;
      ASSERT_EQ(result.conflicts, expected.conflicts);
      ASSERT_EQ(result.worst_degree, expected.worst_degree);
    }
  }
}

TEST(RandomAccesses, StayInTheirRange) {
  random_engine random(19);
  for (index_t i = 0; i < 500; ++i) {
    const arch::target& target = *arch::all_targets[below(random, arch::all_targets.size())];
    const access_case c = random_case(random, target);
    const lds_access_pattern pattern(c.where.graph, c.distribution, c.tile.element_bytes);
    index_t lowest = 1 << 30, highest = -1;
    for (index_t wave = 0; wave < pattern.num_waves(); ++wave) {
      for (index_t access = 0; access < pattern.num_access(); ++access) {
        for (index_t lane = 0; lane < pattern.num_lanes(); ++lane) {
          const auto x = pattern.position_of(wave, lane, access);
          const index_t here = c.where.byte_of(x[0], x[1]);
          lowest = min(lowest, here);
          highest = max(highest, here);
        }
      }
    }
    ASSERT_EQ(pattern.address_range(), (array<index_t, 2>{{lowest, highest}})) << "case " << i << ", " << c.where.name;
  }
}

// Whoever is blamed really meets: two lanes of the phase, different dwords of the bank.
TEST(RandomAccesses, BlameIsJust) {
  for (const arch::target* target : arch::all_targets) {
    random_engine random(13);
    index_t blamed = 0;
    for (index_t i = 0; i < 500; ++i) {
      const access_case c = random_case(random, *target);
      const auto result =
          analyze_lds_access(*target, c.where.graph, c.distribution, c.tile.element_bytes, c.kind, lds_reading::first);
      if (result.is_conflict_free()) continue;
      ++blamed;
      const arch::lds_service& service = target->find(result.op)->readings[0];
      std::set<index_t> dwords[2];
      for (index_t l = 0; l < 2; ++l) {
        const auto serves = [&](const arch::lds_service& s) {
          return result.phase < s.phases.num_phases() && (s.phases.lanes_of(result.phase) >> result.lanes[l] & 1) != 0;
        };
        ASSERT_TRUE(serves(service) || (service.merges_where_lanes_share && serves(service.merged())));
        const index_t begin = c.where.byte_of(result.coordinates[l][0], result.coordinates[l][1]);
        for (index_t byte = begin; byte < begin + arch::access_bytes(result.op); ++byte) {
          if (byte / 4 % service.banks == result.bank) dwords[l].insert(byte / 4);
        }
        ASSERT_FALSE(dwords[l].empty()) << target->name << ", case " << i;
      }
      ASSERT_NE(dwords[0], dwords[1]) << target->name << ", case " << i;
    }
    EXPECT_GT(blamed, 50);
  }
}

// A layout whose pitch is known only when the program runs.
TEST(RandomAccesses, RunTimePitch) {
  for (const index_t pad : {0, 1, 2, 8, 12}) {
    const index_t pitch = 64 + pad;
    const auto descriptor = make_naive_tensor_descriptor(make_tuple(32, number<64>{}), make_tuple(pitch, number<1>{}));
    using columns = tile_distribution<
        tile_distribution_encoding<sequence<>, tuple<sequence<32>, sequence<32, 2>>, tuple<sequence<>, sequence<1>>,
                                   tuple<sequence<>, sequence<0>>, sequence<2, 2>, sequence<0, 1>>::value>;
    const auto ours = analyze_lds_access(arch::sm90::value, descriptor, columns{}, 4, lds_access_kind::read);
    const layout where{graph_of(descriptor), [=](index_t row, index_t col) { return 4 * (row * pitch + col); }, ""};
    const index_t vector = arch::access_bytes(ours.op) / 4;
    EXPECT_EQ(vector, pad % 2 == 0 ? 2 : 1);
    const auto expected =
        simulate(arch::sm90::value.find(ours.op)->readings[0], where, columns::encoding, 4, vector, 1);
    EXPECT_EQ(ours.conflicts, expected.conflicts) << pad;
  }
}

}  // namespace
}  // namespace tilewright::random_access
