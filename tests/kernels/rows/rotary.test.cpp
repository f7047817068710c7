// SPDX-License-Identifier: MIT
#include "matrix.hpp"

#include <tilewright/kernels/rows/rotary.hpp>
#include <tilewright/launch/launch.hpp>

namespace rows_test {

namespace {

using split = rotary<arch::gfx942, half_t>;
using interleaved = rotary<arch::sm90, float, rotary_kind::interleaved>;
using one_by_one = rotary<arch::gfx1201, bfloat16_t, rotary_kind::interleaved, 1>;

/// Tokens of `heads` heads with gaps between heads and between tokens; the head ends with elements that stay.
template <class Kernel, class T>
void expect_turned(index_t tokens, index_t heads, index_t pairs, index_t rest, bool in_place, bool has_positions,
                   double error, std::mt19937& random) {
  SCOPED_TRACE(std::to_string(tokens) + " x " + std::to_string(heads) + " x " + std::to_string(pairs));
  const index_t head = 2 * pairs + rest, max_position = 5;
  const matrix<T> x(tokens, heads * head, 8, random);
  const matrix<float> angles(max_position, pairs, 0, random, 2);
  matrix<float> cos = angles, sin = angles;
  for (std::size_t i = 0; i < cos.values.size(); ++i) {
    cos.values[i] = std::cos(angles.values[i]);
    sin.values[i] = std::sin(angles.values[i]);
  }
  std::vector<index_t> position;
  for (index_t t = 0; t < tokens; ++t) position.push_back(index_t(random() % 5u));
  matrix<T> y = in_place ? x : matrix<T>(tokens, heads * head, 8, T(-7.0f));
  launch<Kernel>({.x = in_place ? y.data() : x.values.data(),
                  .y = y.data(),
                  .cos = cos.data(),
                  .sin = sin.data(),
                  .position = has_positions ? position.data() : nullptr,
                  .tokens = tokens,
                  .heads = heads,
                  .pairs = pairs,
                  .max_position = max_position,
                  .x_token_stride = x.stride,
                  .x_head_stride = head,
                  .y_token_stride = y.stride,
                  .y_head_stride = head,
                  .is_inverse = has_positions});
  double worst = 0;
  for (index_t t = 0; t < tokens; ++t) {
    const index_t p = has_positions ? position[std::size_t(t)] : t % max_position;
    for (index_t c = 0; c < heads * head; ++c) {
      const index_t i = c % head, start = c - i;
      double wanted = in_place ? x(t, c) : -7.0;
      if (i < 2 * pairs) {
        const bool is_split = Kernel::is_split, is_second = is_split ? i >= pairs : i % 2 == 1;
        const index_t pair = is_split ? i % pairs : i / 2, other = is_split ? (i + pairs) % (2 * pairs) : i ^ 1;
        const double sign = (is_second ? 1 : -1) * (has_positions ? -1 : 1);
        wanted = x(t, c) * cos(p, pair) + sign * x(t, start + other) * sin(p, pair);
      }
      worst = max_error(worst, std::abs(y(t, c) - wanted));
    }
  }
  EXPECT_LE(worst, error);
}

}  // namespace

TEST(Rotary, HeadsOfAnyLength) {
  std::mt19937 random(51);
  for (int i = 0; i < 4; ++i) {
    const index_t tokens = 1 + index_t(random() % 40), heads = 1 + index_t(random() % 9);
    expect_turned<split, half_t>(tokens, heads, random_length(random, 200, 8), i % 2 * 16, i > 1, i % 2, 0x1p-8,
                                 random);
    expect_turned<interleaved, float>(tokens, heads, random_length(random, 100, 4), 0, i > 1, i % 2, 1e-6, random);
    expect_turned<one_by_one, bfloat16_t>(tokens, heads, random_length(random, 100, 1), i, i > 1, i % 2, 0x1p-5,
                                          random);
  }
}

TEST(Rotary, RefusesWhatItCannotDo) {
  alignas(16) static half_t memory[8192];
  alignas(16) static float tables[512];
  const rotary_args<half_t> good{.x = memory,
                                 .y = memory + 4096,
                                 .cos = tables,
                                 .sin = tables + 256,
                                 .tokens = 4,
                                 .heads = 4,
                                 .pairs = 64,
                                 .max_position = 4,
                                 .x_token_stride = 512,
                                 .x_head_stride = 128,
                                 .y_token_stride = 512,
                                 .y_head_stride = 128};
  EXPECT_EQ(split::check(good), nullptr);
  const auto refuse = [&](auto change, const char* words) {
    auto args = good;
    change(args);
    expect_refusal<split>(args, words);
  };
  refuse([](auto& a) { a.tokens = 0; }, "must be positive");
  refuse([](auto& a) { a.pairs = 60; }, "multiple of the vector");
  refuse([](auto& a) { a.y_head_stride = 64; }, "rows would overlap");
  refuse([](auto& a) { a.x_token_stride = 504; }, "matrices would overlap");
  refuse([](auto& a) { ++a.x; }, "aligned");
  refuse([](auto& a) { ++a.cos; }, "cos and sin must be aligned");
  refuse([](auto& a) { a.sin = nullptr; }, "null");
  refuse([](auto& a) { a.heads = -1; }, "must be positive");
  refuse([](auto& a) { a.pairs = 0x40000000; }, "pairs is too large");
  refuse([](auto& a) { a.y = reinterpret_cast<half_t*>(tables); }, "overlaps cos or sin");
  refuse([](auto& a) { a.y = memory + 8; }, "is not the input");
  refuse([](auto& a) { a.tokens = a.heads = 1 << 16, a.x_token_stride = a.y_token_stride = 1 << 23; },
         "split the tokens");
}

}  // namespace rows_test
