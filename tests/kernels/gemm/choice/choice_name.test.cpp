// SPDX-License-Identifier: MIT
#include <tilewright/kernels/gemm/choice/choice_name.hpp>

#include <gtest/gtest.h>

namespace tilewright {
namespace {

TEST(ChoiceName, IsReadAsItIsWritten) {
  for (const index_t split_k : {0, 1, 2, 16}) {
    const auto read = choice_name::parse(choice_name{"64x96_b4_swap", split_k}.text());
    ASSERT_TRUE(read) << split_k;
    EXPECT_EQ(read->tile, "64x96_b4_swap");
    EXPECT_EQ(read->split_k, split_k);
  }
}

TEST(ChoiceName, NamesTheBlocksOfStreamK) {
  const auto read = choice_name::parse("128x128, stream_k 304");
  ASSERT_TRUE(read);
  EXPECT_TRUE(read->stream_k);
  EXPECT_EQ(read->split_k, 304);
  EXPECT_EQ(read->text(), "128x128, stream_k 304");
  EXPECT_FALSE(choice_name::parse("128x128, split_k 304")->stream_k);
  for (const char* text : {"128x128, stream_k", "128x128, stream_k 0", "128x128, stream_kk 2", "128x128, stream_k 2 "})
    EXPECT_FALSE(choice_name::parse(text)) << text;
}

TEST(ChoiceName, ReadsWhatEarlierVersionsWrote) {
  for (const auto& [text, now] :
       {std::pair{"64x64, k whole", "64x64, split_k 1"}, std::pair{"64x64, k in 2 parts", "64x64, split_k 2"},
        std::pair{"small_m, k in 16 parts", "small_m, split_k 16"}}) {
    const auto read = choice_name::parse(text);
    ASSERT_TRUE(read) << text;
    EXPECT_EQ(read->text(), now);
  }
}

TEST(ChoiceName, RefusesOtherTexts) {
  for (const char* text :
       {"64x64,", "64x64, split_k", "64x64, split_k 0", "64x64, split_k -3", "64x64, split_k x", "64x64, split_k 02",
        "64x64,split_k 2", "64x64, split_k 2 ", "64x64, split_k 99999999999", "64x64, k", "64x64, k in 0 parts",
        "64x64, k in 1 parts", "64x64, k in 2", "64x64, k in 02 parts", "64x64,k whole", "64x64, k whole "})
    EXPECT_FALSE(choice_name::parse(text)) << text;
}

}  // namespace
}  // namespace tilewright
