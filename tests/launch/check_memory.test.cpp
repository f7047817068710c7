// SPDX-License-Identifier: MIT
#include <tilewright/launch/check_memory.hpp>

#include <gtest/gtest.h>

namespace tilewright::detail {
namespace {

alignas(64) char memory[128];
static_assert(is_aligned(memory + 1));  // an address is not known at compile time

TEST(CheckMemory, AddressesAreMultiples) {
  EXPECT_TRUE(is_aligned(memory) && is_aligned(memory + 16) && is_aligned(memory + 4, 4) && is_aligned(nullptr));
  EXPECT_FALSE(is_aligned(memory + 8) || is_aligned(memory + 2, 4) || is_aligned(memory + 32, 64));
}

TEST(CheckMemory, BytesOverlapWhereOneOfThemIsInBoth) {
  EXPECT_TRUE(overlap(memory, 8, memory + 7, 8) && overlap(memory + 7, 8, memory, 8) && overlap(memory, 9, memory, 1));
  EXPECT_FALSE(overlap(memory, 8, memory + 8, 8) || overlap(memory + 8, 8, memory, 8));
}

constexpr bool shared(long_index_t l0, long_index_t l1, long_index_t s0, long_index_t s1, index_t contiguous = 1) {
  const long_index_t lengths[]{l0, l1}, strides[]{s0, s1};
  return has_shared_elements(2, lengths, strides, contiguous);
}
static_assert(!shared(4, 8, 8, 1) && shared(4, 8, 7, 1));  // rows of 8
static_assert(!shared(8, 4, 1, 8) && shared(8, 4, 1, 7));  // in any order
static_assert(!shared(4, 2, 16, 8, 8) && shared(4, 2, 16, 8, 9) && shared(4, 2, 15, 8, 8));
static_assert(shared(2, 3, 0, 1) && !shared(1, 3, 0, 1));  // a length of 1 has no stride
static_assert(shared(2, 2, 1, 1));

}  // namespace
}  // namespace tilewright::detail
