// SPDX-License-Identifier: MIT
// Damaged command lines: tilewright-layout answers, or refuses in one sentence.
#include "../property/text_mutator.hpp"
#include "commands.hpp"
#include "encoding_text.hpp"
#include "refusal.hpp"
#include "words.hpp"

#include <gtest/gtest.h>

namespace tilewright_layout {
namespace {

using tilewright::property::scaled, tilewright::property::text_mutator;

const std::vector<std::string> pieces = {":",
                                         ",",
                                         "x",
                                         "(",
                                         ")",
                                         ".",
                                         "-1",
                                         "0",
                                         "1",
                                         "2",
                                         "7",
                                         "64",
                                         "4096",
                                         "99999999999",
                                         "1.0",
                                         "2.1",
                                         "0.0",
                                         "R(2)",
                                         "H(",
                                         "P",
                                         "Y",
                                         "16B",
                                         "2B",
                                         "snake",
                                         "hilbert",
                                         "groups=",
                                         "order=",
                                         "access=",
                                         "xor",
                                         "mfma",
                                         "mma",
                                         "wmma",
                                         "ldmatrix",
                                         "row-xor",
                                         "padded",
                                         "swizzle",
                                         "solve",
                                         "encoding",
                                         "column",
                                         "rows",
                                         ":a",
                                         ":b",
                                         ":c",
                                         "32768",
                                         "\n",
                                         "\xff",
                                         " ",
                                         "--",
                                         "=",
                                         "128x64",
                                         "1x1",
                                         "f8",
                                         "f64",
                                         "plain",
                                         "base-tile",
                                         "v_mfma_f32_",
                                         ".m16n8k16",
                                         "mma.",
                                         "ldmatrix.trans",
                                         "ds_read_b64_tr_b16",
                                         "--explain-bank",
                                         "gfx950,"};

std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words;
  for (const std::string& word : split(line, ' ')) {
    if (!word.empty()) words.push_back(word);
  }
  return words;
}

TEST(LayoutToolFuzz, DamagedEncodingsAreReadOrRefused) {
  text_mutator mutate(1, pieces);
  const std::vector<std::string> whole = {"H(2,4,16)(4,8)P(1.1)(1.2,2.0)Y(1.0,2.1)", "R(2)H(16)(16)P(0.0,1.0)Y(2.0)",
                                          "H(2,2,2,2,2,2)(4)(3)P(1.0,1.1,1.2)(1.3,1.4,2.0)Y(1.5,3.0)",
                                          "H(256,256,16384)(2)P(1.0)(1.1)Y(1.2,2.0)", "H(4,4,4)P(1.0)(1.1)Y(1.2)"};
  long read = 0, refused = 0;
  for (long i = 0; i < scaled(40000); ++i) {
    const std::string text = mutate(mutate.one_of(whole));
    try {
      const tilewright::distribution_encoding e = encoding_of_text(text);
      EXPECT_TRUE(tilewright::check_encoding(e).is_sound()) << text;
      EXPECT_EQ(encoding_of_text(text_of(e)), e) << text;
      // Lengths do not overflow.
      for (index_t x = 0; x < e.ndim_x(); ++x) EXPECT_GE(e.x_length(x), 1) << text;
      for (index_t p = 0; p < e.ndim_p(); ++p) EXPECT_GE(e.p_length(p), 1) << text;
      EXPECT_GE(e.num_elements_per_thread(), 1) << text;
      ++read;
    } catch (const refusal& error) {
      ASSERT_NE(std::string(error.what()), "");
      ++refused;
    }
  }
  EXPECT_GT(read, scaled(100));
  EXPECT_GT(refused, scaled(20000));
}

// The whole tool but for writing its answer, on tiles that are drawn in no time.
TEST(LayoutToolFuzz, DamagedCommandLinesAreAnsweredOrRefused) {
  text_mutator mutate(2, pieces);
  const std::vector<std::string> whole = {
      "--tile 16x32 --read mfma:16x16x16 --write rows:4B --layout xor --layout padded:8 --arch gfx942",
      "--tile 32x32 --dtype f32 --write rows:16B:thread-raked --layout swizzle:2,4,3 --format json --arch gfx950",
      "--tile 32x64 --dtype f8 --read column:8B --layout row-xor:1,2,3 --layout plain --reading first --threads 64",
      "--tile 64x32 --arch sm_90 --read ldmatrix:b --layout solve --write rows:16B --view memory --format svg",
      "--tile 16x64 --read encoding:H(16)(4,16)P(1.0,2.0)Y(2.1) --layout base-tile:8x8 --direct --phase 1 --show 1",
      "distribution wmma:16x16x16:c --tile 16x16 --arch gfx1201 --colours register",
      "distribution encoding:R(2)H(2,4)(4,4)P(0.0,1.1,2.0)Y(1.0,2.1) --tile 8x16 --arch gfx1100 --format svg",
      "curve 4x6:order=1,0:access=1x2:snake 5x7:hilbert 4x4:groups=2:snake --format svg",
      "curve 8x8:groups=3 --format json"};
  const auto answer_of = [](const std::vector<std::string>& words) -> answer {
    std::vector<const char*> argv{"tilewright-layout"};
    for (const std::string& word : words) argv.push_back(word.c_str());
    const parsed_line line = parse_command_line(int(argv.size()), argv.data());
    return line.help || line.asked.tile.bytes() > 1 << 13 ? answer{0, line.text + "large"} : answer_to(line.asked);
  };
  for (const std::string& line : whole) ASSERT_NO_THROW(answer_of(words_of(line))) << line;
  long answered = 0, refused = 0;
  for (long i = 0; i < scaled(3000); ++i) {
    std::vector<std::string> words = words_of(mutate.one_of(whole));
    for (std::size_t n = 1 + mutate.below(2); n > 0; --n) {
      std::string& word = words[mutate.below(words.size())];
      switch (mutate.below(4)) {
        case 0: word = mutate.one_of(words_of(mutate.one_of(whole))); break;  // a sound word at another place
        case 1: words.push_back(mutate.one_of(words_of(mutate.one_of(whole)))); break;
        default: word = mutate(word);
      }
    }
    for (std::string& word : words) {
      if (word.starts_with("--out")) word = "--title";
    }
    SCOPED_TRACE(joined(words, " "));
    try {
      const answer result = answer_of(words);
      ASSERT_TRUE(result.exit_code == 0 || result.exit_code == 1);
      ASSERT_NE(result.text, "");
      ++answered;
    } catch (const refusal& error) {
      ASSERT_NE(std::string(error.what()), "");
      ++refused;
    }
  }
  EXPECT_GT(answered, scaled(100));
  EXPECT_GT(refused, scaled(500));
}

}  // namespace
}  // namespace tilewright_layout
