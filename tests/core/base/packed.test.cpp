// SPDX-License-Identifier: MIT
// Elements without gaps: positions of their bits, and that writing one leaves the others.
#include <tilewright/core/base/packed.hpp>

#include <gtest/gtest.h>

#include <random>

namespace tilewright {
namespace {

template <class T>
void expect_elements_without_gaps() {
  std::mt19937 random(4);
  packed<T> p{};
  T expected[4]{};
  for (int i = 0; i < 300; ++i) {
    const index_t at = index_t(random() % unsigned(packed<T>::size()));
    expected[at].bits = static_cast<unsigned char>(random() % (1u << T::num_bits));
    p.set(at, expected[at]);
    unsigned long long all = 0;
    for (index_t e = 0; e < packed<T>::size(); ++e) {
      ASSERT_EQ(p[e].bits, expected[e].bits);
      all |= static_cast<unsigned long long>(expected[e].bits) << e * T::num_bits;
    }
    for (std::size_t b = 0; b < sizeof(p); ++b) ASSERT_EQ(p.bytes[b], all >> 8 * b & 0xff);
  }
}

TEST(Packed, ElementsOfFourAndSixBits) {
  expect_elements_without_gaps<int4_t>();
  expect_elements_without_gaps<uint4_t>();
  expect_elements_without_gaps<fp4_e2m1_t>();
  expect_elements_without_gaps<fp6_e2m3_t>();
  expect_elements_without_gaps<fp6_e3m2_t>();
}

}  // namespace
}  // namespace tilewright
