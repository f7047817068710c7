// SPDX-License-Identifier: MIT
// Every matrix instruction of every target, in one wave, against a plain matrix product.
#include "../fault_text.hpp"

#include <tilewright/core/arch/arch.hpp>
#include <tilewright/machine/emulator/launch.hpp>
#include <tilewright/machine/exec/exec.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>
#include <limits>
#include <random>

namespace tw = tilewright;
namespace arch = tw::arch;
namespace emulator = tw::emulator;
namespace exec = tw::exec;
using tw::index_t;

namespace {

struct matrix {
  index_t cols = 0;
  std::vector<float> values;
  matrix(index_t rows, index_t columns) : cols(columns), values(std::size_t(rows * columns)) {}
  float& at(arch::matrix_position p) { return values[std::size_t(p.row * cols + p.col)]; }
};

/// Multiples of the unit up to `most` of them: exact in a type, as their sums of products are.
void fill(matrix& m, unsigned seed, int most, float unit) {
  std::mt19937 random(seed);
  for (float& v : m.values) v = float(int(random() % unsigned(2 * most + 1)) - most) * unit;
}

template <arch::matrix_op Op, class T>
void expect_matrix_product(const arch::target& target) {
  constexpr arch::matrix_instruction op = arch::describe(Op);
  matrix a(op.m, op.k), b(op.n, op.k), c(op.m, op.n), d(op.m, op.n);
  constexpr bool integers = std::is_same_v<T, tw::int8_t>;
  const int most = sizeof(T) > 1 ? 64 : integers ? 127 : 4;
  const float unit = integers ? 1 : 0.0625f;
  fill(a, 1, most, unit), fill(b, 2, most, unit), fill(c, 3, most, unit);
  const emulator::launch_report report = emulator::launch({.target = &target, .block_size = target.wave_size}, [&] {
    tw::array<T, op.a.num_registers()> a_lane;
    tw::array<T, op.b.num_registers()> b_lane;
    tw::array<tw::detail::accumulator_t<T>, op.c.num_registers()> c_lane;
    const index_t lane = exec::lane_id();
    for (index_t r = 0; r < a_lane.size(); ++r) a_lane[r] = T(a.at(op.a.at(lane, r)));
    for (index_t r = 0; r < b_lane.size(); ++r) b_lane[r] = T(b.at(op.b.at(lane, r)));
    for (index_t r = 0; r < c_lane.size(); ++r) c_lane[r] = tw::detail::accumulator_t<T>(c.at(op.c.at(lane, r)));
    exec::mma<Op>(c_lane.data(), a_lane.data(), b_lane.data());
    exec::mma<Op>(c_lane.data(), a_lane.data(), b_lane.data());
    for (index_t r = 0; r < c_lane.size(); ++r) d.at(op.c.at(lane, r)) = float(c_lane[r]);
  });
  EXPECT_EQ(report.matrix_instructions, 2);
  index_t wrong = 0;
  for (index_t m = 0; m < op.m; ++m) {
    for (index_t n = 0; n < op.n; ++n) {
      float sum = 0;
      for (index_t k = 0; k < op.k; ++k) sum += a.at({m, k}) * b.at({n, k});
      if (d.at({m, n}) != c.at({m, n}) + 2 * sum) ++wrong;
    }
  }
  EXPECT_EQ(wrong, 0) << target.name << ", matrix_op " << int(Op);
}

template <arch::matrix_op Op, class... Ts>
index_t expect_matrix_products() {
  index_t targets = 0;
  for (const arch::target* target : arch::all_targets) {
    const auto expect = [&]<class T>() {
      if (!target->supports(Op, tw::arch::matrix_element_v<T>)) return;
      expect_matrix_product<Op, T>(*target);
      ++targets;
    };
    (expect.template operator()<Ts>(), ...);
  }
  return targets;
}

TEST(MatrixEmulation, EveryInstructionMultipliesAsItsLaneMapsSay) {
  using enum arch::matrix_op;
  EXPECT_GT((expect_matrix_products<mfma_16x16x16, tw::half_t, tw::bfloat16_t>()), 0);
  EXPECT_GT((expect_matrix_products<mfma_16x16x16_x2, tw::half_t>()), 0);
  EXPECT_GT((expect_matrix_products<mfma_32x32x8, tw::half_t>()), 0);
  EXPECT_GT((expect_matrix_products<mfma_32x32x8_x2, tw::half_t>()), 0);
  EXPECT_GT((expect_matrix_products<mfma_16x16x32, tw::half_t>()), 0);
  EXPECT_GT((expect_matrix_products<mfma_32x32x16, tw::half_t>()), 0);
  EXPECT_GT((expect_matrix_products<wmma_16x16x16_gfx11, tw::half_t>()), 0);
  EXPECT_GT((expect_matrix_products<wmma_16x16x16_gfx12, tw::half_t, tw::bfloat16_t>()), 0);
  EXPECT_GT((expect_matrix_products<mma_m16n8k16_x2, tw::half_t, tw::bfloat16_t>()), 0);
}

TEST(MatrixEmulation, ElementsOf8AndOf32Bits) {
  using enum arch::matrix_op;
  const auto bytes = []<arch::matrix_op Op>() {
    return expect_matrix_products<Op, tw::fp8_ocp_t, tw::bf8_ocp_t, tw::fp8_fnuz_t, tw::bf8_fnuz_t, tw::int8_t>();
  };
  EXPECT_EQ((expect_matrix_products<mfma_16x16x4_b32_x4, float>()), 4);
  EXPECT_EQ((expect_matrix_products<mfma_32x32x2_b32_x4, float>()), 4);
  EXPECT_EQ(bytes.operator()<mfma_16x16x16_b8_x4>(), 2) << "int8 on gfx908 and gfx90a";
  EXPECT_EQ(bytes.operator()<mfma_32x32x8_b8_x4>(), 2);
  EXPECT_EQ(bytes.operator()<mfma_16x16x32_b8_x2>(), 6) << "both formats and int8 on gfx942 and gfx950";
  EXPECT_EQ(bytes.operator()<mfma_32x32x16_b8_x2>(), 6);
  EXPECT_EQ(bytes.operator()<mfma_16x16x64_b8>(), 1) << "int8 on gfx950";
  EXPECT_EQ(bytes.operator()<mfma_32x32x32_b8>(), 1);
  EXPECT_EQ(bytes.operator()<mfma_16x16x128_b8>(), 2) << "fp8 and bf8 on gfx950";
  EXPECT_EQ(bytes.operator()<mfma_32x32x64_b8>(), 2);
  EXPECT_EQ(bytes.operator()<wmma_16x16x16_b8_gfx11>(), 3) << "int8 on gfx1100, gfx1150 and gfx1151";
  EXPECT_EQ(bytes.operator()<wmma_16x16x16_b8_x2_gfx12>(), 6) << "both formats and int8 on gfx1200 and gfx1201";
}

/// c(0, 0) of a product in which only a(0, 0) and b(0, 0) are not zero.
template <class T>
float product_of(T x, T y) {
  constexpr auto op = arch::matrix_op::wmma_16x16x16_gfx12;
  float result = 0;
  emulator::launch({.target = &arch::gfx1201::value, .block_size = 32}, [&] {
    tw::array<T, 8> a, b;
    for (index_t r = 0; r < 8; ++r) a[r] = b[r] = T(0.0f);
    tw::array<float, 8> c{};
    if (exec::lane_id() == 0) a[0] = x, b[0] = y;
    exec::mma<op>(c.data(), a.data(), b.data());
    if (exec::lane_id() == 0) result = c[0];
  });
  return result;
}

TEST(MatrixEmulation, ExtremeValuesAreConvertedExactly) {
  const auto half = [](unsigned short bits) { return tw::bit_cast<tw::half_t>(bits); };
  const tw::half_t one(1.0f);
  using half_bits = std::initializer_list<unsigned short>;
  for (const auto bits : half_bits{0x0001, 0x03ff, 0x0400, 0x7bff, 0x8001, 0xfbff, 0x3c01, 0x7c00, 0xfc00}) {
    EXPECT_EQ(product_of(half(bits), one), tw::detail::float_from_half_bits(bits)) << std::hex << bits;
  }
  EXPECT_TRUE(std::isnan(product_of(half(0x7e00), one)));
  EXPECT_TRUE(std::isnan(product_of(half(0x7c01), one)));
  EXPECT_EQ(product_of(half(0x7bff), half(0x7bff)), 65504.0f * 65504.0f);
  EXPECT_EQ(product_of(tw::bfloat16_t(0x1p-120f), tw::bfloat16_t(0x1p100f)), 0x1p-20f);
}

TEST(MatrixEmulation, LanesThatMustHoldCopiesAreCompared) {
  const auto run = [](bool equal) {
    emulator::launch({.target = &arch::gfx1100::value, .block_size = 32}, [&] {
      tw::array<tw::half_t, 16> a, b;
      for (index_t r = 0; r < 16; ++r) a[r] = b[r] = tw::half_t(float(exec::lane_id() % 16));
      if (!equal && exec::lane_id() == 18) b[3] = tw::half_t(100.0f);
      tw::array<float, 8> c{};
      exec::mma<arch::matrix_op::wmma_16x16x16_gfx11>(c.data(), a.data(), b.data());
    });
  };
  EXPECT_NO_THROW(run(true));
  EXPECT_TRUE(tw::testing_exec::is_refused("the lane that must hold a copy", [&] { run(false); }));
}

}  // namespace
