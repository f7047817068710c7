// SPDX-License-Identifier: MIT
#include <tilewright/jit/routing.hpp>

#include <algorithm>
#include <numeric>

#include "emulated.hpp"

namespace {

class JitRouting : public Emulated {};

TEST_F(JitRouting, TokensGoToTheirExpertsAndBack) {
  constexpr index_t tokens = 45, experts = 37, choices = 3, cols = 43, entries = tokens * choices;
  std::vector<float> logits(tokens * experts);
  for (index_t i = 0; i < tokens * experts; ++i) logits[std::size_t(i)] = float((i * 7919) % 1009) / 100;
  auto x = array_of(logits);
  auto expert = array<index_t>(entries), ends = array<index_t>(experts), source = array<index_t>(entries),
       position = array<index_t>(entries);
  auto weight = array<float>(entries);

  jit::choose_experts_problem choose;
  choose.args = {.x = x.data(),
                 .expert = expert.data(),
                 .weight = weight.data(),
                 .tokens = tokens,
                 .experts = experts,
                 .choices = choices,
                 .x_stride = experts};
  const jit::kernel chosen = compiler->load(jit::choose_experts(choose));
  EXPECT_EQ(chosen.name(), "choose_experts_f32_64_v1");
  chosen(choose.args);
  expert.download(), weight.download();
  for (index_t t = 0; t < tokens; ++t) {
    std::vector<index_t> order(experts);
    std::iota(order.begin(), order.end(), 0);
    const auto logit = [&](index_t e) { return logits[std::size_t(t * experts + e)]; };
    std::sort(order.begin(), order.end(),
              [&](index_t a, index_t b) { return logit(a) > logit(b) || (logit(a) == logit(b) && a < b); });
    double sum = 0;
    for (index_t i = 0; i < choices; ++i) sum += std::exp(double(logit(order[std::size_t(i)])));
    for (index_t i = 0; i < choices; ++i) {
      ASSERT_EQ(expert[t * choices + i], order[std::size_t(i)]) << t;
      ASSERT_NEAR(weight.value(t * choices + i), std::exp(double(logit(order[std::size_t(i)]))) / sum, 1e-5);
    }
  }

  jit::order_by_expert_problem order;
  order.args = {.expert = expert.data(),
                .ends = ends.data(),
                .source = source.data(),
                .position = position.data(),
                .entries = entries,
                .experts = experts};
  const jit::buffer counts = compiler->allocate(std::size_t(jit::workspace_bytes(order)));
  order.args.counts = static_cast<index_t*>(counts.data());
  compiler->load(jit::order_by_expert(order))(order.args);
  ends.download(), source.download(), position.download();
  index_t next = 0;
  for (index_t e = 0; e < experts; ++e) {
    for (index_t i = 0; i < entries; ++i)
      if (expert[i] == e) {
        ASSERT_EQ(source[next], i);
        ASSERT_EQ(position[i], next++);
      }
    ASSERT_EQ(ends[e], next);
  }

  auto of_tokens = array(tokens * cols, 5), at_places = array(entries * cols), back = array(tokens * cols);
  jit::expert_rows_problem scatter;
  scatter.args = {.x = of_tokens.data(),
                  .y = at_places.data(),
                  .position = position.data(),
                  .tokens = tokens,
                  .choices = choices,
                  .cols = cols,
                  .x_stride = cols,
                  .y_stride = cols};
  jit::expert_rows_problem combine = scatter;
  combine.kind = tilewright::expert_rows_kind::combine;
  combine.args.x = at_places.data(), combine.args.y = back.data(), combine.args.weight = weight.data();
  compiler->load(jit::expert_rows(scatter))(scatter.args);
  compiler->load(jit::expert_rows(combine))(combine.args);
  at_places.download(), back.download();
  for (index_t i = 0; i < entries; ++i)
    for (index_t c = 0; c < cols; ++c)
      ASSERT_EQ(at_places.value(position[i] * cols + c), of_tokens.value(i / choices * cols + c));
  for (index_t i = 0; i < tokens * cols; ++i)  // weights add up to 1
    ASSERT_NEAR(back.value(i), of_tokens.value(i), 2e-3) << i;
}

TEST_F(JitRouting, KernelsFollowTheProblem) {
  jit::choose_experts_problem p;
  p.args = {.tokens = 1000, .experts = 256, .choices = 8, .x_stride = 256};
  EXPECT_EQ(jit::choose_experts(p)("sm_90a").name, "choose_experts_f32_256_v4");
  p.args.choices = 100;
  EXPECT_EQ(jit::choose_experts(p)("sm_90a").name, "choose_experts_f32_256_v4_128");
  p.args.choices = 300;
  EXPECT_EQ(sentence_of([&] { (void)jit::choose_experts(p)("sm_90a"); }),
            "jit: choose_experts: choices must be positive, and at most the experts");
  p.args.choices = 8, p.args.score = tilewright::expert_score::sigmoid;
  EXPECT_EQ(jit::choose_experts(p)("sm_90a").name, "choose_experts_by_score_f32_256");
  p.args.x_stride = 257, p.args.shared = 9;  // it takes rows of any alignment
  EXPECT_EQ(jit::choose_experts(p)("sm_90a").name, "choose_experts_by_score_f32_256_32");
  p.args.groups = 3;
  EXPECT_EQ(sentence_of([&] { (void)jit::choose_experts(p)("sm_90a"); }),
            "jit: choose_experts: groups must divide the experts");
  jit::order_by_expert_problem order;
  order.args.entries = 10, order.args.experts = 4000;
  EXPECT_EQ(jit::order_by_expert(order)("sm_90a").name, "order_by_expert_4096");
  EXPECT_EQ(sentence_of([&] { (void)jit::order_by_expert(order)("gfx942"); }),
            "jit: order_by_expert: more than 2048 experts need more LDS than a block of gfx942 has");
  jit::expert_rows_problem rows;
  rows.args = {.tokens = 10, .choices = 2, .cols = 4096, .x_stride = 4096, .y_stride = 4096};
  EXPECT_EQ(jit::expert_rows(rows)("sm_90a").kernel,
            "tw::expert_rows<tw::arch::current, tw::half_t, tw::row_tile{512, 512, 1, 8, 1, false, 0}, "
            "tw::expert_rows_kind(0)>");
}

}  // namespace
