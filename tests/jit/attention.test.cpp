// SPDX-License-Identifier: MIT
#include <tilewright/jit/attention.hpp>

#include "emulated.hpp"

namespace {

class JitAttention : public Emulated {};

constexpr index_t dim = 32;

TEST_F(JitAttention, GradientsOfOddLengths) {
  constexpr index_t queries = 37, keys = 51;
  constexpr float scale = 0.2f;
  auto q = array(queries * dim, 5), k = array(keys * dim, 7), v = array(keys * dim, 3), d_o = array(queries * dim, 4),
       d_q = array(queries * dim), d_k = array(keys * dim), d_v = array(keys * dim);
  // O and the log-sum-exp, P, and dP = dO V^T.
  std::vector<half_t> o_here(queries * dim);
  std::vector<float> lse_here(queries);
  std::vector<double> p(queries * keys), d_p(queries * keys), delta(queries);
  for (index_t i = 0; i < queries; ++i) {
    double sum = 0;
    for (index_t j = 0; j < keys; ++j) {
      double score = 0, of_p = 0;
      for (index_t x = 0; x < dim; ++x) {
        score += q.value(i * dim + x) * k.value(j * dim + x);
        of_p += d_o.value(i * dim + x) * v.value(j * dim + x);
      }
      d_p[std::size_t(i * keys + j)] = of_p;
      sum += p[std::size_t(i * keys + j)] = std::exp(scale * score);
    }
    lse_here[std::size_t(i)] = float(std::log(sum));
    for (index_t j = 0; j < keys; ++j) {
      p[std::size_t(i * keys + j)] /= sum;
      delta[std::size_t(i)] += p[std::size_t(i * keys + j)] * d_p[std::size_t(i * keys + j)];
    }
    for (index_t x = 0; x < dim; ++x) {
      double sum_of_values = 0;
      for (index_t j = 0; j < keys; ++j) sum_of_values += p[std::size_t(i * keys + j)] * v.value(j * dim + x);
      o_here[std::size_t(i * dim + x)] = half_t(float(sum_of_values));
    }
  }
  auto o = array_of(o_here);
  auto lse = array_of(lse_here);
  jit::attention_backward_problem problem{.head_dim = dim, .value_dim = dim};
  tilewright::attention_backward_args& args = problem.args;
  args.queries = queries, args.keys = keys, args.scale = scale;
  const tilewright::attention_strides dense{.batch = 64 * dim, .head = 64 * dim, .row = dim};
  for (auto* s : {&args.q_strides, &args.k_strides, &args.v_strides, &args.o_strides, &args.d_o_strides,
                  &args.d_q_strides, &args.d_k_strides, &args.d_v_strides})
    *s = dense;
  args.lse_strides = {.batch = queries, .head = queries, .row = 1};
  const jit::kernel kernel = compiler->load(jit::attention_backward(problem));
  EXPECT_EQ(kernel.name(), "attention_backward_f16_d32");
  const jit::buffer workspace = compiler->allocate(std::size_t(jit::workspace_bytes(problem, compiler->target())));
  args.q = q.data(), args.k = k.data(), args.v = v.data(), args.o = o.data(), args.lse = lse.data();
  args.d_o = d_o.data(), args.d_q = d_q.data(), args.d_k = d_k.data(), args.d_v = d_v.data();
  EXPECT_EQ(sentence_of([&] { kernel(args); }),
            "jit: attention_backward_f16_d32: the gradients need a workspace, of workspace_bytes(args)");
  args.workspace = workspace.data();
  kernel(args);
  d_q.download(), d_k.download(), d_v.download();
  const auto d_s = [&](index_t i, index_t j) {
    return p[std::size_t(i * keys + j)] * (d_p[std::size_t(i * keys + j)] - delta[std::size_t(i)]) * scale;
  };
  for (index_t x = 0; x < dim; x += 3) {
    for (index_t i = 0; i < queries; i += 4) {
      double wanted = 0;
      for (index_t j = 0; j < keys; ++j) wanted += d_s(i, j) * k.value(j * dim + x);
      ASSERT_NEAR(d_q.value(i * dim + x), wanted, 0.02) << i << ", " << x;
    }
    for (index_t j = 0; j < keys; j += 5) {
      double of_k = 0, of_v = 0;
      for (index_t i = 0; i < queries; ++i) {
        of_k += d_s(i, j) * q.value(i * dim + x);
        of_v += p[std::size_t(i * keys + j)] * d_o.value(i * dim + x);
      }
      ASSERT_NEAR(d_k.value(j * dim + x), of_k, 0.02) << j << ", " << x;
      ASSERT_NEAR(d_v.value(j * dim + x), of_v, 0.02) << j << ", " << x;
    }
  }
}

TEST_F(JitAttention, GradientsUseWgmmaWhereTheyCan) {
  jit::attention_backward_problem p;
  p.args.queries = p.args.keys = 100;
  p.args.heads = 2, p.args.kv_heads = 1;
  for (auto* s : {&p.args.q_strides, &p.args.k_strides, &p.args.v_strides, &p.args.o_strides, &p.args.d_o_strides,
                  &p.args.d_q_strides, &p.args.d_k_strides, &p.args.d_v_strides})
    *s = {.batch = 100 * 512, .head = 256, .row = 512};
  p.args.lse_strides = {.batch = 200, .head = 100, .row = 1};
  EXPECT_EQ(jit::attention_backward(p)("sm_90a").name, "attention_backward_hopper_f16_d128");
  EXPECT_EQ(jit::attention_backward(p)("sm_80").name, "attention_backward_f16_d128");
  EXPECT_GT(jit::workspace_bytes(p, "sm_90a"), jit::workspace_bytes(p, "gfx942") + 2 * 100 * 128 * 4);
  const unsigned bits[1]{};
  p.args.block_mask = {.queries = 128, .keys = 128, .bits = bits, .strides = {0, 0, 1}};
  const jit::kernel_source masked = jit::attention_backward(p)("sm_90a");
  EXPECT_EQ(masked.name, "attention_backward_hopper_f16_d128_masked");
  EXPECT_NE(masked.code.find("has_block_mask = true"), std::string::npos) << masked.code;
  EXPECT_NE(std::string(masked.host.check(&p.args)).find("a pointer is null"), std::string::npos);
  p.args.block_mask.bits = nullptr;
  EXPECT_NE(std::string(masked.host.check(&p.args)).find("block_mask.bits is null"), std::string::npos);
  p.value_dim = 32;
  EXPECT_EQ(jit::attention_backward(p)("sm_90a").name, "attention_backward_f16_d128_32");
  p.head_dim = 192;
  EXPECT_NE(jit::attention_backward(p)("sm_90a").code.find("attention_backward_policy<tw::arch::current"),
            std::string::npos);
  p.value_dim = 128;
  EXPECT_EQ(jit::attention_backward(p)("sm_90a").name, "attention_backward_hopper_f16_d192_128");
  p.args.block_mask.bits = bits;
  EXPECT_EQ(jit::attention_backward(p)("sm_90a").name, "attention_backward_f16_d192_128_masked");
  p.args.block_mask.bits = nullptr;
  EXPECT_NE(jit::attention_backward(p)("sm_90a").code.find("hopper_backward_policy"), std::string::npos);
  EXPECT_EQ(sentence_of([&] {
              p.head_dim = 40;
              (void)jit::attention_backward(p);
            }),
            "jit: attention_backward: head dimensions are multiples of 32 from 32 to 256, not 40");
}

TEST_F(JitAttention, KernelsWithBlockMasksServeAllLengths) {
  const unsigned bits[4]{};
  jit::attention_problem p{.head_dim = 64, .value_dim = 64};
  tilewright::attention_args& args = p.args;
  args.queries = args.keys = 300;
  for (auto* s : {&args.q_strides, &args.k_strides, &args.v_strides, &args.o_strides}) *s = {300 * 64, 300 * 64, 64};
  EXPECT_EQ(jit::attention(p)("sm_90a").name, "attention_hopper_f16_d64");
  EXPECT_EQ(jit::attention(p)("gfx942").name, "attention_f16_d64_300x300");
  args.block_mask = {.queries = 128, .keys = 64, .bits = bits, .strides = {0, 0, 1}};
  for (const char* target : {"sm_90a", "gfx942"}) {
    const jit::kernel_source source = jit::attention(p)(target);
    EXPECT_EQ(source.name, target[0] == 's' ? "attention_hopper_f16_d64_masked" : "attention_f16_d64_masked");
    EXPECT_NE(source.code.find("has_block_mask = true"), std::string::npos) << source.code;
    tilewright::attention_args launched = args;
    alignas(16) char memory[32];
    launched.q = launched.k = launched.v = memory, launched.o = memory + 16;
    EXPECT_EQ(source.host.check(&launched), nullptr);
    launched.block_mask.strides.row = 0;
    EXPECT_NE(std::string(source.host.check(&launched)).find("fewer words"), std::string::npos);
    launched.block_mask.bits = nullptr;
    EXPECT_NE(std::string(source.host.check(&launched)).find("block_mask.bits is null"), std::string::npos);
  }
}

TEST_F(JitAttention, DecodesPagesInTwoSplits) {
  constexpr index_t heads = 3, counts[] = {45, 20}, batch = 2, page = 16, pages = 5, most = 48;
  auto q = array(batch * heads * dim, 5), k = array(pages * page * dim, 7), v = array(pages * page * dim, 3),
       o = array(batch * heads * dim);
  auto key_counts = array_of<index_t>({counts[0], counts[1]}), table = array_of<index_t>({3, 0, 4, 2, 1, 0});
  jit::attention_decode_problem problem{.head_dim = dim, .value_dim = dim};
  tilewright::attention_decode_args& args = problem.args;
  args.batch = batch, args.heads = heads, args.kv_heads = 1, args.queries = 1, args.keys = most, args.scale = 0.2f;
  args.q_strides = args.o_strides = {.batch = heads * dim, .head = dim, .row = heads * dim};
  args.k_strides = args.v_strides = {.batch = page * dim, .head = dim, .row = dim};
  args.rows_per_page = page, args.table_stride = 3, args.splits = 2;
  args.key_counts = key_counts.data(), args.block_table = table.data();
  const jit::kernel kernel = compiler->load(jit::attention_decode(problem));
  const jit::buffer workspace = compiler->allocate(std::size_t(tilewright::workspace_bytes(args, dim)));
  args.q = q.data(), args.k = k.data(), args.v = v.data(), args.o = o.data(), args.workspace = workspace.data();
  for (const index_t splits : {2, 1}) {  // with the kernel that combines splits, and without
    args.splits = splits;
    kernel(args);
    o.download();
    for (index_t b = 0; b < batch; ++b)
      for (index_t h = 0; h < heads; ++h)
        for (index_t x = 0; x < dim; x += 7) {
          double sum = 0, weights = 0;
          for (index_t j = 0; j < counts[b]; ++j) {
            const index_t row = table[b * 3 + j / page] * page + j % page;
            double score = 0;
            for (index_t i = 0; i < dim; ++i) score += q.value((b * heads + h) * dim + i) * k.value(row * dim + i);
            weights += std::exp(0.2 * score);
            sum += std::exp(0.2 * score) * v.value(row * dim + x);
          }
          ASSERT_NEAR(o.value((b * heads + h) * dim + x), sum / weights, 5e-3) << splits << ": " << b << ", " << h;
        }
  }
  args.splits = 0;
  EXPECT_EQ(sentence_of([&] { kernel(args); }), "jit: attention_decode_f16_d32: splits must be 1 to 1024");
}

TEST_F(JitAttention, LatentDecodingUsesWgmmaWhereItCan) {
  jit::attention_decode_problem p{.head_dim = 576, .value_dim = 512, .is_latent = true};
  p.args.queries = p.args.keys = 16;
  p.args.heads = 128;
  for (auto* s : {&p.args.q_strides, &p.args.k_strides, &p.args.v_strides, &p.args.o_strides})
    *s = {.batch = 128 * 576 * 16, .head = 576, .row = 128 * 576};
  EXPECT_EQ(jit::attention_decode(p)("sm_90a").name, "attention_decode_latent_f16_d576_512");
  EXPECT_EQ(jit::rows_of_block(p, "sm_90a"), 64);
  EXPECT_EQ(jit::attention_decode(p)("gfx942").name, "attention_decode_f16_d576_512");
  EXPECT_EQ(jit::rows_of_block(p, "gfx942"), 16);
  const index_t row = 0;
  p.args.block_table = &row, p.args.table_stride = 16, p.args.rows_per_page = 1;
  EXPECT_EQ(jit::attention_decode(p)("sm_90a").name, "attention_decode_latent_f16_d576_512_tokens");
  EXPECT_NE(jit::attention_decode(p)("sm_90a").code.find("has_token_lists = true"), std::string::npos);
  EXPECT_EQ(jit::rows_of_block(p, "sm_90a"), 64);
  EXPECT_EQ(sentence_of([&] { (void)jit::attention_decode(p)("gfx942"); }),
            "jit: attention_decode: a table of rows (pages of 1 row) needs latent attention of 576 and 512 on sm_90a");
  p.args.block_table = nullptr, p.args.rows_per_page = 0;
  p.cache_type = jit::element::i8;
  EXPECT_EQ(jit::attention_decode(p)("sm_90a").name, "attention_decode_latent_f16_d576_512_cache_i8");
  EXPECT_NE(jit::attention_decode(p)("sm_90a").code.find("<tw::half_t, 576, 512, tw::int8_t>"), std::string::npos);
  EXPECT_EQ(jit::rows_of_block(p, "sm_90a"), 64);
  EXPECT_EQ(jit::attention_decode(p)("gfx942").name, "attention_decode_f16_d576_512_cache_i8");
  p.is_latent = false;
  EXPECT_EQ(sentence_of([&] { (void)jit::attention_decode(p); }),
            "jit: attention_decode: head dimensions are multiples of 32 from 32 to 256, or 384 or 512, not 576");
}

}  // namespace
