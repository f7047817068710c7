// SPDX-License-Identifier: MIT
// Kernels that clang compiles here and the emulator runs: it takes the place of HIP's runtime.
#include "emulated.hpp"

#include <tilewright/jit/attention.hpp>
#include <tilewright/jit/gemm.hpp>
#include <tilewright/kernels/gemm/split_k.hpp>

namespace {

TEST_F(Emulated, ProductsHaveConstantLengths) {
  const auto a = numbers(90 * 72, 5), b = numbers(72 * 40, 7);
  std::vector<half_t> c(90 * 40);
  const jit::buffer on_a = on_gpu(a), on_b = on_gpu(b), on_c = on_gpu(c),
                    workspace = on_gpu(std::vector<float>(1024 + 2 * 90 * 40));  // workspace_bytes, zeros
  jit::gemm_problem p;
  p.args = {.m = 90, .n = 40, .k = 72, .lda = 72, .ldb = 72, .ldc = 40, .split_k = 2};
  const jit::kernel kernel = compiler->load(jit::gemm(p));
  EXPECT_EQ(kernel.name(), "gemm_deep_16x64x64_4_f16_ak_bk_to_f16_v8_split_90x40x72");
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

// Two tiles of 64 x 64 shared by three blocks.
TEST_F(Emulated, BlocksShareTiles) {
  jit::gemm_problem p;
  p.args = {.m = 65, .n = 40, .k = 136, .lda = 136, .ldb = 136, .ldc = 40, .split_k = 0};
  p.policy = "64x64, stream_k 3";
  const std::vector<jit::gemm_candidate> found = jit::rank_gemm(p, "gfx942");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].choice, p.policy);
  EXPECT_EQ(found[0].split_k, 3);
  EXPECT_EQ(found[0].workspace_bytes, 4 * (1024 + (3 + 2) * 64 * 64));
  const jit::kernel kernel = compiler->load(jit::gemm(p));
  EXPECT_EQ(kernel.name(), "gemm_64x64_f16_ak_bk_to_f16_v8_stream_k_65x40x136");
  const auto a = numbers(65 * 136, 5), b = numbers(40 * 136, 7);
  std::vector<half_t> c(65 * 40);
  const jit::buffer on_a = on_gpu(a), on_b = on_gpu(b), on_c = on_gpu(c),
                    workspace = on_gpu(std::vector<char>(std::size_t(found[0].workspace_bytes)));
  tilewright::gemm_args args = p.args;
  args.split_k = 3;
  args.a = on_a.data(), args.b = on_b.data(), args.c = on_c.data();
  EXPECT_NE(sentence_of([&] { kernel(args); }).find("split_k needs a workspace"), std::string::npos);
  args.workspace = workspace.data();
  kernel(args);
  on_c.download(c.data());
  for (std::size_t row = 0; row < 65; row += 4)
    for (std::size_t col = 0; col < 40; ++col) {
      float sum = 0;
      for (std::size_t x = 0; x < 136; ++x) sum += float(a[row * 136 + x]) * float(b[col * 136 + x]);
      ASSERT_NEAR(float(c[row * 40 + col]), sum, 0.03f) << row << ", " << col;
    }
  args.split_k = 2;
  EXPECT_NE(sentence_of([&] { kernel(args); }).find("made for other lengths"), std::string::npos);

  // 672 tiles of 128 x 128 on 304 compute units are best shared; a kernel for all lengths shares none.
  jit::gemm_problem large{.args = {.m = 2048, .n = 5376, .k = 2048, .lda = 2048, .ldb = 2048, .ldc = 5376}};
  large.args.split_k = 0;
  EXPECT_EQ(jit::rank_gemm(large, "gfx942").front().choice, "128x128, stream_k 304");
  large.for_all_lengths = true;
  for (const jit::gemm_candidate& for_all : jit::rank_gemm(large, "gfx942"))
    EXPECT_EQ(for_all.choice.find("stream_k"), std::string::npos);
}

/// The product of a problem with the kernel that was loaded: bias added, C doubled, the given number of split-K slices.
struct general_product {
  index_t m, n, k, splits;
};

TEST_F(Emulated, GemmKernelsForAllLengthsTakeThem) {
  const auto expect = [&](const jit::kernel& kernel, const general_product& g) {
    auto a = array(g.m * g.k, 5), b = array(g.n * g.k, 7), c = array(g.m * g.n, 3), bias = array(g.n, 11);
    auto before = c.host;
    tilewright::gemm_args args{.m = g.m, .n = g.n, .k = g.k, .lda = g.k, .ldb = g.k, .ldc = g.n, .split_k = g.splits};
    args.a = a.data(), args.b = b.data(), args.c = c.data(), args.bias = bias.data();
    args.beta = 2;
    const jit::buffer workspace = compiler->allocate(std::size_t(workspace_bytes(args)));
    args.workspace = workspace.data();
    kernel(args);
    c.download();
    for (index_t row = 0; row < g.m; row += 3)
      for (index_t col = 0; col < g.n; ++col) {
        double sum = bias.value(col) + 2 * double(float(before[std::size_t(row * g.n + col)]));
        for (index_t x = 0; x < g.k; ++x) sum += a.value(row * g.k + x) * b.value(col * g.k + x);
        ASSERT_NEAR(c.value(row * g.n + col), sum, 0.05) << g.m << "x" << g.n << "x" << g.k << " " << row << " " << col;
      }
  };
  jit::gemm_problem p;
  p.args = {.m = 90, .n = 40, .k = 272, .lda = 272, .ldb = 272, .ldc = 40, .split_k = 2};
  p.policy = "64x64";
  p.for_all_lengths = true;
  const jit::kernel splitting = compiler->load(jit::gemm(p));
  EXPECT_EQ(splitting.name(), "gemm_64x64_f16_ak_bk_to_f16_epilogue_v8_split");
  for (const general_product& g : {general_product{90, 40, 272, 2}, {17, 136, 72, 2}, {65, 72, 520, 5}})
    expect(splitting, g);
  p.args = {.m = 9, .n = 7, .k = 5, .lda = 5, .ldb = 5, .ldc = 7};
  const jit::kernel single = compiler->load(jit::gemm(p));
  EXPECT_EQ(single.name(), "gemm_64x64_f16_ak_bk_to_f16_epilogue_v1");
  for (const general_product& g : {general_product{9, 7, 5, 1}, {70, 65, 33, 1}}) expect(single, g);

  auto memory = array(4096);
  tilewright::gemm_args args{.m = 8, .n = 8, .k = 64, .lda = 64, .ldb = 64, .ldc = 8, .split_k = 2};
  args.a = memory.data(), args.b = memory.data() + 1024, args.c = memory.data() + 2048;
  EXPECT_NE(sentence_of([&] { single(args); }).find("not split along k"), std::string::npos);
  EXPECT_NE(sentence_of([&] { splitting(args); }).find("split_k is not positive, or larger"), std::string::npos);
  args.k = args.lda = args.ldb = 128;
  args.b = memory.data() + 1024;
  EXPECT_NE(sentence_of([&] { splitting(args); }).find("split_k needs a workspace"), std::string::npos);
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
              jit::compiler other({.target = "gfx1201"});
              (void)other.load(source);
            }),
            "jit: kernels for gfx1201 cannot be loaded: the GPU here is gfx942");
  jit::kernel_source wrong = source;
  wrong.code = "struct nothing { int x = y; };";
  EXPECT_EQ(sentence_of([&] { (void)compiler->load(wrong); }),
            "jit: clang++-22 could not compile nothing for gfx942: error: use of undeclared identifier 'y'");
}

}  // namespace
