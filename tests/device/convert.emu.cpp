// SPDX-License-Identifier: MIT
// convert.hip on the emulated GPUs: what the machine's instructions say is what the library's own arithmetic says.
#include <amdgcn_emulator.hpp>

#include <tilewright/core/base/types.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "code_objects.hpp"

namespace {

namespace tw = tilewright;

struct convert_args {
  const float* in;
  unsigned char* out[5];
  unsigned char* pairs[4];
  float* back[4];
  int length;
};

/// Every bfloat16 and its neighbours among floats: all exponents, all ties of the 8-bit formats, infinities and NaNs.
std::vector<float> inputs() {
  std::vector<float> values;
  for (unsigned high = 0; high < 0x10000; high += 2) {
    for (const unsigned low : {0u, 1u, 0x1ffffu}) values.push_back(tw::bit_cast<float>(high << 16 | low));
  }
  return values;
}

class Convert : public testing::TestWithParam<code_object> {};

template <tw::detail::fp8_format F>
void expect_format(const convert_args& args, int format) {
  for (int i = 0; i < args.length; ++i) {
    const unsigned char expected = tw::detail::fp8_bits_from_float<F>(args.in[i]);
    const float number = tw::detail::float_from_fp8_bits<F>(expected);
    if (std::isnan(number)) {
      ASSERT_TRUE(std::isnan(args.back[format][i])) << std::hexfloat << args.in[i];
      ASSERT_TRUE(std::isnan(tw::detail::float_from_fp8_bits<F>(args.pairs[format][i]))) << std::hexfloat << args.in[i];
    } else {
      ASSERT_EQ(unsigned(args.out[format][i]), unsigned(expected)) << std::hexfloat << args.in[i];
      ASSERT_EQ(unsigned(args.pairs[format][i]), unsigned(expected)) << std::hexfloat << args.in[i];
      ASSERT_EQ(args.back[format][i], number) << std::hexfloat << args.in[i];
    }
  }
}

TEST_P(Convert, AgreesWithSoftware) {
  const std::vector<float> in = inputs();
  const std::size_t n = in.size();
  std::vector<std::vector<unsigned char>> bytes(9, std::vector<unsigned char>(n, 0x55));
  std::vector<std::vector<float>> floats(4, std::vector<float>(n, -1));
  emu::module& kernel = load(GetParam());
  kernel.allow(in.data(), n * sizeof(float));
  convert_args args{in.data(), {}, {}, {}, int(n)};
  for (std::size_t i = 0; i < 9; ++i) {
    kernel.allow(bytes[i].data(), n);
    (i < 5 ? args.out[i] : args.pairs[i - 5]) = bytes[i].data();
  }
  for (std::size_t i = 0; i < 4; ++i) {
    kernel.allow(floats[i].data(), n * sizeof(float));
    args.back[i] = floats[i].data();
  }
  kernel.launch("convert_all", {unsigned((n + 255) / 256)}, {256}, 0, emu::kernarg().add(args));
  expect_format<tw::detail::fp8_format::e4m3>(args, 0);
  expect_format<tw::detail::fp8_format::e5m2>(args, 1);
  expect_format<tw::detail::fp8_format::e4m3_fnuz>(args, 2);
  expect_format<tw::detail::fp8_format::e5m2_fnuz>(args, 3);
  for (std::size_t i = 0; i < n; ++i)
    ASSERT_EQ(int(tw::int8_t(args.out[4][i])), int(tw::detail::int8_from_float(in[i]))) << std::hexfloat << in[i];
}

INSTANTIATE_TEST_SUITE_P(Targets, Convert, testing::ValuesIn(code_objects()),
                         [](const auto& info) { return info.param.arch; });

}  // namespace
