// SPDX-License-Identifier: MIT
// Which Hopper kernel the gemm program takes, and when it takes none.
#include <gtest/gtest.h>

#include "hopper_kernels.hpp"

namespace gemm_program {
namespace {

using enum tw::operand_major;

/// Two kernels, of which the model prefers the second where there are few rows.
const char* accepts(const tw::gemm_args&, const tw::gemm_choice&) { return nullptr; }
const char* wants_even_n(const tw::gemm_args& args, const tw::gemm_choice& c) {
  return args.n % 2 != 0 ? "n must be even" : c.split_k < 0 || c.split_k > 16 ? "too many parts" : nullptr;
}
constexpr tw::gemm_choice pair{.tile = {.m = 128, .n = 256, .cluster_m = 2}},
    small_m{.kernel = tw::gemm_kernel_kind::small_m};
tw::gemm_choice choose(const tw::gemm_args& args, tw::index_t) {
  tw::gemm_choice c = args.m <= 16 ? small_m : pair;
  c.split_k = args.k > 10000 ? 4 : 0;
  return c;
}

/// f16 in every layout, fp8 contiguous along k.
std::vector<hopper_product> products() {
  std::vector<hopper_product> list;
  for (const tw::operand_major a : {k, mn}) {
    for (const tw::operand_major b : {k, mn}) {
      for (const bool has_epilogue : {false, true}) {
        hopper_product e{element::f16, element::f16, a, b, has_epilogue, {pair, small_m}, wants_even_n, choose};
        list.push_back(e);
        e.type = element::e4m3;
        e.result = element::bf16;
        e.check = accepts;
        if (a == k && b == k) list.push_back(e);
      }
    }
  }
  return list;
}

problem product(const std::string& layout, element type = element::f16, element result = element::f16) {
  const auto order_of = [](char letter) { return letter == 'r' ? order::row_major : order::col_major; };
  return {.m = 4096,
          .n = 4096,
          .k = 4096,
          .type = type,
          .result = result,
          .a_order = order_of(layout[0]),
          .b_order = order_of(layout[1]),
          .c_order = order_of(layout[2])};
}

kernel_request named(const std::string& policy) {
  kernel_request request;
  request.policy = policy;
  return request;
}

constexpr int SMs = 132;

hopper_choice choice(const problem& p, const kernel_request& request = {}) {
  static const std::vector<hopper_product> list = products();
  return choose_hopper_kernel(list, kernel_problem_of(p, {}), request, SMs);
}

std::string refusal_of(const problem& p, const kernel_request& request) {
  try {
    choice(p, request);
  } catch (const refusal& error) {
    return error.what();
  }
  return "none";
}

std::string name_of_choice(const problem& p) {
  const hopper_choice c = choice(p);
  return c.product ? c.name() : "none: " + c.reason;
}

TEST(HopperKernelChoice, EveryLayout) {
  EXPECT_EQ(name_of_choice(product("rcr")), "hopper_128x256_b2_f16_ak_bk_to_f16");
  EXPECT_EQ(name_of_choice(product("rrr")), "hopper_128x256_b2_f16_ak_bn_to_f16");
  EXPECT_EQ(name_of_choice(product("ccr")), "hopper_128x256_b2_f16_am_bk_to_f16");
  EXPECT_EQ(name_of_choice(product("crr")), "hopper_128x256_b2_f16_am_bn_to_f16");
  // A column-major C is the row-major product of the transposed operands in reverse order.
  EXPECT_EQ(name_of_choice(product("rcc")), "hopper_128x256_b2_f16_ak_bk_to_f16");
  EXPECT_EQ(name_of_choice(product("ccc")), "hopper_128x256_b2_f16_ak_bn_to_f16");
  EXPECT_EQ(name_of_choice(product("rrc")), "hopper_128x256_b2_f16_am_bk_to_f16");
  EXPECT_EQ(name_of_choice(product("crc")), "hopper_128x256_b2_f16_am_bn_to_f16");
}

TEST(HopperKernelChoice, EpiloguesWhereTheyAreWanted) {
  for (const char* layout : {"rcr", "rrr", "ccr", "crr"}) {
    problem p = product(layout);
    EXPECT_FALSE(choice(p).product->has_epilogue) << layout;
    p.epilogue.activation = tw::activation::relu;
    EXPECT_TRUE(choice(p).product->has_epilogue) << layout;
  }
}

TEST(HopperKernelChoice, TheKernelFollowsTheProduct) {
  problem p = product("rcr");
  p.m = 16;
  EXPECT_EQ(name_of_choice(p), "hopper_small_m_f16_ak_bk_to_f16");
  EXPECT_EQ(choice(product("rcr"), named("hopper_small_m")).name(), "hopper_small_m_f16_ak_bk_to_f16");
}

// How k is split is the model's choice, too, or that of the policy.
TEST(HopperKernelChoice, SplitsOfK) {
  problem p = product("rcr");
  const auto split_k = [&](const std::string& policy) { return choice(p, named("hopper_128x256_b2" + policy)).kernel; };
  EXPECT_EQ(split_k(""), pair);
  EXPECT_EQ(split_k(", split_k 1"), (tw::gemm_choice{.tile = pair.tile, .split_k = 1}));
  EXPECT_EQ(split_k(", split_k 3"), (tw::gemm_choice{.tile = pair.tile, .split_k = 3}));
  for (const char* wrong : {", ", ",", ", k", ", split_k x", ", split_k 0", ", split_k 01", ", split_k 3 ",
                            ", split_k -3", ", split_k 4294967299", ", nonsense"})
    EXPECT_EQ(refusal_of(p, named(std::string("hopper_128x256_b2") + wrong)).rfind("there is no policy", 0), 0u)
        << wrong;
  EXPECT_EQ(refusal_of(p, named("hopper_128x256_b2, split_k 17")), "the Hopper kernels cannot do this: too many parts");
  p.k = 16384;
  EXPECT_EQ(name_of_choice(p), "hopper_128x256_b2_f16_ak_bk_to_f16, split_k 4");
}

TEST(HopperKernelChoice, WhatTheyCannotDoIsLeftToPortableKernels) {
  EXPECT_EQ(name_of_choice(product("rrr", element::e4m3, element::bf16)),
            "none: there are none for e4m3 to bf16 with this layout");
  EXPECT_EQ(name_of_choice(product("rcr", element::f16, element::f32)), "none: there are none for f16 to f32");
  problem odd = product("rcr");
  odd.n = 4095;
  EXPECT_EQ(name_of_choice(odd), "none: n must be even");
  kernel_request parts_of_k, along_hilbert;
  parts_of_k.split_k = 2;
  along_hilbert.grid_order = tw::grid_curve::hilbert;
  EXPECT_EQ(choice(product("rcr"), parts_of_k).product, nullptr);
  EXPECT_EQ(choice(product("rcr"), along_hilbert).product, nullptr);
  EXPECT_EQ(choice(product("rcr"), named("gemm_128x128")).product, nullptr);
}

TEST(HopperKernelChoice, WhatIsAskedForByNameIsRefusedInstead) {
  EXPECT_EQ(refusal_of(product("rrr", element::e4m3, element::bf16), named("hopper_128x256_b2")),
            "the Hopper kernels cannot do this: there are none for e4m3 to bf16 with this layout");
  problem odd = product("rcr");
  odd.n = 4095;
  EXPECT_EQ(refusal_of(odd, named("hopper_128x256_b2")), "the Hopper kernels cannot do this: n must be even");
  EXPECT_EQ(refusal_of(product("rcr"), named("hopper_1x1")),
            "there is no policy 'hopper_1x1'; those of the Hopper kernels are hopper_128x256_b2, hopper_small_m, "
            "also with such as \", split_k 3\"");
}

TEST(HopperKernelChoice, NoneOnOtherMachines) {
  const hopper_choice c =
      choose_hopper_kernel({}, kernel_problem_of(product("rcr"), {}), named("hopper_128x256_b2"), SMs);
  EXPECT_EQ(c.product, nullptr);
  EXPECT_EQ(c.reason, "");
}

}  // namespace
}  // namespace gemm_program
