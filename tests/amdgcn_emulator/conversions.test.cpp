// SPDX-License-Identifier: MIT
// Stochastic rounding, conversions with a scale, scalar functions, transposing loads, counters that are full.
#include <cmath>

#include "emulated_kernels.hpp"

namespace {
emu::module& conversions(const char* target) {
  emu::module& code = loaded({"conversions", target});
  code.forbid_all();
  return code;
}
std::vector<float> random_floats(int size, float largest) {
  std::vector<float> values(size);
  for (float& v : values) v = float(int(random_numbers()() % 2001) - 1000) / 1000 * largest;
  return values;
}
/// Magnitude of a normal number of 8 bits.
double small_float(unsigned bits, int mantissa_bits, int bias) {
  const int mantissa = 1 << mantissa_bits, magnitude = int(bits & 0x7f);
  return std::ldexp(mantissa + magnitude % mantissa, magnitude / mantissa - bias - mantissa_bits);
}
}  // namespace

TEST(Conversions, StochasticRoundingGoesUpWithTheRandomNumber) {
  emu::module& code = conversions("gfx950");
  const std::vector<std::uint32_t> lowest(64, 0), highest(64, ~0u);
  std::vector<float> in = random_floats(128, 100);
  in[5] = 1.0f, in[6] = -INFINITY, in[7] = 3;
  for (bool up : {false, true}) {
    std::vector<std::uint32_t> random = up ? highest : lowest;
    std::vector<std::uint16_t> f16(128), bf16(128);
    std::vector<std::uint32_t> small(64);
    allow(code, in), allow(code, random), allow(code, f16), allow(code, bf16), allow(code, small);
    code.launch("stochastic", {1}, {64}, 0,
                emu::kernarg().add(in.data()).add(random.data()).add(f16.data()).add(bf16.data()).add(small.data()));
    for (int i = 0; i < 64; ++i) {
      const double size = std::fabs(in[2 * i]);
      if (std::isinf(in[2 * i]) || size < 0x1p-6) continue;  // not normal in fp8
      const double fp8 = small_float(small[i] & 0xff, 3, 7), bf8 = small_float(small[i] >> 8 & 0xff, 2, 15);
      EXPECT_EQ(small[i] >> 7 & 1, unsigned(std::signbit(in[2 * i])));
      const bool is_exact = size == 1 || size == 3;
      EXPECT_TRUE(is_exact ? fp8 == size : up ? fp8 >= size : fp8 <= size) << in[2 * i];
      EXPECT_TRUE(is_exact ? bf8 == size : up ? bf8 >= size : bf8 <= size) << in[2 * i];
      EXPECT_LE(std::fabs(fp8 - size), size * 0x1p-3) << in[2 * i];
      EXPECT_LE(std::fabs(bf8 - size), size * 0x1p-2) << in[2 * i];
    }
    for (int i = 0; i < 128; ++i) {
      const float h = emu::f16_to_f32(f16[i]), b = emu::bf16_to_f32(bf16[i]);
      // The neighbour towards zero, or the one away from it; exact values stay.
      const double size = std::fabs(in[i]);
      EXPECT_EQ(std::signbit(h), std::signbit(in[i]));
      if (std::isinf(in[i]) || size == 1 || size == 3 || size == 0) {
        EXPECT_EQ(h, in[i]);
        EXPECT_EQ(b, in[i]);
      } else if (up) {
        EXPECT_GE(std::fabs(h), size) << in[i];
        EXPECT_GE(std::fabs(b), size) << in[i];
        EXPECT_LE(std::fabs(h), size * (1 + 0x1p-10)) << in[i];
        EXPECT_LE(std::fabs(b), size * (1 + 0x1p-7)) << in[i];
      } else {
        EXPECT_LE(std::fabs(h), size) << in[i];
        EXPECT_LE(std::fabs(b), size) << in[i];
        EXPECT_GE(std::fabs(h), size * (1 - 0x1p-10)) << in[i];
        EXPECT_GE(std::fabs(b), size * (1 - 0x1p-7)) << in[i];
      }
    }
  }
}

TEST(Conversions, ScalesToSmallFloatsAndBack) {
  emu::module& code = conversions("gfx950");
  for (const float scale : {1.0f, 0.25f, 8.0f}) {
    std::vector<float> in = random_floats(256, 5 * scale), from_fp4(256), from_fp8(256);
    std::vector<std::uint32_t> fp4(64), fp8(64);
    allow(code, in), allow(code, fp4), allow(code, fp8), allow(code, from_fp4), allow(code, from_fp8);
    code.launch("scaled", {1}, {64}, 0,
                emu::kernarg()
                    .add(in.data())
                    .add(scale)
                    .add(fp4.data())
                    .add(fp8.data())
                    .add(from_fp4.data())
                    .add(from_fp8.data()));
    for (int i = 0; i < 256; ++i) {
      const std::uint32_t four = emu::f32_to_small(in[i] / scale, emu::fp4_e2m1, true);
      const std::uint32_t eight = emu::f32_to_small(in[i] / scale, emu::fp8_ocp, true);
      EXPECT_EQ(fp4[i / 4] >> (8 + 4 * (i % 4)) & 15, four);
      EXPECT_EQ(fp8[i / 4] >> 8 * (i % 4) & 255, eight);
      EXPECT_EQ(from_fp4[i], emu::small_to_f32(four, emu::fp4_e2m1) * scale);
      EXPECT_EQ(from_fp8[i], emu::small_to_f32(eight, emu::fp8_ocp) * scale);
    }
  }
}

TEST(Conversions, FunctionsOfScalars) {
  emu::module& code = conversions("gfx1201");
  std::vector<float> out(7);
  allow(code, out);
  emu::options options;
  options.count = true;
  const auto result = code.launch("scalar_functions", {1}, {32}, 0, emu::kernarg().add(out.data()).add(4.0f), options);
  EXPECT_EQ(out, (std::vector<float>{0.25f, 16, 2, 2, 0.5f, 0.25f, 2}));
  EXPECT_GE(std::count_if(result.counts.begin(), result.counts.end(),
                          [](const emu::count_row& row) { return row.text.find("v_s_") != row.text.npos; }),
            6);
}

TEST(Conversions, TransposingLoads) {
  emu::module& code = conversions("gfx1201");
  std::vector<std::uint16_t> in(256), out(256);
  for (int i = 0; i < 256; ++i) in[i] = std::uint16_t(i * 7);
  allow(code, in), allow(code, out);
  code.launch("transposing_load", {1}, {32}, 0, emu::kernarg().add(in.data()).add(out.data()));
  // Element j of lane l is element l % 8 of what lane 8 (l / 8) + j addresses: measured on an RX 9070 by others.
  for (int l = 0; l < 32; ++l)
    for (int j = 0; j < 8; ++j) EXPECT_EQ(out[8 * l + j], in[8 * (8 * (l / 8) + j) + l % 8]);
}

TEST(Waits, ACounterThatIsFullLetsTheOldestLoadReturn) {
  for (const char* target : {"gfx90a", "gfx942"}) {
    emu::module& code = conversions(target);
    std::vector<int> in = random_ints(65), out(64);
    allow(code, in), allow(code, out);
    EXPECT_EQ(fault_of([&] { code.launch("many_loads", {1}, {64}, 0, emu::kernarg().add(in.data()).add(out.data())); }),
              "");
    EXPECT_EQ(out[3], int(unsigned(in[4]) + 1 + unsigned(in[3])));
  }
}
