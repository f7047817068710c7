// SPDX-License-Identifier: MIT
// Tokens are routed to experts, multiplied and brought back; permute, elementwise and reduce.
#include <tilewright/ops.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "on_gpu.hpp"

namespace {

namespace tw = tilewright::ops;
using ops_test::on_gpu;
using tilewright::half_t;

double at(const on_gpu<half_t>& t, std::size_t i) { return double(float(t.data[i])); }

TEST(Routing, OfTokensToExpertsAndBack) {
  constexpr int tokens = 12, experts = 4, choices = 2, model = 24, hidden = 16, entries = tokens * choices;
  const on_gpu<half_t> x({tokens, model}, 1), weights({experts, model, hidden}, 2);
  const on_gpu<float> logits({tokens, experts}, 3);
  on_gpu<int> expert({tokens, choices}), ends({experts}), source({entries}), position({tokens, choices});
  on_gpu<float> share({tokens, choices});
  on_gpu<half_t> gathered({entries, model}), multiplied({entries, hidden}), y({tokens, hidden});
  tw::choose_experts(expert, share, logits);
  tw::order_by_expert(ends, source, position, expert);
  tw::rows_to_experts(gathered, x, position);
  tw::grouped_gemm(multiplied, gathered, weights, ends);
  tw::rows_from_experts(y, multiplied, position, share);
  y.download(), expert.download(), share.download(), ends.download();
  EXPECT_EQ(ends.data.back(), entries);
  for (std::size_t t = 0; t < tokens; ++t) {
    const float* const row = &logits.data[t * experts];
    EXPECT_EQ(row[expert.data[t * choices]], *std::max_element(row, row + experts));
    EXPECT_NEAR(share.data[t * choices] + share.data[t * choices + 1], 1, 1e-5);
    for (std::size_t j = 0; j < hidden; ++j) {
      double sum = 0;
      for (std::size_t c = 0; c < choices; ++c)
        for (std::size_t i = 0; i < model; ++i)
          sum += double(share.data[t * choices + c]) * at(x, t * model + i) *
                 at(weights, (std::size_t(expert.data[t * choices + c]) * model + i) * hidden + j);
      ASSERT_NEAR(at(y, t * hidden + j), sum, 2e-2) << t << ", " << j;
    }
  }
}

TEST(Map, MovesElementsAndReducesThem) {
  const on_gpu<half_t> x({3, 5, 7}, 1);
  on_gpu<half_t> y({3, 7, 5}), squares({3, 5, 7});
  on_gpu<float> means({1, 5, 1});
  tw::permute(y, tw::transposed(x));
  tw::elementwise(squares, x, "x * x2 + 1", x);
  tw::reduce(means, x, {.kind = tilewright::reduce_kind::mean});
  y.download(), squares.download(), means.download();
  for (std::size_t j = 0; j < 5; ++j) {
    double sum = 0;
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t k = 0; k < 7; ++k) {
        const double element = at(x, (i * 5 + j) * 7 + k);
        sum += element;
        ASSERT_EQ(at(y, (i * 7 + k) * 5 + j), element);
        ASSERT_NEAR(at(squares, (i * 5 + j) * 7 + k), element * element + 1, 2e-3);
      }
    EXPECT_NEAR(double(means.data[j]), sum / 21, 1e-3) << j;
  }
}
TEST(Tensors, AnExpressionThatDoesNotCompileIsAWrongCall) {
  const on_gpu<float> x({3}), y({3});
  try {
    tw::elementwise(y, x, "x * x2");
    FAIL() << "the expression was taken";
  } catch (const tw::operation_error& e) {
    EXPECT_EQ(e.kind, tw::fault_kind::wrong_call);
    EXPECT_EQ(std::string(e.what()),
              "elementwise: the expression 'x * x2' does not compile: use of undeclared identifier 'x2'");
  }
}

}  // namespace
