// SPDX-License-Identifier: MIT
// The kernels of narrow.hip on emulated GPUs: results against float64, bounds, races, bank conflicts.
#include <tilewright/core/arch/arch.hpp>

#include <gtest/gtest.h>

#include <amdgcn_emulator.hpp>

#include "../kernels/gemm/scaled/narrow_problem.hpp"
#include "code_objects.hpp"
#include "narrow_policies.hpp"

namespace {

using namespace tilewright;
using namespace tilewright::testing_narrow;

template <class Policy>
void expect_right(emu::module& code, const char* name, index_t m, index_t n, index_t k, bool with_nan = false) {
  using kernel = narrow_gemm<Policy>;
  SCOPED_TRACE(std::string(name) + " " + std::to_string(m) + " x " + std::to_string(n) + " x " + std::to_string(k));
  narrow_problem<typename Policy::a_format, typename Policy::b_format> p(m, n, k, unsigned(m + n + k), 4);
  if (with_nan) {
    using scale = typename Policy::b_format::scale_type;
    p.b.scales[p.b.group_at(n / 2, k / 2)] = scale(std::numeric_limits<float>::quiet_NaN());
  }
  typename Policy::args_type args;
  static_cast<narrow_args&>(args) = p.args;
  if constexpr (requires { args.a_scales; }) args = p.args;
  ASSERT_STREQ(kernel::check(args), nullptr);
  code.forbid_all();
  const auto all = [&](auto& values) { code.allow(values.data(), values.size() * sizeof values[0]); };
  all(p.a.words), all(p.a.scales), all(p.b.words), all(p.b.scales), all(p.b.zeros), all(p.c);
  const emu::result result = code.launch(name, {unsigned(kernel::grid(args).x), 1, 1}, {unsigned(kernel::block_size)},
                                         0, emu::kernarg().add(args), {.order = emu::options::random, .seed = 7});
  for (const emu::race_row& race : result.races) ADD_FAILURE() << race.message;
  EXPECT_EQ(p.wrong(), "");
}

struct EmulatedNarrow : testing::TestWithParam<code_object> {
  emu::module& code = load(GetParam());
  template <class F>
  void on_target(F f) const {
    if (GetParam().arch == "gfx942") f.template operator()<arch::gfx942>();
    if (GetParam().arch == "gfx950") f.template operator()<arch::gfx950>();
    if (GetParam().arch == "gfx1201") f.template operator()<arch::gfx1201>();
  }
};

TEST_P(EmulatedNarrow, Weights) {
  on_target([&]<class Arch>() {
    expect_right<narrow_policies::int4<Arch>>(code, "int4_kernel", 70, 131, 203);
    expect_right<narrow_policies::small_m<Arch>>(code, "small_m_kernel", 3, 101, 177);
    expect_right<narrow_policies::small_m<Arch>>(code, "small_m_kernel", 16, 64, 256, true);
  });
}

TEST_P(EmulatedNarrow, BothOperandsDecoded) {
  on_target([&]<class Arch>() {
    if constexpr (std::is_same_v<Arch, arch::gfx950>) {
      expect_right<narrow_policies::fp6<Arch>>(code, "fp6_kernel", 33, 50, 171);
    } else {
      expect_right<narrow_policies::mixed<Arch>>(code, "mixed_kernel", 33, 50, 171);
    }
  });
}

TEST_P(EmulatedNarrow, ScaledMatrixInstructions) {
  if (GetParam().arch != "gfx950") return;  // it alone has them
  for (const bool with_nan : {false, true}) {
    expect_right<narrow_policies::scaled_8x4>(code, "scaled_8x4_kernel", 37, 259, 416, with_nan);
    expect_right<narrow_policies::scaled_4x4>(code, "scaled_4x4_kernel", 131, 70, 800, with_nan);
    expect_right<narrow_policies::scaled_8x8>(code, "scaled_8x8_kernel", 65, 33, 1056, with_nan);
    expect_right<narrow_policies::scaled_4x8>(code, "scaled_4x8_kernel", 9, 130, 96, with_nan);
    expect_right<narrow_policies::scaled_6x6>(code, "scaled_6x6_kernel", 131, 70, 416, with_nan);
    expect_right<narrow_policies::scaled_6x8>(code, "scaled_6x8_kernel", 65, 33, 800, with_nan);
  }
}

TEST(ScaledMfma, RefusesPartialBlocks) {
  scaled_args args{};
  args.m = args.n = 8, args.k = args.lda = args.ldb = 48, args.ldc = 8;
  args.lda = args.ldb = 64;
  EXPECT_STREQ(narrow_gemm<narrow_policies::scaled_4x4>::check(args),
               "scaled matrix instructions need whole blocks of 32 along k; use dequantising_policy");
  args.k = 96, args.lda = args.ldb = 128, args.ld_a_scales = 3;
  EXPECT_NE(std::string(narrow_gemm<narrow_policies::scaled_4x4>::check(args)).find("rows of scales must start at"),
            std::string::npos);
}

std::vector<code_object> objects() {
  std::vector<code_object> objects = code_objects();
  std::erase_if(objects,
                [](const code_object& o) { return o.arch != "gfx942" && o.arch != "gfx950" && o.arch != "gfx1201"; });
  return objects;
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(EmulatedNarrow);
INSTANTIATE_TEST_SUITE_P(All, EmulatedNarrow, testing::ValuesIn(objects()),
                         [](const auto& info) { return info.param.arch; });

}  // namespace
