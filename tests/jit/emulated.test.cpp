// SPDX-License-Identifier: MIT
// Kernels that clang compiles here and the emulator runs: it takes the place of HIP's runtime.
#include "emulated.hpp"

#include <tilewright/jit/attention.hpp>
#include <tilewright/jit/gemm.hpp>

namespace {

TEST_F(Emulated, ProductsHaveConstantLengths) {
  const auto a = numbers(90 * 72, 5), b = numbers(72 * 40, 7);
  std::vector<half_t> c(90 * 40);
  const jit::buffer on_a = on_gpu(a), on_b = on_gpu(b), on_c = on_gpu(c),
                    workspace = compiler->allocate((1024 + 2 * 90 * 40) * 4);  // workspace_bytes
  jit::gemm_problem p;
  p.args = {.m = 90, .n = 40, .k = 72, .lda = 72, .ldb = 72, .ldc = 40, .split_k = 2};
  const jit::kernel kernel = compiler->load(jit::gemm(p));
  EXPECT_EQ(kernel.name(), "gemm_64x64_f16_ak_bk_to_f16_v8_split_90x40x72");
  tilewright::gemm_args args = p.args;
  args.a = on_a.data();
  args.b = on_b.data();
  args.c = on_c.data();
  EXPECT_NE(sentence_of([&] { kernel(args); }).find("split_k needs a workspace"), std::string::npos);
  args.workspace = workspace.data();
  kernel(args);
  on_c.download(c.data());
  for (std::size_t row = 0; row < 90; row += 7) {
    for (std::size_t col = 0; col < 40; ++col) {
      float sum = 0;
      for (std::size_t x = 0; x < 72; ++x) sum += float(a[row * 72 + x]) * float(b[col * 72 + x]);
      ASSERT_NEAR(float(c[row * 40 + col]), sum, 0.02f) << row << ", " << col;
    }
  }
  args.k = 64;
  EXPECT_EQ(sentence_of([&] { kernel(args); }), "jit: " + kernel.name() + ": the kernel was made for other lengths");
  args = p.args;
  args.a = static_cast<const char*>(on_a.data()) + 2;
  args.workspace = workspace.data();
  EXPECT_NE(sentence_of([&] { kernel(args); }).find("pointers must be multiples of 16 bytes"), std::string::npos);
}

TEST_F(Emulated, AttentionHasConstantLengths) {
  const auto q = numbers(40 * 32, 5), k = numbers(50 * 32, 7), v = numbers(50 * 32, 3);
  std::vector<half_t> o(q.size());
  const jit::buffer on_q = on_gpu(q), on_k = on_gpu(k), on_v = on_gpu(v), on_o = on_gpu(o);
  jit::attention_problem p{.head_dim = 32, .value_dim = 32};
  p.args.queries = 40;
  p.args.keys = 50;
  p.args.q_strides = p.args.k_strides = p.args.v_strides = p.args.o_strides = {.batch = 1600, .head = 1600, .row = 32};
  p.args.scale = 0.25f;
  const jit::kernel kernel = compiler->load(jit::attention(p));
  tilewright::attention_args args = p.args;
  args.q = on_q.data();
  args.k = on_k.data();
  args.v = on_v.data();
  args.o = on_o.data();
  kernel(args);
  on_o.download(o.data());
  for (std::size_t row = 0; row < 40; row += 3) {
    float sum = 0, weights = 0;
    for (std::size_t key = 0; key < 50; ++key) {
      float score = 0;
      for (std::size_t x = 0; x < 32; ++x) score += float(q[row * 32 + x]) * float(k[key * 32 + x]);
      const float weight = std::exp(0.25f * score);
      weights += weight;
      sum += weight * float(v[key * 32 + 5]);
    }
    EXPECT_NEAR(float(o[row * 32 + 5]), sum / weights, 5e-3f) << row;
  }
  args.scale = 1;
  EXPECT_NE(sentence_of([&] { kernel(args); }).find("made for another scale"), std::string::npos);
}

TEST_F(Emulated, KernelsThatFollowOneAnotherAllRun) {
  const auto step = [](int number, const std::string& rest) {
    return "struct step" + std::to_string(number) +
           " { using args_type = long long*; static constexpr int block_size = 64, lds_bytes = 0; " + rest +
           " static constexpr const char* check(args_type) { return nullptr; } "
           "static constexpr tw::exec::block_index grid(args_type) { return {1}; } "
           "TILEWRIGHT_HD void operator()(args_type x) const { if (tw::exec::thread_id() == 0) *x = 10 * *x + " +
           std::to_string(number) + "; } };\n";
  };
  jit::kernel_source source{
      .name = "steps",
      .code = step(3, "") + step(2, "using followed_by = step3;") + step(1, "using followed_by = step2;"),
      .kernel = "step1",
      .problem = "(long long*)nullptr",
      .uses = {"machine/exec/exec.hpp"}};
  const jit::buffer number = compiler->allocate(sizeof(long long));
  long long value = 7;
  number.upload(&value);
  compiler->load(source)(static_cast<long long*>(number.data()));
  number.download(&value);
  EXPECT_EQ(value, 7123);
  source.problem.clear();
  EXPECT_NE(sentence_of([&] {
              compiler->load(source)(static_cast<long long*>(number.data()), nullptr, {.x = 1});
            }).find("has followed_by"),
            std::string::npos);
}

TEST_F(Emulated, WrongLaunchesAreRefused) {
  const jit::kernel_source source{
      .name = "nothing",
      .code =
          "struct nothing { using args_type = long long; static constexpr int block_size = 64, "
          "lds_bytes = 0; static constexpr const char* check(long long) { return nullptr; } "
          "static constexpr tw::exec::block_index grid(long long) { return {1}; } "
          "TILEWRIGHT_HD void operator()(long long) const {} };",
      .kernel = "nothing",
      .uses = {"machine/exec/exec.hpp"}};
  const jit::kernel kernel = compiler->load(source);
  EXPECT_EQ(kernel.facts().block_size, 64);
  EXPECT_EQ(sentence_of([&] { kernel(1, nullptr, {.x = 1}); }), "jit: nothing takes arguments of 8 bytes, not of 4");
  EXPECT_EQ(sentence_of([&] { kernel(1ll); }),
            "jit: nothing was compiled for no problem in particular, so its launch needs a grid");
  kernel(1ll, nullptr, {.x = 3});

  jit::gemm_problem p;
  p.args = {.m = 8, .n = 8, .k = 8, .lda = 4, .ldb = 8, .ldc = 8};
  EXPECT_NE(sentence_of([&] { (void)compiler->load(jit::gemm(p)); }).find("lda is smaller than a row of A"),
            std::string::npos);
  EXPECT_EQ(sentence_of([&] {
              jit::compiler other({.target = "gfx1201", .cache = {.directory = folder}});
              (void)other.load(source);
            }),
            "jit: kernels for gfx1201 cannot be loaded: the GPU here is gfx942");
  jit::kernel_source wrong = source;
  wrong.code = "struct nothing { int x = y; };";
  EXPECT_EQ(sentence_of([&] { (void)compiler->load(wrong); }),
            "jit: clang++-22 could not compile nothing for gfx942: error: use of undeclared identifier 'y'");
}

}  // namespace
