// SPDX-License-Identifier: MIT
// Sets of kernels have one for every problem, whatever its lengths.
#include "sets.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <tilewright/jit/attention.hpp>
#include <tilewright/jit/given_later.hpp>
#include <tilewright/jit/grouped.hpp>
#include <tilewright/jit/routing.hpp>
#include <tilewright/jit/rows.hpp>
#include <tilewright/jit/tensor.hpp>

#include "shapes.hpp"

namespace {

namespace jit = tilewright::jit;
using tilewright::index_t;
using tilewright::long_index_t;

const std::vector<std::string> targets{"gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201", "sm_80", "sm_90a"};

/// The kernels of a set on a target.
class set_of_kernels {
 public:
  set_of_kernels(const std::string& entry, const std::string& target) : target_(target) {
    for (const jit::kernel_source& s : pack::sources_of(pack::read_shapes(R"({"sets": [)" + entry + "]}", ""), target))
      texts_.insert(text_of(s));
  }
  bool has(const jit::kernel_request& request) const { return texts_.contains(text_of(request(target_))); }
  std::size_t size() const { return texts_.size(); }

 private:
  static std::string text_of(const jit::kernel_source& s) { return s.code + s.kernel + s.problem; }
  std::string target_;
  std::set<std::string> texts_;
};

std::mt19937 generator(7);
/// From 1 to `most`, small ones as often as large ones, every second one a multiple of 8.
index_t length(double most) {
  const auto x = index_t(std::exp(std::uniform_real_distribution<double>(0, std::log(most))(generator)));
  return generator() % 2 ? x : (x + 7) / 8 * 8;
}

TEST(Sets, HaveAKernelForEachGemm) {
  for (const std::string& target : targets) {
    const set_of_kernels set(R"({"operation": "gemm", "orders": ["k-k", "k-mn"]})", target);
    for (int i = 0; i < 60; ++i) {
      jit::gemm_problem p;
      p.b_along_k = i % 2 == 0;
      p.has_gate = i % 5 == 0;
      p.for_all_lengths = true;
      tilewright::gemm_args& g = p.args;
      g.m = length(5000), g.n = length(20000), g.k = length(9000);
      g.lda = g.k + (i % 7 == 0), g.ldb = p.b_along_k ? g.k : g.n, g.ldc = g.n;
      g.split_k = 0;
      g.workspace = jit::given_later(4);
      if (p.has_gate) g.product_stride_b = long_index_t(g.n) * g.k;
      if (i % 3 == 0 && !p.has_gate) g.bias = jit::given_later(5);
      bool found = false;
      for (const jit::gemm_candidate& c : jit::rank_gemm(p, target)) {
        p.policy = c.choice;
        found = found || set.has(jit::gemm(p));
      }
      EXPECT_TRUE(found) << target << " " << g.m << " " << g.n << " " << g.k << (p.has_gate ? " gate" : "");
    }
  }
}

TEST(Sets, HaveAHopperKernelForEachAlignedGemm) {
  const set_of_kernels set(R"({"operation": "gemm"})", "sm_90a");
  for (int i = 0; i < 40; ++i) {
    jit::gemm_problem p{.has_gate = i % 4 == 0, .for_all_lengths = true};
    tilewright::gemm_args& g = p.args;
    g.m = length(9000), g.n = length(2000) * 8, g.k = length(1000) * 8;
    g.lda = g.ldb = g.k, g.ldc = g.n, g.split_k = 0;
    g.workspace = jit::given_later(4);
    if (p.has_gate) g.product_stride_b = long_index_t(g.n) * g.k;
    const jit::gemm_candidate first = jit::rank_gemm(p, "sm_90a").front();
    p.policy = first.choice;  // the set has what a call prefers
    EXPECT_TRUE(set.has(jit::gemm(p)) && first.kernel.starts_with("gemm_hopper_"))
        << first.kernel << " for " << g.m << " " << g.n << " " << g.k;
  }
}

TEST(Sets, HaveAKernelForEachGroupedGemm) {
  for (const std::string& target : targets) {
    const set_of_kernels set(R"({"operation": "grouped_gemm", "type": "bf16"})", target);
    for (int i = 0; i < 60; ++i) {
      jit::grouped_problem p{.type = jit::element::bf16, .result = jit::element::bf16, .for_all_lengths = true};
      p.args.m = length(60000), p.args.n = length(9000), p.args.k = length(9000);
      p.args.lda = p.args.ldb = p.args.k, p.args.ldc = p.args.n;
      p.args.groups = length(256);
      p.args.batch_stride_b = long_index_t(p.args.n) * p.args.k;
      p.args.ends = static_cast<const index_t*>(jit::given_later(5));
      p.args.workspace = jit::given_later(6);
      EXPECT_TRUE(set.has(jit::grouped_gemm(p))) << target << " " << jit::grouped_gemm(p)(target).name << " "
                                                 << p.args.m << " " << p.args.n << " " << p.args.k;
    }
  }
}

TEST(Sets, HaveTheKernelsOfEachExpertLayer) {
  for (const std::string& target : {std::string("gfx942"), std::string("sm_90a")}) {
    const set_of_kernels set(R"({"operation": "moe", "type": "bf16", "experts": [8, 64], "lengths": [1024]})", target);
    for (int i = 0; i < 40; ++i) {
      jit::expert_problem p{.is_gate_up = i % 2 == 0, .gathers = i % 4 == 0};
      tilewright::expert_args& g = p.args;
      g.m = length(60000), g.n = length(9000), g.k = g.lda = g.ldb = length(9000), g.ldc = g.n;
      g.groups = i % 3 ? 64 : 8, g.tokens = g.m;
      g.batch_stride_b = 2 * long_index_t(g.n) * g.k, g.product_stride_b = p.is_gate_up ? long_index_t(g.n) * g.k : 0;
      g.ends = static_cast<const index_t*>(jit::given_later(5));
      g.source = p.is_gate_up && p.gathers ? g.ends : nullptr;
      g.workspace = jit::given_later(6);
      EXPECT_TRUE(set.has(jit::expert_gemm(p)))
          << target << " " << jit::expert_gemm(p)(target).name << " " << g.m << " " << g.n << " " << g.k;
    }
    jit::choose_experts_problem choose{.type = jit::element::f32};
    choose.args = {.tokens = 700, .experts = 64, .choices = 6, .x_stride = 64};
    choose.args.groups = 8, choose.args.kept_groups = 3;
    EXPECT_TRUE(set.has(jit::choose_experts(choose))) << jit::choose_experts(choose)(target).name;
    jit::expert_rows_problem rows{.type = jit::element::bf16, .kind = tilewright::expert_rows_kind::combine};
    rows.args = {.tokens = 700, .choices = 6, .cols = 1024, .x_stride = 1024, .y_stride = 1024};
    EXPECT_TRUE(set.has(jit::expert_rows(rows)));
    rows.kind = tilewright::expert_rows_kind::scatter;
    EXPECT_TRUE(set.has(jit::expert_rows(rows)));
  }
}

TEST(Sets, HaveAKernelForEachAttention) {
  for (const std::string& target : targets) {
    const set_of_kernels set(R"({"operation": "attention", "head_dims": ["64", "192-128"]})", target),
        backward(R"({"operation": "attention_backward", "head_dims": ["64"]})", target),
        decode(R"({"operation": "attention_decode", "head_dims": ["64"]})", target);
    for (int i = 0; i < 40; ++i) {
      jit::attention_problem p{.head_dim = i % 2 ? 64 : 192, .value_dim = i % 2 ? 64 : 128, .for_all_lengths = true};
      p.args.queries = length(9000), p.args.keys = length(9000), p.args.heads = 8, p.args.kv_heads = 2;
      p.args.q_strides = {1 << 20, p.head_dim, 8 * p.head_dim},
      p.args.k_strides = {1 << 20, p.head_dim, 2 * p.head_dim};
      p.args.v_strides = {1 << 20, p.value_dim, 2 * p.value_dim},
      p.args.o_strides = {1 << 20, p.value_dim, 8 * p.value_dim};
      p.args.scale = 0.1f;
      if (i % 3 == 0) p.args.window = {100, 0};
      EXPECT_TRUE(set.has(jit::attention(p))) << target << " " << jit::attention(p)(target).name;
    }
    EXPECT_GE(backward.size() * decode.size(), 1u);
  }
}

/// request(cols, stride of rows) has a kernel in the set, or none computes it.
template <class Request>
void expect_rows(const std::string& entry, const std::string& target, Request request) {
  const set_of_kernels set(entry, target);
  for (int i = 0; i < 150; ++i) {
    const index_t cols = length(200000), stride = cols + (i % 3 == 0 ? 8 : i % 3);
    jit::kernel_request asked;
    try {
      asked = request(cols, stride);
      (void)asked(target);
    } catch (const jit::error&) {
      continue;  // rows that are too long for the target
    }
    EXPECT_TRUE(set.has(asked)) << target << " " << asked(target).name << " " << cols << " " << stride;
  }
}

TEST(Sets, HaveAKernelForRowsOfAnyLength) {
  for (const std::string& target : targets) {
    expect_rows(R"({"operation": "softmax"})", target, [](index_t cols, index_t stride) {
      jit::softmax_problem p;
      p.args.rows = 9, p.args.cols = cols, p.args.x_stride = stride, p.args.y_stride = cols;
      return jit::softmax(p);
    });
    expect_rows(R"({"operation": "layer_norm", "type": "f32"})", target, [](index_t cols, index_t stride) {
      jit::norm_problem p{jit::element::f32, jit::element::f32};
      p.kind = tilewright::norm_kind::layer_norm;
      p.args.rows = 9, p.args.cols = cols, p.args.x_stride = p.args.y_stride = stride;
      return jit::row_norm(p);
    });
    expect_rows(R"({"operation": "rms_norm", "result": "fp8"})", target, [](index_t cols, index_t stride) {
      jit::norm_problem p;
      p.result = jit::element::fp8;
      p.scales = cols % 2 ? tilewright::scale_kind::per_row : tilewright::scale_kind::per_128;
      p.args.rows = 9, p.args.cols = cols, p.args.x_stride = p.args.y_stride = stride;
      p.args.scale_row_stride = p.args.scale_group_stride = 1;
      return jit::row_norm(p);
    });
    expect_rows(R"({"operation": "rms_norm_gradient"})", target, [](index_t cols, index_t stride) {
      jit::norm_gradient_problem p;
      p.args.rows = 9, p.args.cols = cols, p.args.dy_stride = p.args.s_stride = p.args.dx_stride = stride;
      return jit::norm_gradient(p);
    });
    expect_rows(R"({"operation": "cross_entropy"})", target, [](index_t cols, index_t stride) {
      jit::cross_entropy_problem p;
      if (cols % 2) p.kind = tilewright::cross_entropy_kind::loss_and_gradient;
      p.args.rows = 9, p.args.cols = cols, p.args.x_stride = p.args.gradient_stride = stride;
      return jit::cross_entropy(p);
    });
    expect_rows(R"({"operation": "quantise", "result": "fp8"})", target, [](index_t cols, index_t stride) {
      jit::quantise_problem p;
      p.args.rows = 9, p.args.cols = cols, p.args.x_stride = stride, p.args.y_stride = cols;
      return jit::quantise_rows(p);
    });
    expect_rows(R"({"operation": "rows_from_experts"})", target, [](index_t cols, index_t stride) {
      jit::expert_rows_problem p{.kind = tilewright::expert_rows_kind::combine};
      p.args.cols = cols, p.args.tokens = 9, p.args.choices = 2, p.args.x_stride = p.args.y_stride = stride;
      return jit::expert_rows(p);
    });
  }
}

TEST(Sets, HaveAKernelForEachPermutation) {
  const set_of_kernels set(R"({"operation": "permute"})", "sm_90a");
  for (int i = 0; i < 400; ++i) {
    jit::permute_problem p;
    int order[4] = {0, 1, 2, 3};
    std::shuffle(order, order + 4, generator);
    p.args.x.dims = p.args.y.dims = 4;
    long_index_t x_stride = 1, y_stride = 1;
    for (int d = 4; d-- > 0;) p.args.x.lengths[d] = p.args.y.lengths[d] = length(300);
    for (int d = 4; d-- > 0;) {
      p.args.x.strides[d] = x_stride, x_stride *= p.args.x.lengths[d];
      p.args.y.strides[order[d]] = y_stride, y_stride *= p.args.y.lengths[order[d]];
    }
    EXPECT_TRUE(set.has(jit::permute(p))) << jit::permute(p)("sm_90a").name;
  }
}

TEST(Sets, HaveOtherOperations) {
  EXPECT_EQ(set_of_kernels(R"({"operation": "elementwise", "expressions": ["x + 1", "x * x2"]})", "gfx942").size(), 2u);
  EXPECT_EQ(set_of_kernels(R"({"operation": "rotary"})", "gfx942").size(), 4u);
  EXPECT_EQ(set_of_kernels(R"({"operation": "reduce", "type": "bf16"})", "gfx942").size(), 6u);
  EXPECT_EQ(set_of_kernels(R"({"operation": "order_by_expert", "experts": [8, 300]})", "gfx942").size(), 2u);
  EXPECT_EQ(set_of_kernels(R"({"operation": "choose_experts", "experts": [64]})", "gfx942").size(), 2u);
  EXPECT_GE(set_of_kernels(R"({"operation": "rows_to_experts", "lengths": [4096]})", "gfx942").size(), 1u);
}

std::string sentence_of(const std::string& entry, const std::string& target);

/// Every kernel that a call may ask for is in the set.
TEST(Sets, HaveNarrowWeights) {
  EXPECT_EQ(set_of_kernels(R"({"operation": "narrow_gemm", "type": "bf16", "formats": ["mxfp4"]})", "gfx942").size(),
            8u);
  EXPECT_EQ(set_of_kernels(R"({"operation": "narrow_gemm", "type": "bf16", "formats": ["int4_zero_64_f16"]})", "sm_90a")
                .size(),
            20u);
  EXPECT_EQ(sentence_of(R"({"operation": "narrow_gemm", "formats": ["int4_96_f16"]})", "gfx942").substr(0, 71),
            "narrow_gemm has no kernels for gfx942: narrow_gemm: 'int4_96_f16' is no");
}

std::string sentence_of(const std::string& entry, const std::string& target = "gfx942") {
  try {
    (void)set_of_kernels(entry, target);
  } catch (const jit::error& e) {
    return std::string(e.what()).substr(5);
  }
  return {};
}

TEST(Sets, ThatAreWrongAreNamed) {
  EXPECT_EQ(sentence_of(R"({"type": "f16"})"), "sets[0] (line 1) lacks 'operation'");
  EXPECT_TRUE(
      sentence_of(R"({"operation": "convolution"})")
          .starts_with("sets[0] (line 1) has the operation 'convolution'; there are attention, attention_backward"));
  EXPECT_EQ(sentence_of(R"({"operation": "gemm", "orders": ["n-k"]})"),
            "sets[0] (line 1) has the order 'n-k'; there are k-k, k-mn, mn-k and mn-mn");
  EXPECT_EQ(sentence_of(R"({"operation": "gemm", "orders": "k-k"})"), "sets[0] (line 1) needs a list as 'orders'");
  EXPECT_EQ(sentence_of(R"({"operation": "elementwise"})"), "sets[0] (line 1) lacks 'expressions'");
  EXPECT_EQ(sentence_of(R"({"operation": "attention", "type": "f32"})"),
            "attention has no kernels for gfx942: attention: the elements are f16 or bf16");
  EXPECT_EQ(sentence_of(R"({"operation": "attention", "head_dims": ["100"]})"),
            "attention has no kernels for gfx942: attention: head dimensions are multiples of 32 from 32 to 256, or "
            "384 or 512, not 100");
}

}  // namespace
