// SPDX-License-Identifier: MIT
#include <tilewright/jit/tensor.hpp>

#include "emulated.hpp"

namespace {

using tilewright::reduce_kind;

class JitTensor : public Emulated {};

TEST_F(JitTensor, PermutesShortAndLongDimensions) {
  constexpr index_t a = 3, b = 50, c = 70;  // x (a, b, c), y (c, a, b)
  auto x = array(a * b * c, 5), y = array(a * b * c);
  for (index_t i = 0; i < a * b * c; ++i) x[i] = half_t(float(i % 2039));
  x.memory.upload(x.host.data());
  jit::permute_problem p;
  p.args.x = {x.data(), {c, a, b}, {1, b * c, c}};
  p.args.y = {y.data(), {c, a, b}};
  const jit::kernel kernel = compiler->load(jit::permute(p));
  EXPECT_EQ(kernel.name(), "permute_unaligned_16");
  kernel(p.args);
  y.download();
  for (index_t i = 0; i < c; ++i)
    for (index_t j = 0; j < a; ++j)
      for (index_t k = 0; k < b; ++k) ASSERT_EQ(y.value((i * a + j) * b + k), x.value((j * b + k) * c + i));
  // Contiguous along one dimension in both: elements are moved one after another.
  p.args.x = {x.data(), {b, c}, {c, 1}}, p.args.y = {y.data(), {b, c}, {c, 1}};
  EXPECT_EQ(jit::permute(p)("gfx942").name, "permute_by_element_16");
  EXPECT_EQ(sentence_of([&] { kernel(p.args); }),
            "jit: permute_unaligned_16: both tensors are contiguous along one dimension: use map_tensor");
  p.args.y.lengths[0] = 49;
  EXPECT_EQ(sentence_of([&] { (void)jit::permute(p)("gfx942"); }), "jit: permute: the tensors have different lengths");
}

TEST_F(JitTensor, ComputesExpressions) {
  constexpr index_t rows = 7, cols = 33;
  auto x = array(rows * cols, 5), x2 = array(rows * cols, 7);
  auto y = array<float>(rows * cols);
  jit::elementwise_problem p{.result = jit::element::f32, .function = jit::expression("x > x2 ? x * x2 : 1 - x", 2)};
  p.args.x = {x.data(), {rows, cols}};
  p.args.x2 = {x2.data(), {rows, cols}};
  p.args.y = {y.data(), {rows, cols}};
  compiler->load(jit::elementwise(p))(p.args);
  y.download();
  for (index_t i = 0; i < rows * cols; ++i)
    ASSERT_EQ(y.value(i), x.value(i) > x2.value(i) ? x.value(i) * x2.value(i) : 1 - x.value(i)) << i;
  p.args.y.data = nullptr;  // known later
  EXPECT_EQ(jit::elementwise(p)("sm_90a").name, "elementwise_f16_to_f32_of_2");
  p.args.y = {y.data(), {rows, cols}, {0, 1}};
  EXPECT_EQ(sentence_of([&] { (void)jit::elementwise(p)("gfx942"); }),
            "jit: elementwise: the result's strides overlap: two elements would have one address");
}

TEST_F(JitTensor, ReducesWithASecondKernel) {
  constexpr index_t rows = 3, cols = 20011;
  auto x = array<bfloat16_t>(rows * cols, 5);
  auto y = array<float>(rows), variance = array<float>(rows);
  jit::reduce_problem p{.type = jit::element::bf16, .kind = reduce_kind::mean_variance};
  p.args.x = {x.data(), {rows, cols}};
  p.args.y = {y.data(), {rows, 1}};
  p.args.variance = variance.data();
  const long_index_t bytes = jit::workspace_bytes(p, compiler->target());
  ASSERT_GT(bytes, 0);
  const jit::buffer workspace = compiler->allocate(std::size_t(bytes));
  const jit::kernel kernel = compiler->load(jit::reduce(p));
  for (void* memory : {workspace.data(), static_cast<void*>(nullptr)}) {
    p.args.workspace = memory;
    y.memory.upload(std::vector<float>(rows).data());
    kernel(p.args);
    y.download(), variance.download();
    for (index_t r = 0; r < rows; ++r) {
      double mean = 0, squares = 0;
      for (index_t c = 0; c < cols; ++c) mean += x.value(r * cols + c) / cols;
      for (index_t c = 0; c < cols; ++c) squares += std::pow(x.value(r * cols + c) - mean, 2) / cols;
      ASSERT_NEAR(y.value(r), mean, 1e-5);
      ASSERT_NEAR(variance.value(r), squares, 1e-5);
    }
  }
  p.kind = reduce_kind::sum;
  EXPECT_EQ(sentence_of([&] { (void)jit::reduce(p)("sm_90a"); }),
            "jit: reduce: variance must be given for mean_variance, and only for it");
}

}  // namespace
