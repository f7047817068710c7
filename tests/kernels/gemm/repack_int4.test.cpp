// SPDX-License-Identifier: MIT
// Repacked int4 weights, against packing as AWQ, AutoGPTQ and compressed-tensors do it.
#include <tilewright/kernels/gemm/repack_int4.hpp>
#include <tilewright/launch/launch.hpp>

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace tilewright {
namespace {

using matrix = std::vector<std::vector<unsigned>>;  ///< [k][n]

matrix random_codes(std::size_t rows, std::size_t cols) {
  std::mt19937 random(11);
  matrix codes(rows, std::vector<unsigned>(cols));
  for (auto& row : codes)
    for (unsigned& code : row) code = unsigned(random()) % 16;
  return codes;
}
/// Eight neighbours along a row in a word: nibble i is element order[i].
std::vector<unsigned> pack_along_rows(const matrix& codes, const std::vector<unsigned>& order) {
  std::vector<unsigned> words;
  for (const auto& row : codes) {
    for (std::size_t col = 0; col < row.size(); col += 8) {
      unsigned word = 0;
      for (unsigned i = 0; i < 8; ++i) word |= row[col + order[i]] << 4 * i;
      words.push_back(word);
    }
  }
  return words;
}
matrix transposed(const matrix& codes) {
  matrix result(codes[0].size(), std::vector<unsigned>(codes.size()));
  for (std::size_t i = 0; i < codes.size(); ++i)
    for (std::size_t j = 0; j < codes[0].size(); ++j) result[j][i] = codes[i][j];
  return result;
}
const std::vector<unsigned> in_order{0, 1, 2, 3, 4, 5, 6, 7}, awq_order{0, 2, 4, 6, 1, 3, 5, 7};

/// Columns of words, and of bytes.
template <class V>
std::vector<V> repacked(const std::vector<unsigned>& from, repack_int4_args args, std::size_t size) {
  std::vector<V> to(size, V(0x55));
  args.from = from.data(), args.to = to.data();
  using kernel = repack_int4<arch::gfx942>;
  EXPECT_EQ(kernel::check(args), nullptr);
  launch<kernel>(args);
  return to;
}

TEST(RepackInt4, WeightsOfAllLayouts) {
  constexpr index_t n = 264, k = 40, ld = 48;
  const matrix codes = random_codes(k, n);
  std::vector<unsigned> by_k;  // gptq: (k / 8, n)
  for (std::size_t k0 = 0; k0 < std::size_t(k); k0 += 8) {
    for (std::size_t col = 0; col < std::size_t(n); ++col) {
      unsigned word = 0;
      for (unsigned i = 0; i < 8; ++i) word |= codes[k0 + i][col] << 4 * i;
      by_k.push_back(word);
    }
  }
  const std::pair<int4_layout, std::vector<unsigned>> layouts[] = {
      {int4_layout::awq, pack_along_rows(codes, awq_order)},
      {int4_layout::gptq, by_k},
      {int4_layout::compressed_tensors, pack_along_rows(transposed(codes), in_order)}};
  for (const auto& [layout, words] : layouts) {
    const auto to = repacked<unsigned>(words, {.n = n, .k = k, .to_ld = ld, .layout = layout}, std::size_t(n * ld / 8));
    for (std::size_t col = 0; col < std::size_t(n); ++col) {
      for (std::size_t i = 0; i < std::size_t(k); ++i)
        ASSERT_EQ(to[col * ld / 8 + i / 8] >> 4 * (i % 8) & 15, codes[i][col]) << int(layout) << " " << i << " " << col;
      ASSERT_EQ(to[col * ld / 8 + k / 8], 0x55u) << "memory between columns";
    }
  }
}

TEST(RepackInt4, ZeroPointsOfAllLayouts) {
  constexpr index_t n = 24, groups = 11;
  const matrix codes = random_codes(groups, n);
  const std::pair<int4_layout, std::vector<unsigned>> layouts[] = {
      {int4_layout::awq, pack_along_rows(codes, awq_order)},
      {int4_layout::gptq, pack_along_rows(codes, in_order)},
      {int4_layout::compressed_tensors, {}}};
  for (auto [layout, words] : layouts) {
    if (layout == int4_layout::compressed_tensors) {  // (n / 8, groups)
      const auto by_group = pack_along_rows(codes, in_order);
      for (std::size_t col = 0; col < n / 8; ++col)
        for (std::size_t g = 0; g < std::size_t(groups); ++g) words.push_back(by_group[g * (n / 8) + col]);
    }
    const auto to = repacked<unsigned char>(
        words, {.n = n, .k = groups, .to_ld = 12, .layout = layout, .are_zero_points = true}, std::size_t(n * 12));
    for (std::size_t col = 0; col < std::size_t(n); ++col) {
      for (std::size_t g = 0; g < std::size_t(groups); ++g)
        ASSERT_EQ(to[col * 12 + g], codes[g][col] + (layout == int4_layout::gptq))
            << int(layout) << " " << g << " " << col;
      ASSERT_EQ(to[col * 12 + 11], 0x55);
    }
  }
}

TEST(RepackInt4, RefusesWhatItCannotDo) {
  using kernel = repack_int4<arch::sm90>;
  alignas(8) static unsigned words[4];
  const repack_int4_args good{.from = words, .to = words, .n = 8, .k = 8, .to_ld = 8};
  const auto refused = [&](auto change) {
    repack_int4_args g = good;
    change(g);
    return kernel::check(g);
  };
  EXPECT_EQ(kernel::check(good), nullptr);
  EXPECT_STREQ(refused([](auto& g) { g.n = 12; }), "words have eight columns: n must be a multiple of 8");
  EXPECT_STREQ(refused([](auto& g) { g.k = 12; }), "words have eight k: k and to_ld must be multiples of 8");
  EXPECT_STREQ(refused([](auto& g) { g.to_ld = 0; }), "to_ld is smaller than a column");
  EXPECT_STREQ(refused([](auto& g) { g.k = 0; }), "n and k must be positive");
  EXPECT_STREQ(refused([](auto& g) { g.to = reinterpret_cast<char*>(g.to) + 2; }), "words are not aligned to 4 bytes");
}

}  // namespace
}  // namespace tilewright
