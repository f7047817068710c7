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

TEST(ChoiceName, RefusesOtherTexts) {
  for (const char* text :
       {"64x64,", "64x64, k", "64x64, k in 0 parts", "64x64, k in 1 parts", "64x64, k in -3 parts",
        "64x64, k in x parts", "64x64, k in 2", "64x64, k in 02 parts", "64x64,k whole", "64x64, k whole "})
    EXPECT_FALSE(choice_name::parse(text)) << text;
}

}  // namespace
}  // namespace tilewright
