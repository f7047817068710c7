// SPDX-License-Identifier: MIT
// The search for layouts against all layouts: tiles so small that every one of them can be tried.
#include <tilewright/core/lds/detail/layout_search.hpp>

#include <gtest/gtest.h>

#include <bitset>
#include <random>
#include <set>
#include <vector>

namespace tilewright {
namespace {

/// One instruction: how it is served, and what each bit of the lane sets in the plain address.
struct access {
  arch::lds_service service;
  index_t bytes;
  array<unsigned, 6> plain_bits;
};

/// How many units one bank serves in a phase, if the byte of the plain address a lies at place_of(a).
template <class PlaceOf>
index_t degree(const access& a, PlaceOf&& place_of) {
  const bool merged = a.service.merges_where_lanes_share && (a.plain_bits[0] == 0 || a.plain_bits[1] == 0);
  const unsigned unit = unsigned(max(4, a.bytes)), bank_row = unsigned(a.service.banks * 4);
  std::bitset<256> units, banks;
  for (index_t place = 0; place < a.service.phases.lanes_per_phase * (merged ? 2 : 1); ++place) {
    unsigned plain = 0;
    for (index_t bit = 0; bit < 6; ++bit)
      plain ^= (a.service.phases.lane_at_position(place) >> bit & 1) ? a.plain_bits[bit] : 0;
    units.set(plain / unit);
    banks.set(place_of(plain) % bank_row / unit);
  }
  return index_t(units.count() / banks.count());
}

struct problem {
  lds_tile tile;
  index_t chunk_bytes;
  std::vector<access> accesses;

  index_t bits() const { return detail::log2_floor(tile.bytes()); }
  index_t widest_bank_row() const {
    index_t widest = chunk_bytes;
    for (const access& a : accesses) widest = max(widest, a.service.banks * 4);
    return widest;
  }
  template <class PlaceOf>
  index_t worst_degree(PlaceOf&& place_of) const {
    index_t worst = 1;
    for (const access& a : accesses) worst = max(worst, degree(a, place_of));
    return worst;
  }
};

/// Lanes set any bits of the tile's address, the same ones, and none.
problem random_problem(std::mt19937& random, index_t tile_bits) {
  const auto below = [&](index_t n) { return index_t(random() % unsigned(n)); };
  const index_t chunk_bits = tile_bits > 8 ? 4 : 3 + below(2),
                col_bits = chunk_bits - 2 + below(tile_bits - chunk_bits + 1);
  problem p{{1 << (tile_bits - 2 - col_bits), 1 << col_bits, 4}, 1 << chunk_bits, {}};
  for (index_t n = 1 + below(3); n > 0; --n) {
    access a{{}, 1 << (2 + below(chunk_bits - 1)), {}};
    a.service.phases = arch::contiguous_phases(64, 1 << (3 + below(4)));
    if (below(3) == 0) a.service.phases.lane_bit = {{1, 2, 20, 24, 8, 32}};
    a.service.banks = 8 << below(3);
    a.service.merges_where_lanes_share = below(4) == 0;
    for (unsigned& bits : a.plain_bits) {
      bits = below(6) == 0 ? 0 : 1u << below(tile_bits);
      if (below(3) == 0) bits ^= 1u << below(tile_bits);
      bits &= ~unsigned(a.bytes - 1);
    }
    p.accesses.push_back(a);
  }
  return p;
}

detail::lds_layout_search search_for(const problem& p) {
  detail::lds_layout_search search(p.tile, p.chunk_bytes);
  for (const access& a : p.accesses) search.require(a.service, a.bytes, a.plain_bits);
  return search;
}

/// f(numbers), each below its limit, for all of them.
template <class F>
void for_all(index_t count, index_t limit, F&& f) {
  std::vector<index_t> numbers(std::size_t(count), 0);
  for (std::size_t i = 0; i < numbers.size();) {
    f(numbers);
    for (i = 0; i < numbers.size() && ++numbers[i] == limit; ++i) numbers[i] = 0;
  }
  if (count == 0) f(numbers);
}

/// The lowest degree of any map that is linear over bits and keeps chunks whole.
index_t lowest_degree_of_maps(const problem& p) {
  const index_t chunk_bits = detail::log2_floor(p.chunk_bytes);
  index_t lowest = 1 << 20;
  for_all(p.bits() - chunk_bits, p.widest_bank_row() / p.chunk_bytes, [&](const std::vector<index_t>& columns) {
    lowest = min(lowest, p.worst_degree([&](unsigned plain) {
      unsigned place = plain & unsigned(p.chunk_bytes - 1);
      for (std::size_t i = 0; i < columns.size(); ++i)
        place ^= (plain >> (chunk_bits + index_t(i)) & 1) ? unsigned(columns[i]) << chunk_bits : 0;
      return place;
    }));
  });
  return lowest;
}

index_t degree_of(const problem& p, const swizzled_layout& layout) {
  return p.worst_degree([&](unsigned plain) {
    return unsigned(layout.address(index_t(plain) / p.tile.row_bytes(), index_t(plain) % p.tile.row_bytes()));
  });
}

/// The lowest degree of any layout that permutes chunks within rows of `bank_row` bytes.
index_t lowest_degree_of_layouts(const problem& p, index_t bank_row) {
  swizzled_layout layout = swizzled_rows(p.tile, bank_row, {}, p.chunk_bytes);
  index_t lowest = 1 << 20;
  for_all(detail::log2_floor(layout.num_bank_rows()), layout.chunks_per_bank_row(),
          [&](const std::vector<index_t>& flips) {
            layout.flips = {};
            for (const index_t flip : flips) layout.flips.push_back(flip);
            lowest = min(lowest, degree_of(p, layout));
          });
  return lowest;
}

TEST(LdsLayoutSearch, FindsALayoutForEveryMap) {
  std::mt19937 random(1);
  index_t conflicts = 0, several_groups = 0, not_lowest_bits = 0;
  for (index_t i = 0; i < 400; ++i) {
    const problem p = random_problem(random, 6 + index_t(i % 4));
    const index_t columns = p.bits() - detail::log2_floor(p.chunk_bytes),
                  places = detail::log2_floor(p.widest_bank_row() / p.chunk_bytes);
    if (columns * places > 12) continue;
    detail::lds_layout_search search = search_for(p);
    const index_t lowest = lowest_degree_of_maps(p);
    conflicts += lowest > 1;
    EXPECT_LE(1 << search.least_slack(), lowest) << "problem " << i;
    for (index_t slack = 0; slack < 4; ++slack) {
      swizzled_layout layout;
      const bool exists = search.find_any(slack, layout);
      ASSERT_TRUE(!search.too_long() && exists == (lowest <= 1 << slack)) << "problem " << i << ", slack " << slack;
      if (!exists) continue;
      ASSERT_LE(degree_of(p, layout), 1 << slack) << "problem " << i;
      std::set<index_t> places_taken;
      for (index_t chunk = 0; chunk < layout.num_chunks(); ++chunk)
        places_taken.insert(layout.position_of_chunk(chunk));
      ASSERT_EQ(index_t(places_taken.size()), layout.num_chunks()) << "problem " << i;
      several_groups += layout.places.size() > 1;
      not_lowest_bits += !layout.places.empty() && (layout.places[0] & (layout.places[0] + 1)) != 0;
    }
  }
  EXPECT_GT(conflicts, 20);
  EXPECT_GT(several_groups, 20);
  EXPECT_GT(not_lowest_bits, 5);
}

TEST(LdsLayoutSearch, LeavesOutDemandsThatFollowFromOthers) {
  const auto demand = [](std::initializer_list<unsigned> vectors, unsigned bank_mask) {
    detail::lds_demand d;
    for (const unsigned v : vectors) d.insert(v);
    d.bank_mask = bank_mask;
    return d;
  };
  const detail::lds_demand whole = demand({64, 192, 512}, 0x70);
  EXPECT_TRUE(demand({128, 576}, 0x70).follows_from(whole)) << "a subspace";
  EXPECT_TRUE(demand({128, 576}, 0xf0).follows_from(whole)) << "on more banks";
  EXPECT_FALSE(demand({128, 576}, 0x30).follows_from(whole)) << "on fewer banks";
  EXPECT_FALSE(demand({128, 256}, 0x70).follows_from(whole)) << "another space";
  EXPECT_FALSE(whole.follows_from(demand({128, 576}, 0x70)));
}

TEST(LdsLayoutSearch, FindsALayoutWhereThereIsOne) {
  std::mt19937 random(5);
  index_t found = 0, missed = 0;
  for (index_t i = 0; i < 600; ++i) {
    const problem p = random_problem(random, 7 + index_t(i % 4));
    detail::lds_layout_search search = search_for(p);
    ASSERT_LE(search.widest_bank_row(), p.widest_bank_row());
    const index_t widest = min(search.widest_bank_row(), p.tile.bytes());
    for (index_t bank_row = max(min(widest, p.tile.row_bytes()), p.chunk_bytes); bank_row <= widest; bank_row *= 2) {
      if (detail::log2_floor(p.tile.bytes() / bank_row) * detail::log2_floor(bank_row / p.chunk_bytes) > 9) continue;
      const index_t lowest = lowest_degree_of_layouts(p, bank_row);
      for (index_t slack = 0; slack < 3; ++slack) {
        swizzled_layout layout;
        const bool finds = search.find(bank_row, slack, layout);
        if (search.too_long()) continue;
        ASSERT_EQ(finds, lowest <= 1 << slack) << "problem " << i << ", rows of " << bank_row << ", slack " << slack;
        ASSERT_TRUE(!finds || degree_of(p, layout) <= 1 << slack) << "problem " << i;
        ++(finds ? found : missed);
      }
    }
  }
  EXPECT_GT(found, 500);
  EXPECT_GT(missed, 100);
}

}  // namespace
}  // namespace tilewright
