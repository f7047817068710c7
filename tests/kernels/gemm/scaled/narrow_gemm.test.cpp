// SPDX-License-Identifier: MIT
// GEMM with narrow operands on the CPU emulator against float64, for random shapes.
#include <tilewright/kernels/gemm/scaled/narrow_gemm.hpp>
#include <tilewright/launch/launch.hpp>

#include <gtest/gtest.h>

#include "../../../property/setting.hpp"
#include "narrow_problem.hpp"

namespace tilewright::testing_narrow {
namespace {

/// Random shapes of each pair of formats: few, or with TILEWRIGHT_RANDOM_PROGRAMS as many (46: 500 in all).
int shapes() { return int(property::setting("TILEWRIGHT_RANDOM_PROGRAMS", 2)); }

template <class Arch, class A, class B, block_tile Tile>
struct policy_of : dequantising_policy<Arch, bfloat16_t, A, B, Tile> {
  using result_type = float;
};

template <class Policy>
std::string run(auto& problem) {
  typename Policy::args_type args;
  static_cast<narrow_args&>(args) = problem.args;
  if constexpr (requires { args.a_scales; }) args = problem.args;
  const emulator::launch_report report =
      launch<narrow_gemm<Policy>>(args, {.workers = 1, .check_lds = emulator::lds_checks::on});
  return report.totals.conflicts != 0 ? "bank conflicts: " + std::to_string(report.totals.conflicts) : problem.wrong();
}

template <class Arch, class A, class B, block_tile Tile = detail::dequantising_tile<Arch, bfloat16_t>(128)>
void expect_right(unsigned seed) {
  using policy = policy_of<Arch, A, B, Tile>;
  seed += unsigned(property::setting("TILEWRIGHT_PROPERTY_SEED", 0));
  std::mt19937 random(seed);
  for (int i = 0; i < shapes(); ++i) {
    const auto below = [&](unsigned n) { return index_t(random() % n); };
    narrow_problem<A, B> p(1 + below(40), 1 + below(200), 1 + below(330), unsigned(random()));
    EXPECT_EQ(run<policy>(p), "") << "seed " << seed << ", shape " << i;
    const std::size_t group = p.b.group_at(below(unsigned(p.b.rows)), below(unsigned(p.b.k)));
    const bool has_infinity = std::isinf(float(typename B::scale_type(INFINITY)));
    p.b.scales[group] = typename B::scale_type(i % 2 && has_infinity ? INFINITY : NAN);
    EXPECT_EQ(run<policy>(p), "") << "with a scale that is no number, seed " << seed << ", shape " << i;
  }
}

using plain = plain_format<bfloat16_t>;

TEST(NarrowGemm, WeightsWithGroups) {
  expect_right<arch::gfx942, plain, int4_groups<32>>(1);
  expect_right<arch::gfx942, plain, int4_zero_groups<128, half_t>>(2);
  expect_right<arch::sm80, plain, int4_zero_groups<64, float>>(3);
  expect_right<arch::gfx1201, plain, nvfp4_format>(4);
}

TEST(NarrowGemm, WeightsOfEightBits) {
  expect_right<arch::gfx950, plain, mxfp8_format>(5);
  expect_right<arch::sm80, plain, int8_groups<>>(6);
}

TEST(NarrowGemm, FewRows) {
  constexpr block_tile small = detail::dequantising_tile<arch::gfx942, bfloat16_t>(1);
  expect_right<arch::gfx942, plain, mxfp4_format, small>(7);
  expect_right<arch::gfx942, plain, int4_groups<0, float>, small>(8);
}

TEST(NarrowGemm, BothOperands) {
  expect_right<arch::gfx942, mxfp8_format, mxfp4_format>(9);
  expect_right<arch::sm80, mxfp8_e5m2_format, mxfp8_format>(10);
  expect_right<arch::gfx942, mxfp6_e2m3_format, mxfp6_e3m2_format>(11);
}

}  // namespace
}  // namespace tilewright::testing_narrow
