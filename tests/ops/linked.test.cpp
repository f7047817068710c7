// SPDX-License-Identifier: MIT
// A program whose kernels tilewright_add_kernels linked into it: softmax, rotary and attention of f16 for an AMD GPU,
// softmax for an NVIDIA GPU. Compilers, caches and files are forbidden.
#include <tilewright/jit/rows.hpp>
#include <tilewright/ops.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include <tilewright.h>

#include "on_gpu.hpp"

namespace {

namespace tw = tilewright::ops;
namespace jit = tilewright::jit;
using ops_test::message_of, ops_test::on_gpu;
using tilewright::half_t;
using tilewright::long_index_t;

jit::compiler_options nothing_else() {
  jit::compiler_options options;
  options.cache.enabled = false;
  options.on_miss = jit::miss::fail;
  return options;
}

class Linked : public testing::Test {
 protected:
  Linked() { tw::configure({.jit = nothing_else()}); }
};

TEST_F(Linked, KernelsComputeWithoutACompiler) {
  on_gpu<half_t> x({5, 40}), y({5, 40}, 2);
  const auto list = tw::explain([&] { tw::softmax(y, x); });
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(list[0].provider, "compiled into the program");
  tw::softmax(y, x);
  y.download();
  for (std::size_t r = 0; r < 5; ++r) {
    double sum = 0;
    for (std::size_t c = 0; c < 40; ++c) sum += std::exp(double(float(x.data[r * 40 + c])));
    for (std::size_t c = 0; c < 40; ++c)
      EXPECT_NEAR(float(y.data[r * 40 + c]), std::exp(double(float(x.data[r * 40 + c]))) / sum, 1e-3);
  }
}

/// Attention in double precision for one head.
void expect_attention(const on_gpu<half_t>& o, const on_gpu<half_t>& q, const on_gpu<half_t>& k,
                      const on_gpu<half_t>& v, std::size_t queries, std::size_t keys, bool causal) {
  for (std::size_t i = 0; i < queries; ++i) {
    const std::size_t seen = causal ? keys - queries + i + 1 : keys;
    std::vector<double> p(seen);
    double sum = 0;
    for (std::size_t j = 0; j < seen; ++j) {
      double s = 0;
      for (std::size_t d = 0; d < 32; ++d) s += double(float(q.data[i * 32 + d])) * double(float(k.data[j * 32 + d]));
      sum += p[j] = std::exp(s / std::sqrt(32.0));
    }
    for (std::size_t d = 0; d < 32; ++d) {
      double expected = 0;
      for (std::size_t j = 0; j < seen; ++j) expected += p[j] / sum * double(float(v.data[j * 32 + d]));
      ASSERT_NEAR(float(o.data[i * 32 + d]), expected, 4e-3) << i << " " << d;
    }
  }
}

TEST_F(Linked, OneAttentionKernelServesAllLengthsAndMasks) {
  std::string kernel;
  for (const auto& [queries, keys, causal] : {std::tuple{3, 70, true}, {65, 65, false}, {1, 129, false}}) {
    on_gpu<half_t> q({1, queries, 1, 32}, 1), k({1, keys, 1, 32}, 2), v({1, keys, 1, 32}, 3), o({1, queries, 1, 32}, 4);
    const auto list = tw::explain([&] { tw::attention(o, q, k, v, {.causal = causal}); });
    EXPECT_EQ(list.at(0).provider, "compiled into the program");
    EXPECT_TRUE(kernel.empty() || kernel == list[0].kernel);
    kernel = list[0].kernel;
    tw::attention(o, q, k, v, {.causal = causal});
    o.download();
    expect_attention(o, q, k, v, std::size_t(queries), std::size_t(keys), causal);
  }
}

TEST_F(Linked, AMissingKernelIsNamedWithWhatAddsIt) {
  const on_gpu<half_t> a({8, 8}, 1), b({8, 8}, 2), c({8, 8}, 3);
  const std::string message = message_of([&] { tw::gemm(c, a, b); });
  EXPECT_NE(message.find("is in no archive"), std::string::npos) << message;
  EXPECT_NE(message.find("tilewright_add_kernels(<program> OPERATIONS gemm TYPES <types> GPUS gfx942) adds them"),
            std::string::npos)
      << message;
}

#ifdef TILEWRIGHT_TEST_SM_90A
TEST(LinkedForHopper, ACodeObjectComesFromTheProgram) {
  jit::compiler_options options = nothing_else();
  options.target = "sm_90a";
  jit::compiler compiler(options);
  jit::softmax_problem p;
  p.args.rows = 7, p.args.cols = 40;
  p.args.x_stride = p.args.y_stride = 40;
  EXPECT_EQ(compiler.archive_of(jit::softmax(p)), "linked into the program");
  EXPECT_EQ(compiler.code_object(jit::softmax(p)).substr(0, 4),
            "\x7f"
            "ELF");
  p.args.cols = p.args.x_stride = p.args.y_stride = 4096;
  EXPECT_EQ(compiler.archive_of(jit::softmax(p)), "");
  EXPECT_THROW((void)compiler.code_object(jit::softmax(p)), jit::error);
}
#endif

TEST(AddArchive, RefusesWhatIsNone) {
  EXPECT_EQ(tilewright_add_archive(nullptr, 0), TILEWRIGHT_WRONG_CALL);
  const char text[] = "no archive";
  EXPECT_EQ(tilewright_add_archive(text, sizeof text), TILEWRIGHT_WRONG_CALL);
  EXPECT_STREQ(tilewright_last_error(),
               "add_archive: linked into the program is no archive of this version of the library");
}

}  // namespace
