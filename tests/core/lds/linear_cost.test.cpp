// SPDX-License-Identifier: MIT
// Ranks over F2, and the cost that follows from them, for every instruction of every target.
#include <tilewright/core/arch/arch.hpp>
#include <tilewright/core/lds/lds_access.hpp>

#include <gtest/gtest.h>

#include <random>

namespace tilewright {
namespace {

static_assert(detail::f2_rank(array<unsigned, 3>{{1, 2, 3}}, 3) == 2);
static_assert(detail::f2_rank(array<unsigned, 3>{{1, 2, 3}}, 2) == 2);
static_assert(detail::f2_rank(array<unsigned, 4>{{0, 12, 6, 10}}, 4) == 2);
static_assert(detail::f2_rank(array<unsigned, 2>{{0, 0}}, 2) == 0);

TEST(F2Rank, IsTheSizeOfTheSpan) {
  std::mt19937 random(1);
  for (index_t i = 0; i < 1000; ++i) {
    array<unsigned, 6> vectors{};
    for (unsigned& v : vectors) v = unsigned(random()) & 31u & unsigned(random());
    bool reached[32] = {};
    index_t size = 0;
    for (unsigned subset = 0; subset < 64; ++subset) {
      unsigned sum = 0;
      for (index_t k = 0; k < 6; ++k) sum ^= (subset >> k & 1) ? vectors[k] : 0;
      size += !reached[sum];
      reached[sum] = true;
    }
    ASSERT_EQ(1 << detail::f2_rank(vectors, 6), size);
  }
}

TEST(LinearLdsCost, IsTheCostOfTheAddresses) {
  std::mt19937 random(2);
  for (const arch::target* target : arch::all_targets) {
    for (const arch::lds_instruction& row : target->lds) {
      const index_t bytes = arch::access_bytes(row.op);
      if (!detail::is_power_of_two(bytes)) continue;
      for (index_t i = 0; i < 300; ++i) {
        // Few bits, so that lanes meet in words and in banks.
        array<index_t, 6> address_of_bit{};
        const unsigned mask = unsigned(random() % 16384) & ~unsigned(bytes - 1);
        for (index_t& a : address_of_bit) a = index_t(unsigned(random()) & mask);
        const index_t origin = index_t(random() % 16384) / bytes * bytes;
        lds_addresses address{};
        for (index_t lane = 0; lane < 64; ++lane) {
          address[lane] = origin;
          for (index_t bit = 0; bit < 6; ++bit) address[lane] ^= (lane >> bit & 1) ? address_of_bit[bit] : 0;
        }
        for (const arch::lds_service& service : row.readings) {
          const bool is_write = arch::is_write(row.op);
          const lds_access_cost by_rank = detail::linear_lds_cost(service, bytes, is_write, address_of_bit);
          lds_access_cost by_lanes = lds_cost(service, bytes, is_write, address);
          by_lanes.phase = by_lanes.bank = 0;
          by_lanes.lanes = {};
          ASSERT_EQ(by_rank, by_lanes) << target->name << ", " << arch::instruction_name(*target, row.op);
        }
      }
    }
  }
}

}  // namespace
}  // namespace tilewright
