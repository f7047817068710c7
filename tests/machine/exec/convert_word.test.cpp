// SPDX-License-Identifier: MIT
#include <tilewright/machine/exec/convert_word.hpp>

#include <gtest/gtest.h>

namespace tilewright::exec {
namespace {

/// Each code in each of the word's bytes, next to others.
template <class To, class From>
void expect_exact() {
  for (unsigned code = 0; code < 256; ++code) {
    for (int place = 0; place < 4; ++place) {
      unsigned char bytes[4] = {0x31, 0xc2, 0x53, 0x94};
      bytes[place] = static_cast<unsigned char>(code);
      const auto words = bit_cast<array<To, 4>>(convert_word<To, From>(bit_cast<unsigned>(bytes)));
      for (int i = 0; i < 4; ++i) {
        const float wanted = float(bit_cast<From>(bytes[i])), got = float(words[i]);
        ASSERT_TRUE(got == wanted || (got != got && wanted != wanted)) << "code " << int(bytes[i]) << ": " << got;
      }
    }
  }
}

TEST(ConvertWord, IsExactForEachCode) {
  expect_exact<half_t, int8_t>();
  expect_exact<bfloat16_t, int8_t>();
  expect_exact<half_t, fp8_ocp_t>();
  expect_exact<bfloat16_t, fp8_ocp_t>();
  expect_exact<bfloat16_t, fp8_fnuz_t>();
  expect_exact<half_t, bf8_ocp_t>();
}

}  // namespace
}  // namespace tilewright::exec
