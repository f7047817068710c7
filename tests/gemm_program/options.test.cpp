// SPDX-License-Identifier: MIT
// The command line of the gemm program: what it means and what it refuses.
#include <gtest/gtest.h>

#include "options.hpp"
#include "scratch_folder.hpp"

namespace gemm_program {
namespace {

options parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "gemm");
  return parse_options(static_cast<int>(arguments.size()), arguments.data(), {"gfx90a", "gfx942"});
}

std::string refusal_of(const std::vector<const char*>& arguments) {
  return message_of<refusal>([&] { parse(arguments); });
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

TEST(GemmOptions, WhatMakesNoSenseIsRefusedInOneSentence) {
  const std::pair<std::vector<const char*>, const char*> cases[] = {
      {{"--m", "0"}, "--m must be a positive whole number, not '0'"},
      {{"--m", "-5"}, "--m must be a positive whole number, not '-5'"},
      {{"--n", "abc"}, "--n must be a positive whole number, not 'abc'"},
      {{"--k", "1.5"}, "not '1.5'"},
      {{"--k", "512x"}, "not '512x'"},
      {{"--k", "99999999999999999999"}, "not '99999999999999999999'"},
      {{"--m"}, "--m needs a value: --m SIZE"},
      {{"--m", "--n", "2"}, "--m needs a value"},
      {{"--m="}, "--m must be a positive whole number, not ''"},
      {{"--m", "1", "--m", "2"}, "--m is given twice"},
      {{"--json=yes"}, "--json takes no value"},
      {{"--out", ""}, "--out needs the name of a file, not ''"},
      {{"--dtype", "f64"}, "--dtype must be one of bf16|bf8|f16|f32|fp8|int8, not 'f64'"},
      {{"--dtype", "int32"}, "--dtype must be one of"},
      {{"--out-dtype", "x"}, "--out-dtype must be one of bf16|bf8|f16|f32|fp8|int32|int8, not 'x'"},
      {{"--batch", "0"}, "--batch must be a positive whole number, not '0'"},
      {{"--gap", "-1"}, "--gap must be a whole number from 0 to 2147483647, not '-1'"},
      {{"--split-k", "0"}, "--split-k must be a whole number from 1 to 65535, not '0'"},
      {{"--split-k", "65536"}, "not '65536'"},
      {{"--grid-order", "spiral"}, "--grid-order must be one of hilbert|row-groups|rows, not 'spiral'"},
      {{"--activation", "tanh"}, "--activation must be one of gelu|none|relu|silu, not 'tanh'"},
      {{"--scale", "inf"}, "--scale must be a number within the range of float32, not 'inf'"},
      {{"--layout", "rr"}, "--layout must be three letters"},
      {{"--layout", "rrx"}, "not 'rrx'"},
      {{"--alpha", "nan"}, "--alpha must be a number within the range of float32, not 'nan'"},
      {{"--alpha", "1e99"}, "not '1e99'"},
      {{"--beta", "x"}, "--beta must be a number"},
      {{"--device", "tpu"}, "--device must be one of gpu|host, not 'tpu'"},
      {{"--arch", "gfx1"}, "--arch must be one of gfx90a|gfx942, not 'gfx1'"},
      {{"--device", "gpu", "--arch", "gfx942"}, "--arch chooses what the CPU emulates"},
      {{"--seed", "-1"}, "--seed must be a whole number"},
      {{"--repeat", "0"}, "--repeat must be a whole number from 1"},
      {{"--c", "c.npy"}, "--c needs --beta"},
      {{"--verify", "--no-verify"}, "--verify and --no-verify exclude each other"},
      {{"--explain", "--explain-shapes"}, "--explain and --explain-shapes exclude each other"},
      {{"--explain", "--json"}, "--explain takes --arch, --m, --n and --k and prints text; it cannot be combined"},
      {{"--explain", "--policy", "x"}, "with --policy"},
      {{"--explain-shapes", "--m", "2"}, "--explain-shapes takes --arch and prints text"},
      {{"--colour"}, "there is no option --colour; gemm --help lists the options"},
      {{"--batchs", "2"}, "did you mean --batch?"},
      {{"stray"}, "'stray' is neither an option nor its value"},
  };
  for (const auto& [arguments, sentence] : cases) {
    const std::string message = refusal_of(arguments);
    EXPECT_NE(message.find(sentence), std::string::npos) << arguments[0] << ": " << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace gemm_program
