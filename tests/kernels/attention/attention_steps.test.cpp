// SPDX-License-Identifier: MIT
#include <tilewright/kernels/attention/detail/attention_steps.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace tilewright {
namespace {

template <index_t Keys>
struct policy {
  struct tile_type {
    index_t keys;
  };
  static constexpr tile_type tile{Keys};
  static constexpr bool has_block_mask = true;
  using args_type = attention_args;
};

/// Sparse masks of many words, with sequences that end within tiles.
struct masked_problem {
  attention_args args;
  detail::attention_problem p{};
  std::vector<unsigned> bits;
  index_t rows;

  explicit masked_problem(std::mt19937& random) {
    const auto up_to = [&](index_t n) { return index_t(random() % unsigned(n)); };
    p.queries = 1 + up_to(1000);
    p.keys = 1 + up_to(20000);
    p.batch = up_to(2), p.head = up_to(3);
    rows = 64 * (1 + up_to(3));
    p.first_query = up_to(ceil_div(p.queries, rows)) * rows;
    attention_block_mask& m = args.block_mask;
    m.queries = 16 << up_to(6);
    m.keys = 16 << up_to(6);
    m.strides.row = ceil_div(ceil_div(p.keys, m.keys), 32);
    m.strides.head = up_to(2) * ceil_div(p.queries, m.queries) * m.strides.row;
    m.strides.batch = 3 * m.strides.head;
    bits.resize(std::size_t(6 * ceil_div(p.queries, m.queries) * m.strides.row));
    const index_t distance = 1 + up_to(200);
    for (unsigned& word : bits)
      for (int i = 0; i < 32; ++i) word = word << 1 | unsigned(up_to(distance) == 0);
    m.bits = bits.data();
  }
  bool sees(index_t query, index_t key) const {
    const attention_block_mask& m = args.block_mask;
    const long_index_t word =
        p.batch * m.strides.batch + p.head * m.strides.head + (query / m.queries) * m.strides.row + key / m.keys / 32;
    return bits[std::size_t(word)] >> key / m.keys % 32 & 1;
  }
  index_t last_query() const { return std::min(p.first_query + rows, p.queries); }
  bool any_sees(index_t key) const {
    for (index_t query = p.first_query; query < last_query(); query += 16)
      if (sees(query, key)) return true;
    return false;
  }
};

/// All keys that a row sees are in a step, no step begins at a key that no row sees, and sees_all() is right.
template <index_t Keys>
void expect_steps_are_right(std::mt19937& random) {
  const masked_problem of(random);
  const index_t first = index_t(random() % unsigned(of.p.keys)),
                last = std::min(of.p.keys, first + 1 + index_t(random() % 9000));
  const detail::attention_steps<policy<Keys>> steps{of.args, of.p, of.rows, {first, last}};
  index_t key = first;
  for (index_t step = steps.first(); step < last; step = steps.after(step)) {
    const bool sees_nothing = step == first && !of.any_sees(first);  // the only step of rows that see nothing
    for (; key < step; ++key) ASSERT_FALSE(of.any_sees(key)) << key << " is in no step";
    ASSERT_TRUE(sees_nothing || of.any_sees(step)) << step;
    bool all = true;
    for (index_t k = step; k < std::min(step + Keys, of.p.keys); ++k)
      for (index_t query = of.p.first_query; query < of.last_query(); query += 16) all = all && of.sees(query, k);
    ASSERT_EQ(steps.sees_all(of.p.first_query, of.rows, step), all) << step;
    key = step + Keys;
    if (sees_nothing) {
      ASSERT_GE(steps.after(step), last);
    }
  }
  for (; key < last; ++key) ASSERT_FALSE(of.any_sees(key)) << key << " is in no step";
}

TEST(AttentionSteps, AreThoseOfTilesThatABlockMaskShows) {
  std::mt19937 random(1);
  for (int i = 0; i < 60 && !testing::Test::HasFatalFailure(); ++i) {
    expect_steps_are_right<64>(random);
    expect_steps_are_right<80>(random);
    expect_steps_are_right<256>(random);
  }
}

}  // namespace
}  // namespace tilewright
