// SPDX-License-Identifier: MIT
// Damaged command lines of the gemm program: options that make sense, or one sentence.
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "../property/text_mutator.hpp"
#include "agreed.hpp"
#include "options.hpp"

namespace gemm_program {
namespace {

using tilewright::property::scaled;

TEST(GemmOptionsFuzz, DamagedCommandLinesAreUnderstoodOrRefused) {
  const std::vector<std::string> sound{
      "--m",      "17",      "--n=127",  "--k",    "5000000000", "--dtype",  "bf16",   "--layout",
      "crc",      "--alpha", "-1.5",     "--beta", "2e-3",       "--arch",   "gfx90a", "--a",
      "x.npy",    "--out",   "o.npy",    "--seed", "7",          "--json",   "-h",     "--no-verify",
      "--repeat", "3",       "--verify", "--c",    "z.npy",      "--device", "host",   "--explain=shapes",
      "rrr",      "f16",     "--b",      "y.npy"};
  tilewright::property::text_mutator mutate(
      3, {"-", "--", "=", "0", "-1", "nan", "inf", "1e39", "0x10", "9223372036854775808", "18446744073709551616", "f",
          "r", "c", "\n", " "});
  long understood = 0, refused = 0;
  for (long i = 0; i < scaled(2000); ++i) {
    std::vector<std::string> words{"gemm"};
    for (std::size_t first = mutate.below(sound.size()), n = 1 + mutate.below(8); n > 0; --n) {
      const std::string& word = sound[(first + n) % sound.size()];
      words.push_back(mutate.below(3) == 0 ? mutate(word) : mutate.below(6) == 0 ? mutate.one_of(sound) : word);
    }
    std::reverse(words.begin() + 1, words.end());
    std::vector<const char*> argv;
    for (const std::string& word : words) argv.push_back(word.c_str());
    std::string line;
    for (const std::string& word : words) line += word + " ";
    SCOPED_TRACE(line);
    try {
      const options o = parse_options(static_cast<int>(argv.size()), argv.data(), {"gfx90a", "gfx942"});
      ++understood;
      if (!o.help.empty()) continue;
      for (const auto& length : {o.m, o.n, o.k}) ASSERT_GE(length.value_or(1), 1);
      ASSERT_GE(o.repeat, 1);
      ASSERT_TRUE(std::isfinite(o.alpha) && std::isfinite(o.beta));
      ASSERT_TRUE(o.target == "gfx90a" || o.target == "gfx942");
    } catch (const refusal& error) {
      ASSERT_NE(std::string(error.what()), "");
      ++refused;
    }
  }
  EXPECT_GT(understood, scaled(100));
  EXPECT_GT(refused, scaled(500));
}

}  // namespace
}  // namespace gemm_program
