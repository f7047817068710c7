// SPDX-License-Identifier: MIT
// The element types as a kernel uses them.
#include <tilewright/core/base/types.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <type_traits>

namespace tilewright {
namespace {

TEST(ElementTypes, AreTwoBytesThatMayBeCopiedAnyhow) {
  static_assert(sizeof(half_t) == 2 && sizeof(bfloat16_t) == 2 && alignof(half_t) == 2 && alignof(bfloat16_t) == 2);
  static_assert(std::is_trivially_copyable_v<half_t> && std::is_trivially_copyable_v<bfloat16_t>);
  static_assert(std::is_trivially_default_constructible_v<bfloat16_t>);
}

TEST(ElementTypes, Bfloat16ConvertsToItsUpperHalf) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    bfloat16_t value;
    value.bits = static_cast<std::uint16_t>(bits);
    ASSERT_EQ(bit_cast<std::uint32_t>(float(value)), bits << 16);
  }
}

TEST(ElementTypes, ConversionGoesThroughFloat) {
  static_assert(float(type_convert<half_t>(1.5f)) == 1.5f);
  static_assert(float(type_convert<bfloat16_t>(1.5f)) == 1.5f);
  static_assert(float(type_convert<bfloat16_t>(type_convert<half_t>(0x1.3p3f))) == 0x1.3p3f);
  static_assert(type_convert<float>(type_convert<half_t>(0.1f)) == 0x1.998p-4f, "rounded once");
  static_assert(type_convert<double>(type_convert<bfloat16_t>(-3.0f)) == -3.0);
  static_assert(type_convert<float>(2) == 2.0f);
}

}  // namespace
}  // namespace tilewright
