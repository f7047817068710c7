// SPDX-License-Identifier: MIT
// The fields of a tensor descriptor by their bits, as the header's table has them.
#include <tilewright/core/arch/tensor_descriptor.hpp>

#include <gtest/gtest.h>

namespace {
namespace tw = tilewright;

unsigned long long field(const unsigned* words, int first, int last) {
  unsigned long long x = 0;
  for (int b = last; b >= first; --b) x = x << 1 | (words[b / 32] >> b % 32 & 1);
  return x;
}

TEST(TensorDescriptor, HasItsFieldsWhereTheTableSays) {
  const tw::arch::tensor_tile t{.rows = 0x1234,
                                .row_elements = 64,
                                .tensor_rows = 0x89abcdef,
                                .tensor_row_elements = 0x76543210,
                                .row_stride = 0x123456789abcLL,
                                .element_bytes = 2,
                                .pad_bytes = 16,
                                .workgroup_mask = 0x8001};
  const tw::arch::tensor_descriptor d = tw::arch::pack_tensor_descriptor(t, 0x1fedcba98765432ull);
  EXPECT_EQ(field(d.group0, 0, 1), 1u);
  EXPECT_EQ(field(d.group0, 2, 31), 0u);
  EXPECT_EQ(field(d.group0, 64, 120), 0x1fedcba98765432ull);
  EXPECT_EQ(field(d.group0, 126, 127), 2u);
  EXPECT_EQ(field(d.group1, 0, 15), 0x8001u);
  EXPECT_EQ(field(d.group1, 16, 17), 1u);
  EXPECT_EQ(field(d.group1, 18, 21), 4u);  // pads alone
  EXPECT_EQ(field(d.group1, 22, 24), 4u);  // each 32 dwords
  EXPECT_EQ(field(d.group1, 25, 31), 3u);  // 4 dwords
  EXPECT_EQ(field(d.group1, 48, 79), 0x76543210u);
  EXPECT_EQ(field(d.group1, 80, 111), 0x89abcdefu);
  EXPECT_EQ(field(d.group1, 112, 127), 64u);
  EXPECT_EQ(field(d.group1, 128, 143), 0x1234u);
  EXPECT_EQ(field(d.group1, 160, 207), 0x123456789abcull);
  EXPECT_EQ(field(d.group1, 208, 255), 0u);
}
TEST(TensorDescriptor, PadsFollowRowsOfSomeLengths) {
  for (const int bytes : {8, 64, 1024}) EXPECT_TRUE(tw::arch::can_pad_rows(bytes)) << bytes;
  for (const int bytes : {0, 4, 48, 2048}) EXPECT_FALSE(tw::arch::can_pad_rows(bytes)) << bytes;
  const tw::arch::tensor_tile plain{1, 64, 1, 64, 64, 1, 0};
  EXPECT_EQ(tw::arch::pack_tensor_descriptor(plain, 0).group1[0], 0u);
}
}  // namespace
