// SPDX-License-Identifier: MIT
#include <tilewright/kernels/gemm/choice/choice_name.hpp>

#include <gtest/gtest.h>

namespace tilewright {
namespace {

TEST(ChoiceName, IsReadAsItIsWritten) {
  for (const index_t parts : {0, 1, 2, 16}) {
    const auto read = choice_name::parse(choice_name{"64x96_b4_swap", parts}.text());
    ASSERT_TRUE(read) << parts;
    EXPECT_EQ(read->tile, "64x96_b4_swap");
    EXPECT_EQ(read->parts, parts);
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
