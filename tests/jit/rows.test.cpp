// SPDX-License-Identifier: MIT
#include <tilewright/jit/rows.hpp>

#include <algorithm>

#include "emulated.hpp"

namespace {

using tilewright::cross_entropy_kind;
using tilewright::fp8_fnuz_t;
using tilewright::norm_kind;
using tilewright::scale_kind;

class JitRows : public Emulated {};

TEST_F(JitRows, SoftmaxOfUnalignedRows) {
  constexpr index_t rows = 5, cols = 301, stride = 303;
  auto x = array(rows * stride, 5), y = array(rows * cols);
  jit::softmax_problem p;
  p.args = {.x = x.data(), .y = y.data(), .rows = rows, .cols = cols, .x_stride = stride, .y_stride = cols};
  const jit::kernel kernel = compiler->load(jit::softmax(p));
  kernel(p.args);
  EXPECT_EQ(kernel.name(), "softmax_f16_1040_unaligned");
  y.download();
  for (index_t r = 0; r < rows; ++r) {
    double sum = 0;
    for (index_t c = 0; c < cols; ++c) sum += std::exp(x.value(r * stride + c));
    for (index_t c = 0; c < cols; ++c)
      ASSERT_NEAR(y.value(r * cols + c), std::exp(x.value(r * stride + c)) / sum, 1e-5) << r << ", " << c;
  }
  // The same kernel serves other lengths, and refuses what no kernel takes.
  jit::softmax_problem other = p;
  other.args.x = nullptr, other.args.y = nullptr;
  other.args.rows = 77, other.args.cols = 299;
  EXPECT_EQ(jit::softmax(other)("gfx942").kernel, jit::softmax(p)("gfx942").kernel);
  p.args.y_stride = 300;
  EXPECT_EQ(sentence_of([&] { kernel(p.args); }),
            "jit: softmax_f16_1040_unaligned: a row stride is smaller than the row: rows would overlap");
  EXPECT_EQ(sentence_of([&] { (void)jit::softmax(p)("gfx942"); }),
            "jit: softmax_f16: a row stride is smaller than the row: rows would overlap");
  EXPECT_EQ(sentence_of([] { (void)jit::softmax({.type = jit::element::i8}); }),
            "jit: softmax: the elements are f16, bf16 or f32, not i8");
}

TEST_F(JitRows, RequestsKnowAlignmentBeforeMemory) {
  jit::softmax_problem p{.type = jit::element::f32, .kind = tilewright::softmax_kind::log_softmax};
  p.args = {.rows = 3, .cols = 4000, .x_stride = 4000, .y_stride = 4000};
  EXPECT_EQ(jit::softmax(p)("sm_90a").name, "log_softmax_f32_4096");
  p.args.cols = 3999;
  EXPECT_EQ(jit::softmax(p)("sm_90a").name, "log_softmax_f32_4104_unaligned");
  p.args.cols = 131072, p.args.x_stride = p.args.y_stride = 131072;  // clusters on Hopper, two reads on gfx942
  EXPECT_EQ(jit::softmax(p)("sm_90a").kernel,
            "tw::softmax<tw::arch::current, float, tw::row_tile{512, 512, 4, 4, 4, false, 3}, tw::softmax_kind(1)>");
  EXPECT_EQ(jit::softmax(p)("gfx942").kernel,
            "tw::softmax<tw::arch::current, float, tw::row_tile{512, 512, 4, 4, 1, false, 0}, tw::softmax_kind(1)>");
}

TEST_F(JitRows, LayerNormWithAResidualAndItsGradient) {
  constexpr index_t rows = 7, cols = 333;
  auto x = array<float>(rows * cols, 5), residual = array<float>(rows * cols, 7), sum = array<float>(rows * cols),
       y = array<float>(rows * cols), weight = array<float>(cols, 3), bias = array<float>(cols, 11),
       mean = array<float>(rows), rstd = array<float>(rows);
  jit::norm_problem p{.type = jit::element::f32, .result = jit::element::f32, .kind = norm_kind::layer_norm};
  p.args = {.x = x.data(),
            .residual = residual.data(),
            .sum = sum.data(),
            .weight = weight.data(),
            .bias = bias.data(),
            .y = y.data(),
            .mean = mean.data(),
            .rstd = rstd.data(),
            .rows = rows,
            .cols = cols,
            .x_stride = cols,
            .residual_stride = cols,
            .sum_stride = cols,
            .y_stride = cols};
  compiler->load(jit::row_norm(p))(p.args);
  auto dy = array<float>(rows * cols, 4), dx = array<float>(rows * cols), dweight = array<float>(cols),
       dbias = array<float>(cols);
  jit::norm_gradient_problem g{.type = jit::element::f32, .kind = norm_kind::layer_norm};
  g.args = {.dy = dy.data(),
            .s = sum.data(),
            .weight = weight.data(),
            .mean = mean.data(),
            .rstd = rstd.data(),
            .dx = dx.data(),
            .dweight = dweight.data(),
            .dbias = dbias.data(),
            .rows = rows,
            .cols = cols,
            .dy_stride = cols,
            .s_stride = cols,
            .dx_stride = cols};
  const jit::kernel gradient = compiler->load(jit::norm_gradient(g));
  EXPECT_GE(jit::choose_num_partials(g, gradient), 1);
  g.args.num_partials = 3;
  const jit::buffer partials = compiler->allocate(std::size_t(2 * 3 * g.args.partials_stride()) * 4);
  g.args.partials = static_cast<float*>(partials.data());
  gradient(g.args);
  for (auto* from : {&sum, &y, &mean, &rstd, &dx, &dweight, &dbias}) from->download();
  std::vector<double> dw(cols), db(cols);
  for (index_t r = 0; r < rows; ++r) {
    double m = 0, v = 0, of_g = 0, of_gx = 0;
    const auto s = [&](index_t c) { return x.value(r * cols + c) + residual.value(r * cols + c); };
    for (index_t c = 0; c < cols; ++c) m += s(c) / cols;
    for (index_t c = 0; c < cols; ++c) v += (s(c) - m) * (s(c) - m) / cols;
    const double factor = 1 / std::sqrt(v + 1e-5);
    const auto normalised = [&](index_t c) { return (s(c) - m) * factor; };
    const auto g_of = [&](index_t c) { return dy.value(r * cols + c) * weight.value(c); };
    for (index_t c = 0; c < cols; ++c) {
      of_g += g_of(c) / cols, of_gx += g_of(c) * normalised(c) / cols;
      dw[std::size_t(c)] += dy.value(r * cols + c) * normalised(c), db[std::size_t(c)] += dy.value(r * cols + c);
    }
    ASSERT_NEAR(mean.value(r), m, 1e-5);
    for (index_t c = 0; c < cols; ++c) {
      ASSERT_NEAR(sum.value(r * cols + c), s(c), 1e-6);
      ASSERT_NEAR(y.value(r * cols + c), normalised(c) * weight.value(c) + bias.value(c), 2e-5) << r << ", " << c;
      ASSERT_NEAR(dx.value(r * cols + c), factor * (g_of(c) - of_g - normalised(c) * of_gx), 2e-5) << r << ", " << c;
    }
  }
  for (index_t c = 0; c < cols; ++c) {
    ASSERT_NEAR(dweight.value(c), dw[std::size_t(c)], 1e-4) << c;
    ASSERT_NEAR(dbias.value(c), db[std::size_t(c)], 1e-4) << c;
  }
}

class JitQuantisedRows : public Emulated {
 protected:
  template <class Result>
  void expect_rms_norm();
};
template <class Result>
void JitQuantisedRows::expect_rms_norm() {
  constexpr index_t rows = 3, cols = 264;
  auto x = array<bfloat16_t>(rows * cols, 5), weight = array<bfloat16_t>(cols, 3);
  auto y = array<Result>(rows * cols);
  auto scale = array<float>(rows);
  jit::norm_problem p{.type = jit::element::bf16, .result = jit::element::fp8, .scales = scale_kind::per_row};
  p.args = {.x = x.data(),
            .weight = weight.data(),
            .y = y.data(),
            .scale = scale.data(),
            .rows = rows,
            .cols = cols,
            .x_stride = cols,
            .y_stride = cols};
  compiler->load(jit::row_norm(p))(p.args);
  y.download(), scale.download();
  for (index_t r = 0; r < rows; ++r) {
    double squares = 0;
    for (index_t c = 0; c < cols; ++c) squares += x.value(r * cols + c) * x.value(r * cols + c) / cols;
    for (index_t c = 0; c < cols; ++c) {
      const double wanted = x.value(r * cols + c) / std::sqrt(squares + 1e-5) * weight.value(c);
      ASSERT_NEAR(y.value(r * cols + c) * scale.value(r), wanted, 0.04 * std::abs(wanted) + 0.01) << r << ", " << c;
    }
  }
}

TEST_F(JitQuantisedRows, RmsNormQuantisesByRow) {
  compiler->target() == "gfx942" ? expect_rms_norm<fp8_fnuz_t>() : expect_rms_norm<tilewright::fp8_ocp_t>();
}

TEST_F(JitRows, QuantisesAFunctionPer128) {
  constexpr index_t rows = 3, cols = 205, groups = 2;
  auto x = array(rows * cols, 5), x2 = array(rows * cols, 7);
  auto y = array<tilewright::int8_t>(rows * cols);
  auto scale = array<float>(rows * groups);
  jit::quantise_problem p{
      .result = jit::element::i8, .scales = scale_kind::per_128, .function = jit::expression("x * x2 - x", 2)};
  p.args = {.x = x.data(),
            .x2 = x2.data(),
            .y = y.data(),
            .scale = scale.data(),
            .rows = rows,
            .cols = cols,
            .x_stride = cols,
            .x2_stride = cols,
            .y_stride = cols,
            .scale_row_stride = groups,
            .scale_group_stride = 1};
  compiler->load(jit::quantise_rows(p))(p.args);
  y.download(), scale.download();
  for (index_t r = 0; r < rows; ++r) {
    for (index_t c = 0; c < cols; ++c) {
      const double a = x.value(r * cols + c), s = scale.value(r * groups + c / 128);
      ASSERT_NEAR(double(y[r * cols + c]) * s, a * x2.value(r * cols + c) - a, 0.51 * s) << r << ", " << c;
    }
  }
}

TEST_F(JitRows, RotaryOfOddHeads) {
  constexpr index_t tokens = 3, heads = 2, pairs = 5, dim = 11;
  auto x = array<float>(tokens * heads * dim, 5), y = array<float>(tokens * heads * dim),
       cos = array<float>(tokens * pairs, 3), sin = array<float>(tokens * pairs, 4);
  jit::rotary_problem p{.type = jit::element::f32, .kind = tilewright::rotary_kind::interleaved};
  p.args = {.x = x.data(),
            .y = y.data(),
            .cos = cos.data(),
            .sin = sin.data(),
            .tokens = tokens,
            .heads = heads,
            .pairs = pairs,
            .max_position = tokens,
            .x_token_stride = heads * dim,
            .x_head_stride = dim,
            .y_token_stride = heads * dim,
            .y_head_stride = dim};
  compiler->load(jit::rotary(p))(p.args);
  y.download();
  for (index_t t = 0; t < tokens; ++t)
    for (index_t h = 0; h < heads; ++h)
      for (index_t i = 0; i < pairs; ++i) {
        const index_t at = (t * heads + h) * dim + 2 * i;
        const double c = cos.value(t * pairs + i), s = sin.value(t * pairs + i);
        ASSERT_NEAR(y.value(at), x.value(at) * c - x.value(at + 1) * s, 1e-5);
        ASSERT_NEAR(y.value(at + 1), x.value(at + 1) * c + x.value(at) * s, 1e-5);
      }
  p.type = jit::element::bf16;
  p.args.pairs = 64, p.args.x_head_stride = p.args.y_head_stride = 128;
  p.args.x_token_stride = p.args.y_token_stride = 256;
  EXPECT_EQ(jit::rotary(p)("sm_90a").name, "rotary_interleaved_bf16_v8");
}

TEST_F(JitRows, CrossEntropyAndItsGradient) {
  constexpr index_t rows = 4, cols = 517;
  auto x = array<bfloat16_t>(rows * cols, 5), gradient = array<bfloat16_t>(rows * cols);
  auto target = array_of<long_index_t>({3, -1, 516, 70});
  auto loss = array<float>(rows);
  jit::cross_entropy_problem p{
      .type = jit::element::bf16, .kind = cross_entropy_kind::loss_and_gradient, .has_long_targets = true};
  p.args = {.x = x.data(),
            .target = target.data(),
            .loss = loss.data(),
            .gradient = gradient.data(),
            .scale = 0.5f,
            .rows = rows,
            .cols = cols,
            .x_stride = cols,
            .gradient_stride = cols};
  compiler->load(jit::cross_entropy(p))(p.args);
  loss.download(), gradient.download();
  for (index_t r = 0; r < rows; ++r) {
    double sum = 0;
    const index_t wanted = index_t(target[r]);
    for (index_t c = 0; c < cols; ++c) sum += std::exp(x.value(r * cols + c));
    ASSERT_NEAR(loss.value(r), wanted < 0 ? 0 : std::log(sum) - x.value(r * cols + wanted), 1e-4);
    for (index_t c = 0; c < cols; ++c) {
      const double g = wanted < 0 ? 0 : 0.5 * (std::exp(x.value(r * cols + c)) / sum - (c == wanted));
      ASSERT_NEAR(gradient.value(r * cols + c), g, 0.005 * std::abs(g) + 1e-7) << r << ", " << c;
    }
  }
}

}  // namespace
