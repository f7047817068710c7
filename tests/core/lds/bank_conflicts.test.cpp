// SPDX-License-Identifier: MIT
// Cost of LDS accesses: cases worked out by hand, and an independent model on random addresses.
#include <tilewright/core/arch/arch.hpp>
#include <tilewright/core/lds/bank_conflicts.hpp>

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <string_view>
#include <vector>

namespace tilewright {
namespace {

using arch::lds_op;

constexpr index_t inactive = -1;

template <class F>
constexpr lds_addresses addresses(F address_of_lane) {
  lds_addresses result{};
  for (index_t lane = 0; lane < 64; ++lane) result[lane] = address_of_lane(lane);
  return result;
}

// -------- an independent model

struct naive_cost {
  index_t phases = 0, cycles = 0, worst_degree = 0;
  std::size_t same_dword_writes = 0;
};

/// Straight from the definition: for each phase, the sets of dwords that each bank has to serve.
naive_cost cost_by_definition(const std::vector<std::vector<index_t>>& groups, index_t banks, index_t bytes,
                              const lds_addresses& address) {
  naive_cost cost;
  for (const std::vector<index_t>& group : groups) {
    std::map<index_t, std::set<index_t>> dwords_of_bank;
    std::size_t accessed = 0;
    for (const index_t lane : group) {
      if (address[lane] < 0) continue;
      for (index_t dword = address[lane] / 4; dword <= (address[lane] + bytes - 1) / 4; ++dword, ++accessed)
        dwords_of_bank[dword % banks].insert(dword);
    }
    std::size_t degree = 0, distinct = 0;
    for (const auto& [bank, dwords] : dwords_of_bank) {
      degree = std::max(degree, dwords.size());
      distinct += dwords.size();
    }
    if (degree > 0) ++cost.phases;
    cost.cycles += index_t(degree);
    cost.worst_degree = std::max(cost.worst_degree, index_t(degree));
    cost.same_dword_writes += accessed - distinct;
  }
  return cost;
}

/// The groups of lanes, by name of target and instruction rather than from the table's permutation.
std::vector<std::vector<index_t>> groups_of(const arch::target& t, lds_op op, index_t reading,
                                            const lds_addresses& address) {
  const bool read = !arch::is_write(op);
  const index_t bytes = arch::access_bytes(op);
  const bool gfx950 = &t == &arch::gfx950::value;
  const bool in_order = std::string_view(t.name).starts_with("gfx12");
  const bool quads = read && bytes >= 12 && op != lds_op::ldmatrix && !in_order && arch::is_amd(t);
  std::vector<std::vector<index_t>> first_half;
  if (gfx950 && op == lds_op::read_b128) {
    first_half = {{0, 1, 2, 3, 12, 13, 14, 15, 20, 21, 22, 23, 24, 25, 26, 27},
                  {4, 5, 6, 7, 8, 9, 10, 11, 16, 17, 18, 19, 28, 29, 30, 31}};
  } else if (quads) {
    first_half = {{0, 1, 2, 3, 20, 21, 22, 23},
                  {4, 5, 6, 7, 16, 17, 18, 19},
                  {8, 9, 10, 11, 28, 29, 30, 31},
                  {12, 13, 14, 15, 24, 25, 26, 27}};
  } else {
    index_t per_phase = bytes <= 4 ? 32 : bytes == 8 ? 16 : 8;
    if (gfx950 && read && bytes == 8) per_phase = 32;
    if (gfx950 && read && bytes <= 4 && reading == 0) {
      std::vector<index_t> all(64);
      for (index_t lane = 0; lane < 64; ++lane) all[std::size_t(lane)] = lane;
      return {all};
    }
    for (index_t lane = 0; lane < 32; ++lane) {
      if (lane % per_phase == 0) first_half.emplace_back();
      first_half.back().push_back(lane);
    }
  }
  std::vector<std::vector<index_t>> groups = first_half;
  // NVIDIA's wide reads: half as many groups where lanes share with the next or with the second next.
  if (!arch::is_amd(t) && (op == lds_op::read_b64 || op == lds_op::read_b128)) {
    std::set<index_t> apart;
    for (index_t lane = 0; lane < 32; ++lane) {
      for (const index_t distance : {1, 2}) {
        const index_t a = address[lane], b = address[lane ^ distance];
        if (a >= 0 && b >= 0 && a != b) apart.insert(distance);
      }
    }
    if (apart.size() < 2) {
      std::vector<std::vector<index_t>> pairs;
      for (std::size_t i = 0; i < groups.size(); i += 2) {
        pairs.push_back(groups[i]);
        pairs.back().insert(pairs.back().end(), groups[i + 1].begin(), groups[i + 1].end());
      }
      groups = pairs;
    }
  }
  if (t.wave_size == 64) {
    for (std::vector<index_t> group : first_half) {
      for (index_t& lane : group) lane += 32;
      groups.push_back(group);
    }
  }
  return groups;
}

index_t banks_of(const arch::target& t, lds_op op, index_t reading) {
  if (&t == &arch::gfx950::value) {
    if (op == lds_op::read_b64 || op == lds_op::read_b128 || op == lds_op::read_b64_tr_b16 ||
        op == lds_op::read_b64_tr_b8)
      return 64;
    return !arch::is_write(op) && arch::access_bytes(op) <= 4 && reading == 0 ? 64 : 32;
  }
  return reading == 0 ? 32 : 64;
}

/// Address patterns of all sorts: rows and columns, strides, few distinct addresses, XOR, noise,
/// idle lanes, misaligned.
lds_addresses random_pattern(std::mt19937& random, index_t bytes) {
  const auto below = [&](index_t n) { return index_t(random() % unsigned(n)); };
  const index_t align = below(8) == 0 ? 1 : bytes == 12 ? 4 : bytes;
  const index_t kind = below(6), stride = below(40) * 4, base = below(64) * bytes, rows = 1 << below(7);
  const index_t pitch = 64 << below(4), active_percent = below(4) == 0 ? 60 : 100, few = 1 + below(12);
  const unsigned salt = unsigned(random());
  const index_t shared_bits = below(4) == 0 ? 1 << below(5) : 0;  // lanes that differ in it have one address
  lds_addresses pattern = addresses([&](index_t lane) {
    if (below(100) >= active_percent) return inactive;
    index_t a = base;
    if (kind == 0) a += lane * stride;
    if (kind == 1) a += lane % rows * pitch + lane / rows * bytes;
    if (kind == 2) a += lane % rows * pitch + ((lane / rows ^ lane % rows) * 16) % pitch;
    if (kind == 3) a += below(few) * 128;
    if (kind == 4) a = below(32768);
    if (kind == 5) a += index_t((unsigned(lane) * salt) >> 20);
    return a / align * align;
  });
  for (index_t lane = 0; lane < 64; ++lane) pattern[lane] = pattern[lane & ~shared_bits];
  return pattern;
}

// Two lanes share each address; the 16 addresses are neighbours: 128 or 256 bytes.
constexpr lds_addresses shared_with(index_t distance, index_t bytes) {
  return addresses(
      [&](index_t lane) { return lane >= 32 ? -1 : (lane / (2 * distance) * distance + lane % distance) * bytes; });
}
constexpr index_t cycles_where_lanes_share(lds_op op, index_t distance) {
  return lds_cost(arch::sm90::value, op, shared_with(distance, arch::access_bytes(op))).cycles;
}
static_assert(cycles_where_lanes_share(lds_op::read_b64, 1) == 1 && cycles_where_lanes_share(lds_op::read_b64, 2) == 1);
static_assert(cycles_where_lanes_share(lds_op::read_b64, 4) == 2 &&
              cycles_where_lanes_share(lds_op::read_b64, 16) == 2);
static_assert(cycles_where_lanes_share(lds_op::read_b128, 1) == 2 &&
              cycles_where_lanes_share(lds_op::read_b128, 2) == 2);
static_assert(cycles_where_lanes_share(lds_op::read_b128, 8) == 4);
static_assert(cycles_where_lanes_share(lds_op::write_b64, 1) == 2 &&
              cycles_where_lanes_share(lds_op::ldmatrix, 1) == 4);
static_assert(lds_cost(arch::sm90::value, lds_op::read_b128, shared_with(1, 16)).clocks == 2);

TEST(LdsCost, ClocksAreZeroWhereTheyAreUnknownOrNothingIsAccessed) {
  const lds_addresses nothing = addresses([](index_t) { return inactive; }),
                      column = addresses([](index_t lane) { return lane * 128; });
  arch::lds_service service = arch::sm90::value.find(lds_op::read_b128)->readings[0];
  service.clocks = 2;
  EXPECT_GT(lds_cost(service, 16, false, column).clocks, 2);
  EXPECT_EQ(lds_cost(service, 16, false, nothing).clocks, 0);
  service.clocks = 0;
  EXPECT_EQ(lds_cost(service, 16, false, column).clocks, 0);
}

TEST(LdsCost, AgreesWithTheDefinitionOnRandomPatterns) {
  std::mt19937 random(1);
  for (const arch::target* t : arch::all_targets) {
    for (const arch::lds_instruction& row : t->lds) {
      for (index_t repetition = 0; repetition < 300; ++repetition) {
        const lds_addresses pattern = random_pattern(random, arch::access_bytes(row.op));
        std::vector<lds_access_cost> by_reading;
        for (index_t reading = 0; reading < row.readings.size(); ++reading) {
          const lds_access_cost cost =
              lds_cost(*t, row.op, pattern, reading == 0 ? lds_reading::first : lds_reading::second);
          const naive_cost expected =
              cost_by_definition(groups_of(*t, row.op, reading, pattern), banks_of(*t, row.op, reading),
                                 arch::access_bytes(row.op), pattern);
          const auto where = [&] { return std::string(t->name) + " " + arch::instruction_name(*t, row.op); };
          ASSERT_EQ(cost.phases, expected.phases) << where();
          ASSERT_EQ(cost.cycles, expected.cycles) << where();
          ASSERT_EQ(cost.conflicts, expected.cycles - expected.phases) << where();
          ASSERT_EQ(cost.worst_degree, expected.worst_degree) << where();
          ASSERT_EQ(cost.same_dword_writes, arch::is_write(row.op) ? index_t(expected.same_dword_writes) : 0)
              << where();
          by_reading.push_back(cost);
        }
        index_t most_conflicts = 0;
        for (const lds_access_cost& cost : by_reading) most_conflicts = std::max(most_conflicts, cost.conflicts);
        ASSERT_EQ(lds_cost(*t, row.op, pattern).conflicts, most_conflicts);
      }
    }
  }
}

TEST(LdsCost, NamesLanesThatReallyMeet) {
  std::mt19937 random(2);
  for (const arch::target* t : arch::all_targets) {
    for (const arch::lds_instruction& row : t->lds) {
      const arch::lds_service& service = row.readings[0];
      const index_t bytes = arch::access_bytes(row.op);
      const auto dword_in_bank = [&](index_t address, index_t bank) {
        for (index_t byte = 0; byte < bytes; ++byte) {
          if ((address + byte) / 4 % service.banks == bank) return (address + byte) / 4;
        }
        return -1;
      };
      for (index_t repetition = 0; repetition < 50; ++repetition) {
        const lds_addresses pattern = random_pattern(random, bytes);
        const lds_access_cost cost = lds_cost(*t, row.op, pattern, lds_reading::first);
        if (cost.worst_degree == 0) continue;
        const index_t one = dword_in_bank(pattern[cost.lanes[0]], cost.bank);
        const index_t other = dword_in_bank(pattern[cost.lanes[1]], cost.bank);
        EXPECT_GE(one, 0);
        EXPECT_GE(other, 0);
        EXPECT_EQ(one != other, cost.worst_degree > 1);
        const arch::lds_phases phases = (detail::lanes_share(service, pattern) ? service.merged() : service).phases;
        EXPECT_TRUE(phases.lanes_of(cost.phase) >> cost.lanes[0] & 1);
        EXPECT_TRUE(phases.lanes_of(cost.phase) >> cost.lanes[1] & 1);
      }
    }
  }
}

// -------- a tile of 64 x 64 halves

enum class layout { plain, exclusive_or, padded };

/// Byte address of the 16-byte chunk `chunk` of row `row` in a tile of 64 rows with 128 bytes each.
constexpr index_t tile_address(layout how, index_t row, index_t chunk) {
  if (how == layout::exclusive_or) return row * 128 + (chunk ^ row % 8) * 16;
  if (how == layout::padded) return row * (128 + 16) + chunk * 16;
  return row * 128 + chunk * 16;
}

/// Conflicts when a wave moves the tile, 16 bytes per lane; along rows: 8 lanes per row; down columns: a row per lane.
index_t tile_conflicts(const arch::target& t, lds_op op, layout how, bool by_columns) {
  index_t conflicts = 0;
  const index_t rows_at_once = by_columns ? 64 : t.wave_size / 8;
  for (index_t first = 0; first < 512; first += t.wave_size) {
    conflicts += lds_cost(t, op, addresses([&](index_t lane) {
                            const index_t access = first + lane;
                            if (by_columns) return tile_address(how, access % rows_at_once, access / rows_at_once);
                            return tile_address(how, access / 8, access % 8);
                          }))
                     .conflicts;
  }
  return conflicts;
}

TEST(LdsCost, TileOfHalvesOnNvidiaAsMeasured) {
  const arch::target& t = arch::sm90::value;
  EXPECT_EQ(tile_conflicts(t, lds_op::read_b128, layout::plain, true), 448);
  EXPECT_EQ(tile_conflicts(t, lds_op::read_b128, layout::exclusive_or, true), 0);
  EXPECT_EQ(tile_conflicts(t, lds_op::read_b128, layout::padded, true), 0);
  for (const layout how : {layout::plain, layout::exclusive_or, layout::padded}) {
    EXPECT_EQ(tile_conflicts(t, lds_op::write_b128, how, false), 0);
  }
}

TEST(LdsCost, TileOfHalvesOnAmd) {
  for (const arch::target* t :
       {&arch::gfx90a::value, &arch::gfx942::value, &arch::gfx1100::value, &arch::gfx1201::value}) {
    // 64 phases, each with 8 lanes in the same 16 bytes of a bank row: 7 conflicts each.
    EXPECT_EQ(tile_conflicts(*t, lds_op::read_b128, layout::plain, true), 448) << t->name;
    EXPECT_EQ(tile_conflicts(*t, lds_op::read_b128, layout::exclusive_or, true), 0) << t->name;
    EXPECT_EQ(tile_conflicts(*t, lds_op::write_b128, layout::plain, false), 0) << t->name;
    EXPECT_EQ(tile_conflicts(*t, lds_op::write_b128, layout::exclusive_or, false), 0) << t->name;
  }
  // gfx950: 32 phases of 16 lanes on 64 banks, that is 256 bytes: plain rows use 2 of 16 places, so 8-way.
  EXPECT_EQ(tile_conflicts(arch::gfx950::value, lds_op::read_b128, layout::plain, true), 32 * 7);
}

TEST(LdsCost, PaddingDoesNotServeBothMfmaShapes) {
  const auto mfma_read = [](index_t rows, index_t pad) {
    return lds_cost(arch::gfx942::value, lds_op::read_b128,
                    addresses([&](index_t lane) { return lane % rows * (128 + pad) + lane / rows * 16; }))
        .conflicts;
  };
  for (index_t pad = 0; pad <= 128; pad += 16) EXPECT_GT(mfma_read(16, pad) + mfma_read(32, pad), 0) << pad;
}

// -------- cases by hand

TEST(LdsCost, ConflictFreeAccessCostsItsPhases) {
  const auto packed = [](index_t bytes) { return addresses([=](index_t lane) { return lane * bytes; }); };
  EXPECT_EQ(lds_cost(arch::gfx942::value, lds_op::read_b32, packed(4)).cycles, 2);
  EXPECT_EQ(lds_cost(arch::gfx942::value, lds_op::read_b64, packed(8)).cycles, 4);
  EXPECT_EQ(lds_cost(arch::gfx942::value, lds_op::write_b128, packed(16)).cycles, 8);
  EXPECT_EQ(lds_cost(arch::gfx950::value, lds_op::read_b64, packed(8)).cycles, 2);
  EXPECT_EQ(lds_cost(arch::gfx950::value, lds_op::read_b128, packed(16)).cycles, 4);
  EXPECT_EQ(lds_cost(arch::sm90::value, lds_op::read_b128, packed(16)).cycles, 4);
  EXPECT_EQ(lds_cost(arch::sm90::value, lds_op::ldmatrix, packed(16)).cycles, 4);
}

TEST(LdsCost, BankCountBelongsToTheInstruction) {
  // Two lanes of a phase 128 bytes apart: they meet on 32 banks and do not on 64.
  const lds_addresses pair = addresses([](index_t lane) { return lane < 2 ? lane * 128 : inactive; });
  EXPECT_EQ(lds_cost(arch::gfx950::value, lds_op::read_b64, pair).conflicts, 0);
  EXPECT_EQ(lds_cost(arch::gfx950::value, lds_op::read_b128, pair).conflicts, 0);
  EXPECT_EQ(lds_cost(arch::gfx950::value, lds_op::read_b96, pair).conflicts, 1);
  EXPECT_EQ(lds_cost(arch::gfx950::value, lds_op::write_b64, pair).conflicts, 1);
  EXPECT_EQ(lds_cost(arch::gfx942::value, lds_op::read_b64, pair).conflicts, 1);
}

TEST(LdsCost, PhasesDecideWhoMeets) {
  // Lanes 0 and 20 share a phase of gfx942's ds_read_b128, lanes 0 and 4 do not; gfx1201 serves in order.
  const auto two = [](index_t other) {
    return addresses([=](index_t lane) { return lane == 0 ? 0 : lane == other ? 1024 : inactive; });
  };
  EXPECT_EQ(lds_cost(arch::gfx942::value, lds_op::read_b128, two(20)).conflicts, 1);
  EXPECT_EQ(lds_cost(arch::gfx942::value, lds_op::read_b128, two(4)).conflicts, 0);
  EXPECT_EQ(lds_cost(arch::gfx942::value, lds_op::read_b128, two(4)).phases, 2);
  EXPECT_EQ(lds_cost(arch::gfx942::value, lds_op::write_b128, two(4)).conflicts, 1);
  EXPECT_EQ(lds_cost(arch::gfx1201::value, lds_op::read_b128, two(4)).conflicts, 1);
  EXPECT_EQ(lds_cost(arch::gfx1100::value, lds_op::read_b128, two(20)).conflicts, 1);
}

TEST(LdsCost, ReadsOfOneDwordMerge) {
  const lds_addresses broadcast = addresses([](index_t) { return 64; });
  for (const arch::target* t : arch::all_targets) {
    for (const arch::lds_instruction& row : t->lds) {
      const lds_access_cost cost = lds_cost(*t, row.op, broadcast);
      EXPECT_EQ(cost.conflicts, 0) << t->name;
      EXPECT_EQ(cost.worst_degree, 1) << t->name;
      EXPECT_EQ(cost.same_dword_writes > 0, arch::is_write(row.op)) << t->name;
    }
  }
}

TEST(LdsCost, WritesToOneDwordAreReported) {
  const lds_addresses broadcast = addresses([](index_t) { return 64; });
  // 64 lanes in 8 phases: 7 of 8 lanes of each phase repeat 4 dwords.
  EXPECT_EQ(lds_cost(arch::gfx942::value, lds_op::write_b128, broadcast).same_dword_writes, 8 * 7 * 4);
  EXPECT_EQ(lds_cost(arch::gfx942::value, lds_op::write_b32, broadcast).same_dword_writes, 2 * 31);
  const lds_addresses halves = addresses([](index_t lane) { return lane * 2; });
  EXPECT_EQ(lds_cost(arch::sm90::value, lds_op::write_b16, halves).same_dword_writes, 16);
}

TEST(LdsCost, DisputedRowsTakeTheWorseReading) {
  const auto cost = [](const lds_addresses& a, lds_reading r) {
    return lds_cost(arch::gfx950::value, lds_op::read_b32, a, r);
  };
  // Lanes 0 and 32 in one bank: only the reading with one phase sees a conflict.
  const lds_addresses halves_meet = addresses([](index_t lane) { return lane % 32 * 4 + lane / 32 * 1024; });
  EXPECT_EQ(cost(halves_meet, lds_reading::first).conflicts, 1);
  EXPECT_EQ(cost(halves_meet, lds_reading::second).conflicts, 0);
  EXPECT_EQ(cost(halves_meet, lds_reading::worst).conflicts, 1);
  // Stride of two dwords: 32 lanes on 32 banks meet in pairs in each half; 64 lanes on 64 banks meet in pairs once.
  const lds_addresses stride_2 = addresses([](index_t lane) { return lane * 8; });
  EXPECT_EQ(cost(stride_2, lds_reading::first).conflicts, 1);
  EXPECT_EQ(cost(stride_2, lds_reading::second).conflicts, 2);
  EXPECT_EQ(cost(stride_2, lds_reading::worst).conflicts, 2);
  EXPECT_EQ(cost(stride_2, lds_reading::worst).known_by, arch::grade::disputed);
  // Three lanes meet in bank 0 of 64; of 32 banks two lanes meet in each half, which takes a cycle more. The worst
  // degree is that of either reading.
  const lds_addresses three = addresses([](index_t lane) {
    return lane == 1 ? 256 : lane == 32 ? 512 : lane == 33 ? 1024 + 8 : lane * 4;
  });
  EXPECT_EQ(cost(three, lds_reading::first).worst_degree, 3);
  EXPECT_EQ(cost(three, lds_reading::second).worst_degree, 2);
  EXPECT_EQ(cost(three, lds_reading::worst).worst_degree, 3);
  EXPECT_EQ(cost(three, lds_reading::worst).cycles, 4);
  // RDNA: 64 banks never cost more than the measured 32, so the measurement is what the cost rests on.
  EXPECT_EQ(lds_cost(arch::gfx1100::value, lds_op::read_b32, stride_2).known_by, arch::grade::third_party);
}

TEST(LdsCost, NamesTheGuilty) {
  // Lane 9 of the second phase of ds_write_b128 collides with lane 8; bank 8 is at byte 32.
  const lds_addresses a = addresses([](index_t lane) { return lane == 9 ? 1024 + 32 : lane == 8 ? 32 : inactive; });
  const lds_access_cost cost = lds_cost(arch::gfx942::value, lds_op::write_b128, a);
  EXPECT_EQ(cost.worst_degree, 2);
  EXPECT_EQ(cost.phase, 1);
  EXPECT_EQ(cost.bank, 8);
  EXPECT_EQ(cost.lanes, (array<index_t, 2>{{8, 9}}));
}

TEST(LdsCost, IdleLanesAndPhasesCostNothing) {
  const lds_access_cost none =
      lds_cost(arch::gfx942::value, lds_op::read_b128, addresses([](index_t) { return inactive; }));
  EXPECT_EQ(none.phases, 0);
  EXPECT_EQ(none.cycles, 0);
  EXPECT_EQ(none.worst_degree, 0);
  // ldmatrix.x1: lanes 0-7 address the only matrix. Its 8 rows are 128 bytes apart: 8-way.
  const lds_access_cost x1 = lds_cost(arch::sm80::value, lds_op::ldmatrix,
                                      addresses([](index_t lane) { return lane < 8 ? lane * 128 : inactive; }));
  EXPECT_EQ(x1.phases, 1);
  EXPECT_EQ(x1.worst_degree, 8);
}

TEST(LdsCost, LanesPastTheWaveAreIgnored) {
  const lds_addresses a = addresses([](index_t lane) { return lane < 32 ? lane * 4 : 0; });
  EXPECT_EQ(lds_cost(arch::gfx1100::value, lds_op::read_b32, a).cycles, 1);
}

TEST(LdsCost, MisalignedAccessesTouchMoreDwords) {
  // 8 bytes from byte 2: three dwords. The next lane's three dwords start one bank row later and meet all of them.
  const lds_addresses a = addresses([](index_t lane) { return lane < 2 ? 2 + lane * 128 : inactive; });
  EXPECT_EQ(lds_cost(arch::gfx942::value, lds_op::read_b64, a).worst_degree, 2);
  const lds_addresses neighbours = addresses([](index_t lane) { return lane < 2 ? 2 + lane * (128 + 8) : inactive; });
  EXPECT_EQ(lds_cost(arch::gfx942::value, lds_op::read_b64, neighbours).worst_degree, 2);
  const lds_addresses apart = addresses([](index_t lane) { return lane < 2 ? 2 + lane * (128 + 12) : inactive; });
  EXPECT_EQ(lds_cost(arch::gfx942::value, lds_op::read_b64, apart).worst_degree, 1);
}

TEST(LdsCost, ConflictFreeOnEveryTargetAtOnce) {
  // Rows of 128 bytes, chunk index ^= XOR of (1, 4, 2, 0, 1)[i] over the set bits i of the row.
  const auto chunk_of = [](index_t row, index_t chunk) {
    constexpr index_t spread[] = {1, 4, 2, 0, 1};
    for (index_t bit = 0; bit < 5; ++bit) chunk ^= (row >> bit & 1) ? spread[bit] : 0;
    return chunk;
  };
  for (const arch::target* t : arch::all_targets) {
    for (const index_t rows : {16, 32}) {
      if (rows > t->wave_size) continue;
      const lds_addresses read = addresses([&](index_t lane) {
        const index_t row = lane % rows;
        return row * 128 + chunk_of(row, lane / rows) * 16;
      });
      EXPECT_EQ(lds_cost(*t, lds_op::read_b128, read).conflicts, 0) << t->name << ", " << rows << " rows";
    }
    const lds_addresses write =
        addresses([&](index_t lane) { return lane / 8 * 128 + chunk_of(lane / 8, lane % 8) * 16; });
    EXPECT_EQ(lds_cost(*t, lds_op::write_b128, write).conflicts, 0) << t->name;
  }
}

// The same function at compile time.
static_assert(lds_cost(arch::gfx942::value, lds_op::read_b128, addresses([](index_t lane) { return lane * 128; }))
                  .conflicts == 56);
static_assert(lds_cost(arch::gfx950::value, lds_op::read_b128, addresses([](index_t lane) { return lane * 128; })) ==
              lds_cost(arch::gfx950::value, lds_op::read_b128,
                       addresses([](index_t lane) { return 8192 + lane * 128; })));

}  // namespace
}  // namespace tilewright
