// SPDX-License-Identifier: MIT
// A linear map from addresses to banks as a layout: it conflicts where the map does, or less.
#include <tilewright/core/lds/detail/layout_demands.hpp>

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

namespace tilewright::detail {
namespace {

constexpr lds_tile tile{8, 64, 2};  // 64 chunks of 16 bytes
constexpr index_t chunk_bits = 4, bits = 6;

index_t bank_in_map(const array<unsigned, 32>& column, index_t chunk) {
  unsigned bank = 0;
  for (index_t bit = 0; bit < bits; ++bit) bank ^= (chunk >> bit & 1) != 0 ? column[bit + chunk_bits] : 0;
  return index_t(bank >> chunk_bits);
}

void expect_no_new_conflicts(const bank_widths& widths, const array<unsigned, 32>& column) {
  const swizzled_layout layout = layout_of_bank_map(tile, chunk_bits, widths, column);
  std::set<index_t> addresses;
  std::vector<index_t> banks;
  for (index_t chunk = 0; chunk < 1 << bits; ++chunk) {
    const index_t address = layout.address(chunk / 8, chunk % 8 << chunk_bits);
    addresses.insert(address);
    banks.push_back(address >> chunk_bits);
  }
  EXPECT_EQ(addresses.size(), std::size_t{1} << bits) << "chunks share a place";
  EXPECT_LT(*addresses.rbegin(), tile.bytes());
  for (const index_t width : widths) {
    const index_t mask = (1 << width) - 1;
    for (index_t a = 0; a < 1 << bits; ++a) {
      for (index_t b = 0; b < a; ++b) {
        const bool conflicts = ((banks[std::size_t(a)] ^ banks[std::size_t(b)]) & mask) == 0;
        const bool did = ((bank_in_map(column, a) ^ bank_in_map(column, b)) & mask) == 0;
        ASSERT_TRUE(!conflicts || did) << "chunks " << a << " and " << b << " of " << (1 << width) << " banks";
      }
    }
  }
}

TEST(BankMap, LayoutsConflictNoMoreThanTheMap) {
  std::mt19937 random(5);
  for (int i = 0; i < 200; ++i) {
    array<unsigned, 32> column{};
    for (index_t bit = 0; bit < bits; ++bit) column[bit + chunk_bits] = unsigned(random() % 64) << chunk_bits;
    bank_widths widths;
    for (index_t width = 1 + index_t(random() % 3); width <= bits && widths.size() < 3;
         width += 1 + index_t(random() % 3))
      widths.push_back(width);
    expect_no_new_conflicts(widths, column);
  }
}

TEST(BankMap, BankBitsThatDependOnOthersTakeFreeBits) {
  bank_widths widths;
  widths.push_back(bits);
  array<unsigned, 32> column{};  // every bank bit follows bit 1 of the chunk's number
  column[1 + chunk_bits] = 63u << chunk_bits;
  expect_no_new_conflicts(widths, column);
}

}  // namespace
}  // namespace tilewright::detail
