// SPDX-License-Identifier: MIT
// Stochastic rounding: one of the two neighbours, each as often as it should be, for every format.
#include <tilewright/core/base/stochastic.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace tilewright {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

template <class T>
unsigned bits_of(T value) {
  if constexpr (sizeof(T) == 1) return bit_cast<unsigned char>(value);
  if constexpr (sizeof(T) == 2) return bit_cast<unsigned short>(value);
}

/// All finite numbers of the type from zero upwards.
template <class T>
std::vector<double> numbers() {
  std::vector<double> result;
  for (unsigned bits = 0; bits < (sizeof(T) == 1 ? 0x80u : 0x8000u); ++bits) {
    float value;
    if constexpr (sizeof(T) == 1) value = float(bit_cast<T>(static_cast<unsigned char>(bits)));
    if constexpr (sizeof(T) == 2) value = float(bit_cast<T>(static_cast<unsigned short>(bits)));
    if (std::isfinite(value)) result.push_back(value);
  }
  return result;
}

template <class T>
class StochasticRound : public testing::Test {};
/// g++ 12 has no type_info of half_t, so the tests' parameters carry the type.
template <class T>
struct format {
  using type = T;
};
using formats = testing::Types<format<half_t>, format<bfloat16_t>, format<fp8_ocp_t>, format<bf8_ocp_t>,
                               format<fp8_fnuz_t>, format<bf8_fnuz_t>>;
TYPED_TEST_SUITE(StochasticRound, formats);

TYPED_TEST(StochasticRound, KeepsNumbersOfTheFormat) {
  using type = typename TypeParam::type;
  for (const double number : numbers<type>()) {
    for (const unsigned random : {0u, 1u, 0x80000000u, 0xffffffffu}) {
      ASSERT_EQ(float(stochastic_round<type>(float(number), random)), float(number)) << std::hexfloat << number;
      ASSERT_EQ(float(stochastic_round<type>(-float(number), random)), -float(number)) << std::hexfloat << number;
    }
  }
}

// The threshold between the neighbours is where it should be: at 2^32 (value - lower) / (upper - lower), to within 2^16
// or 2^32 less what the value itself cannot express.
TYPED_TEST(StochasticRound, ChoosesEachNeighbourAsOftenAsItShould) {
  using type = typename TypeParam::type;
  const std::vector<double> all = numbers<type>();
  std::mt19937 random(7);
  for (std::size_t i = 0; i + 1 < all.size(); i += sizeof(type) == 1 ? 1 : 1 + random() % 97) {
    const double lower = all[i], upper = all[i + 1];
    for (index_t n = 0; n < 8; ++n) {
      const float value = float(lower + (upper - lower) * std::ldexp(double(random()), -32));
      if (!(value > lower && value < upper)) continue;
      const double share = (double(value) - lower) / (upper - lower);
      const auto rounded = [&](unsigned bits) { return double(float(stochastic_round<type>(value, bits))); };
      // The number of random values that round down, by bisection: rounding is monotonous in them.
      unsigned long long down = 0, up = 1ull << 32;
      while (up - down > 1) {
        const unsigned long long middle = (down + up) / 2;
        (rounded(unsigned(middle)) == lower ? down : up) = middle;
      }
      EXPECT_EQ(rounded(0), lower);
      EXPECT_TRUE(rounded(0xffffffffu) == lower || rounded(0xffffffffu) == upper) << std::hexfloat << value;
      const double share_up = rounded(0xffffffffu) == lower ? 0.0 : 1.0 - double(up) / 0x1p32;
      ASSERT_NEAR(share_up, share, 0x1p-16) << std::hexfloat << value;
      EXPECT_EQ(rounded(unsigned(up - 1)), lower);
      EXPECT_EQ(double(float(stochastic_round<type>(-value, unsigned(up - 1)))), -lower) << "symmetric";
    }
  }
}

// Numbers below the least denormal one: how many of 2^32 random values round up is known to the last one.
TYPED_TEST(StochasticRound, RoundsTinyNumbersUpAsOftenAsTheyDeserve) {
  using type = typename TypeParam::type;
  if (std::is_same_v<type, bfloat16_t>) return;  // has the floats' exponents
  const double least = numbers<type>()[1];
  for (int exponent = 0; exponent >= -34; --exponent) {
    for (const double fraction : {1.0, 1.375, 1.9999998}) {
      const double share = std::ldexp(fraction, exponent - 1);
      const float value = float(share * least);
      const double wanted = std::floor(double(value) / least * 0x1p32);
      const unsigned down = unsigned(0x1p32 - wanted - 1);  // the largest random value that rounds down
      ASSERT_EQ(double(float(stochastic_round<type>(value, down))), 0.0) << share;
      if (wanted > 0) {
        ASSERT_EQ(double(float(stochastic_round<type>(value, down + 1))), least) << share;
      } else {
        ASSERT_EQ(down, 0xffffffffu);
      }
    }
  }
}

TYPED_TEST(StochasticRound, IsRightOnAverage) {
  using type = typename TypeParam::type;
  std::mt19937 random(11);
  for (const float value : {1.03f, -2.9f, 0.0371f, 117.3f, 0.0021f}) {
    double sum = 0, farthest = 0;
    constexpr int n = 20000;
    for (int i = 0; i < n; ++i) {
      const double x = float(stochastic_round<type>(value, unsigned(random())));
      sum += x;
      farthest = std::max(farthest, std::abs(x - value));
    }
    // Five standard deviations of a mean of n values that are at most that far apart.
    EXPECT_NEAR(sum / n, value, 5 * 2 * farthest / std::sqrt(double(n)));
  }
}

TYPED_TEST(StochasticRound, KeepsNaNAndTreatsOverflowAsRoundingToNearestDoes) {
  using type = typename TypeParam::type;
  const float nan = std::numeric_limits<float>::quiet_NaN(), largest = float(numbers<type>().back());
  for (const unsigned random : {0u, 0x7fffffffu, 0xffffffffu}) {
    EXPECT_TRUE(std::isnan(float(stochastic_round<type>(nan, random))));
    EXPECT_EQ(bits_of(stochastic_round<type>(infinity, random)), bits_of(type(infinity)));
    EXPECT_EQ(bits_of(stochastic_round<type>(-infinity, random)), bits_of(type(-infinity)));
    EXPECT_EQ(float(stochastic_round<type>(0.0f, random)), 0.0f);
    if (!std::is_same_v<type, bfloat16_t>) {
      EXPECT_EQ(float(stochastic_round<type>(1e-45f, random)), 0.0f);
    }
  }
  if (sizeof(type) == 1) {
    EXPECT_EQ(float(stochastic_round<type>(largest * 1.01f, 0xffffffffu)), largest);
    EXPECT_EQ(float(stochastic_round<type>(-3e38f, 0)), -largest);
  } else if (largest < 1e5f) {
    EXPECT_EQ(float(stochastic_round<type>(largest + 20.0f, 0xffffffffu)), infinity);
    EXPECT_EQ(float(stochastic_round<type>(largest + 20.0f, 0)), largest);
    EXPECT_EQ(float(stochastic_round<type>(-1e30f, 0)), -infinity);
  }
}

TEST(StochasticRoundAtCompileTime, Works) {
  static_assert(float(stochastic_round<bfloat16_t>(1.00390625f, 0)) == 1.0f);
  static_assert(float(stochastic_round<bfloat16_t>(1.00390625f, 0x80000000u)) == 1.0078125f);
  static_assert(float(stochastic_round<fp8_ocp_t>(1.0625f, 0x7fffffffu)) == 1.0f);
  static_assert(float(stochastic_round<fp8_ocp_t>(1.0625f, 0x80000000u)) == 1.125f);
}

// Results of kernels depend on them, so they stay what they are.
TEST(RandomBits, AreTheSameEverywhere) {
  EXPECT_EQ(random_bits(0, 0), 0u);
  EXPECT_EQ(random_bits(0, 1), 0x86d2fa73u);
  EXPECT_EQ(random_bits(1, 0), 0x64625032u);
  EXPECT_EQ(random_bits(42, 123456789), 0x21fec8ecu);
}

// Bits are set half of the time, and one bit of either argument changes half of them.
TEST(RandomBits, LookRandom) {
  constexpr int n = 4096;
  for (int bit = 0; bit < 32; ++bit) {
    int set = 0, by_seed = 0, by_counter = 0;
    for (unsigned i = 0; i < n; ++i) {
      const unsigned x = random_bits(17, i);
      set += int(x >> bit & 1);
      by_seed += __builtin_popcount(x ^ random_bits(17u ^ 1u << bit, i));
      by_counter += __builtin_popcount(x ^ random_bits(17, i ^ 1u << bit));
    }
    EXPECT_NEAR(set, n / 2, 5 * 32) << bit;
    EXPECT_NEAR(double(by_seed) / n, 16, 0.5) << bit;
    EXPECT_NEAR(double(by_counter) / n, 16, 0.5) << bit;
  }
}

}  // namespace
}  // namespace tilewright
