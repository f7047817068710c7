// SPDX-License-Identifier: MIT
// The command line of the gemm program: what it means. tests/tools/wrong_inputs.md has what it refuses.
#include <gtest/gtest.h>

#include "options.hpp"

namespace gemm_program {
namespace {

options parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "gemm");
  return parse_options(static_cast<int>(arguments.size()), arguments.data(), {"gfx90a", "gfx942"});
}

TEST(GemmOptions, NothingSaidLeavesEverythingOpen) {
  const options o = parse({});
  EXPECT_FALSE(o.m || o.n || o.k || o.type || o.a_order || o.b_order || o.c_order || o.verify);
  EXPECT_FALSE(o.a_file || o.b_file || o.c_file || o.out_file);
  EXPECT_EQ(o.alpha, 1);
  EXPECT_EQ(o.beta, 0);
  EXPECT_FALSE(o.where);
  EXPECT_EQ(o.target, "gfx942");
  EXPECT_EQ(o.seed, 1u);
  EXPECT_EQ(o.repeat, 1);
  EXPECT_FALSE(o.json);
  EXPECT_TRUE(o.help.empty());
}

TEST(GemmOptions, EverythingSaidIsKept) {
  const options o = parse({"--m",         "17",       "--n=127",  "--k",    "5000000000",
                           "--dtype",     "bf16",     "--layout", "crc",    "--alpha",
                           "-1.5",        "--beta",   "2e-3",     "--arch", "gfx90a",
                           "--a",         "x.npy",    "--b",      "y.npy",  "--c",
                           "z.npy",       "--out",    "o.npy",    "--seed", "18446744073709551615",
                           "--no-verify", "--repeat", "3",        "--json"});
  EXPECT_EQ(o.m, 17);
  EXPECT_EQ(o.n, 127);
  EXPECT_EQ(o.k, 5000000000);
  EXPECT_EQ(o.type, dtype::bf16);
  EXPECT_EQ(o.a_order, order::col_major);
  EXPECT_EQ(o.b_order, order::row_major);
  EXPECT_EQ(o.c_order, order::col_major);
  EXPECT_EQ(o.alpha, -1.5f);
  EXPECT_EQ(o.beta, 2e-3f);
  EXPECT_EQ(o.target, "gfx90a");
  EXPECT_EQ(o.where, device::host);
  EXPECT_EQ(o.a_file, "x.npy");
  EXPECT_EQ(o.b_file, "y.npy");
  EXPECT_EQ(o.c_file, "z.npy");
  EXPECT_EQ(o.out_file, "o.npy");
  EXPECT_EQ(o.seed, 18446744073709551615u);
  EXPECT_EQ(o.verify, false);
  EXPECT_EQ(o.repeat, 3);
  EXPECT_TRUE(o.json);
  EXPECT_EQ(parse({"--verify", "--device", "gpu"}).verify, true);
  EXPECT_EQ(parse({"--device", "gpu"}).where, device::gpu);
}

TEST(GemmOptions, KernelAndEpilogueAreKept) {
  const options o = parse({"--out-dtype", "int32", "--batch", "4", "--split-k", "8", "--grid-order", "hilbert",
                           "--policy", "gemm_64x64", "--scale", "0.5", "--row-scale", "--column-scale", "--bias",
                           "--activation", "silu", "--residual"});
  EXPECT_EQ(o.result, dtype::int32);
  EXPECT_EQ(o.batch, 4);
  EXPECT_EQ(o.kernel.split_k, 8);
  EXPECT_EQ(o.kernel.grid_order, tw::grid_curve::hilbert);
  EXPECT_EQ(o.kernel.policy, "gemm_64x64");
  EXPECT_EQ(o.scale, 0.5f);
  EXPECT_EQ(o.epilogue, (epilogue_request{true, true, true, true, true, tw::activation::silu}));
  EXPECT_EQ(parse({}).epilogue, epilogue_request{});
  EXPECT_EQ(parse({}).kernel.split_k, 1);
}

TEST(GemmOptions, HelpNamesTheTargets) {
  const std::string help = parse({"--help"}).help;
  EXPECT_NE(help.find("gfx90a|gfx942"), std::string::npos);
  EXPECT_NE(help.find("Exit code"), std::string::npos);
}

}  // namespace
}  // namespace gemm_program
