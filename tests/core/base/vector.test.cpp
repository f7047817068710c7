// SPDX-License-Identifier: MIT
// What one instruction moves is as aligned as it is wide.
#include <tilewright/core/base/types.hpp>
#include <tilewright/core/base/vector.hpp>

#include <gtest/gtest.h>

namespace tilewright {
namespace {

template <class T, index_t N>
constexpr bool is_one_access() {
  using vector = vector_t<T, N>;
  return sizeof(vector) == N * sizeof(T) && alignof(vector) == N * sizeof(T) && vector::size() == N;
}

TEST(Vector, IsAlignedToItsSize) {
  static_assert(is_one_access<half_t, 1>() && is_one_access<half_t, 8>() && is_one_access<bfloat16_t, 2>());
  static_assert(is_one_access<float, 4>() && is_one_access<char, 16>());
}

TEST(Vector, HoldsItsElements) {
  vector_t<float, 4> v{{1, 2, 3, 4}};
  v[2] = 7;
  EXPECT_EQ(v[2], 7);
  EXPECT_EQ(v[3], 4);
}

}  // namespace
}  // namespace tilewright
