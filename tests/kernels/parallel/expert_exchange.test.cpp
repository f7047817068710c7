// SPDX-License-Identifier: MIT
// Rows of tokens to the ranks of their experts and back on the CPU emulator, with 1 to 8 ranks, call after call.
#include <tilewright/kernels/parallel/expert_exchange.hpp>

#include "../explored.hpp"

#include <gtest/gtest.h>

#include <tilewright/kernels/parallel/emulated_rank.hpp>
#include <tilewright/kernels/routing/choose_experts.hpp>
#include <tilewright/kernels/routing/expert_rows.hpp>
#include <tilewright/kernels/routing/order_by_expert.hpp>

#include <random>
#include <string>
#include <vector>

namespace tilewright::parallel {
namespace {

struct exchange_problem {
  index_t ranks, tokens, choices, experts_of_rank, cols;
  std::uint64_t seed = 1;
  int late = -1;
  index_t calls = 2;
  index_t blocks = 2;
};

/// What an expert makes of a row.
float expert_of(index_t expert, float x) { return x * float(expert + 1) + float(expert % 3); }

/// A rank's tokens, and its layer: y = the weighted sum of its tokens' experts, which other ranks have.
struct rank_layer {
  using T = float;
  using combine = expert_rows<arch::sm90, T, row_tile{64, 64, 1, 4}, expert_rows_kind::combine>;
  exchange_problem p;
  emulated_rank self;
  index_t experts, entries, slots;
  std::vector<T> x, logits, y, results;
  std::vector<index_t> expert, ends, source, position, counts;
  std::vector<float> weight;
  expert_exchange<emulated_rank> exchange;

  rank_layer(const exchange_problem& problem, emulated_ranks& ranks, index_t rank)
      : p(problem),
        self(ranks, rank),
        experts(p.ranks * p.experts_of_rank),
        entries(p.tokens * p.choices),
        slots(p.tokens * std::min(p.choices, p.experts_of_rank)),
        x(std::size_t(p.tokens * p.cols)),
        logits(std::size_t(p.tokens * experts)),
        y(x.size()),
        results(std::size_t(p.ranks * slots * p.cols)),
        expert(std::size_t(entries)),
        ends(std::size_t(experts)),
        source(expert.size()),
        position(expert.size()),
        counts(std::size_t(order_by_expert<arch::sm90, 256>::workspace_rows(entries) * experts)),
        weight(expert.size()),
        exchange(self, args()) {}
  expert_exchange_args args() {
    expert_exchange_args a;
    a.x = x.data(), a.expert = expert.data(), a.source = source.data(), a.ends = ends.data();
    a.results = results.data();
    a.tokens = p.tokens, a.choices = p.choices, a.experts_of_rank = p.experts_of_rank, a.slots = slots;
    a.row_bytes = p.cols * 4, a.x_stride = a.results_stride = a.row_bytes;
    return a;
  }
  void fill(index_t call) {
    std::mt19937 random(unsigned(100 * call + self.self().rank + 1));
    for (T& v : x) v = float(int(random() % 9) - 4);
    for (std::size_t i = 0; i < logits.size(); ++i)
      logits[i] = float(random() % 64) / 16 + (index_t(i) % experts == call ? 3.0f : 0.0f);
    if (call == 1)  // a token that chooses no expert
      for (index_t e = 0; e < experts; ++e) logits[std::size_t(e)] = __builtin_nanf("");
    std::fill(results.begin(), results.end(), __builtin_nanf(""));
  }
  void run(std::vector<std::string>& wrong) {
    const launch_options one{.workers = 1};
    launch<choose_experts<arch::sm90, T, 32, 1>>(
        {logits.data(), expert.data(), weight.data(), p.tokens, experts, p.choices, experts}, one);
    launch<order_by_expert<arch::sm90, 256>>({expert.data(), ends.data(), source.data(), position.data(),
                                              counts.data(), entries, experts},
                                             one);
    exchange.send(0);
    const auto* const rows = static_cast<const T*>(exchange.received());
    const index_t first = self.self().rank * p.experts_of_rank;
    for (index_t i = 0; i < p.ranks * slots; ++i) {
      const index_t e = exchange.expert()[i];
      for (index_t c = 0; e >= 0 && c < p.cols; ++c)
        results[std::size_t(i * p.cols + c)] = expert_of(first + e, rows[i * p.cols + c]);
    }
    exchange.send_back(0);
    launch<combine>({static_cast<const T*>(exchange.returned()), y.data(), position.data(), weight.data(), p.tokens,
                     p.choices, p.cols, p.cols, p.cols},
                    one);
    self.finish();
    wrong[std::size_t(self.self().rank)] += first_wrong();
  }
  std::string first_wrong() const {
    for (index_t t = 0; t < p.tokens; ++t)
      for (index_t c = 0; c < p.cols; ++c) {
        double wanted = 0;
        for (index_t i = t * p.choices; i < (t + 1) * p.choices; ++i)
          if (const index_t e = expert[std::size_t(i)]; e >= 0)
            wanted += double(weight[std::size_t(i)]) * double(expert_of(e, x[std::size_t(t * p.cols + c)]));
        const double is = double(y[std::size_t(t * p.cols + c)]);
        if (!(std::abs(is - wanted) < 1e-3))
          return "y(" + std::to_string(t) + ", " + std::to_string(c) + ") is " + std::to_string(is) + ", not " +
                 std::to_string(wanted) + "; ";
      }
    return {};
  }
};

void expect_exchanged(const exchange_problem& p) {
  emulated_ranks ranks(p.ranks, p.seed);
  ranks.blocks = p.blocks;
  std::vector<std::string> wrong(std::size_t(p.ranks));
  ranks.group.run([&](int rank) {
    rank_layer layer(p, ranks, rank);
    for (index_t call = 0; call < p.calls; ++call) {
      layer.fill(call);
      if (rank == p.late) ranks.group.sleep(rank);
      layer.run(wrong);
    }
  });
  for (const std::string& w : wrong) EXPECT_EQ(w, "");
}

TEST(ExpertExchange, RowsGoToTheirExpertsAndBack) {
  expect_exchanged({.ranks = 1, .tokens = 3, .choices = 2, .experts_of_rank = 4, .cols = 8});
  expect_exchanged({.ranks = 2, .tokens = 5, .choices = 2, .experts_of_rank = 3, .cols = 12, .late = 1});
  expect_exchanged({.ranks = 3, .tokens = 4, .choices = 3, .experts_of_rank = 1, .cols = 4, .late = 0});
  expect_exchanged({.ranks = 4, .tokens = 7, .choices = 4, .experts_of_rank = 2, .cols = 140, .seed = 3});
  expect_exchanged({.ranks = 8, .tokens = 3, .choices = 2, .experts_of_rank = 2, .cols = 8, .late = 5});
}
TEST(ExpertExchange, PassesInExploredSchedules) {
  testing_schedules::expect_in_explored_schedules([] {
    expect_exchanged({.ranks = 2, .tokens = 2, .choices = 2, .experts_of_rank = 2, .cols = 4, .blocks = 1});
  });
}
TEST(ExpertExchange, RefusesWhatItCannotSend) {
  static float rows[64];
  static index_t numbers[64];
  static unsigned status;
  expert_exchange_args right;
  right.x = right.results = rows, right.expert = right.source = right.ends = numbers;
  right.tokens = 4, right.choices = 2, right.experts_of_rank = 3, right.slots = 8;
  right.row_bytes = 16, right.x_stride = right.results_stride = 16, right.self = {0, 2}, right.wait.status = &status;
  EXPECT_EQ(send_expert_rows::check(right), nullptr);
  const auto refusal = [&](auto change) -> std::string {
    expert_exchange_args a = right;
    change(a);
    const char* const why = send_expert_rows::check(a);
    return why ? why : "";
  };
  EXPECT_EQ(refusal([](auto& a) { a.self.ranks = 9; }), "the rank must be one of at most 8 ranks");
  EXPECT_EQ(refusal([](auto& a) { a.slots = 7; }),
            "slots must be tokens times the choices that may be one rank's, of the rank with the most tokens");
  EXPECT_EQ(refusal([](auto& a) { a.row_bytes = 8; }), "rows and their strides must be multiples of 16 bytes");
  EXPECT_EQ(refusal([](auto& a) { a.row_bytes = 32; }), "a stride is smaller than a row");
  EXPECT_EQ(refusal([](auto& a) { a.ends = nullptr; }), "a pointer is null");
  EXPECT_EQ(refusal([](auto& a) { a.x = reinterpret_cast<char*>(rows) + 4; }), "rows must start at multiples of 16 bytes");
}

}  // namespace
}  // namespace tilewright::parallel
