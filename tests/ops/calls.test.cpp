// SPDX-License-Identifier: MIT
// What all calls share: explanations, choices that are fixed, workspaces, threads, kernels that are missing.
#include <tilewright/ops.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

#include <tilewright/jit/archive.hpp>
#include <tilewright/jit/gemm.hpp>

#include "on_gpu.hpp"

namespace {

namespace tw = tilewright::ops;
using ops_test::message_of, ops_test::on_gpu;
using tilewright::half_t;

template <class T>
double largest_error(const std::vector<T>& c, const on_gpu<T>& a, const on_gpu<T>& b, int m, int n, int k) {
  double largest = 0;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int x = 0; x < k; ++x)
        sum += double(float(a.data[std::size_t(i * k + x)])) * double(float(b.data[std::size_t(x * n + j)]));
      largest = std::max(largest, std::abs(double(float(c[std::size_t(i * n + j)])) - sum));
    }
  return largest;
}

TEST(Calls, AreExplainedWithoutALaunch) {
  const on_gpu<half_t> a({16, 2048}, 1), b({2048, 16}, 2);
  on_gpu<half_t> c({16, 16}, 3);
  const std::vector<half_t> before = c.data;
  const auto list = tw::explain([&] { tw::gemm(c, a, b); });
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(list[0].target, "gfx942");
  EXPECT_EQ(list[0].choice, "64x64, split_k 12") << "one tile, a long k";
  EXPECT_GT(list[0].workspace_bytes, 4 * 16 * 16 * 4);
  EXPECT_EQ(c.download(), before);
  // The choice of gemm --explain and of jit: one function.
  tilewright::jit::gemm_problem p{
      .b_along_k = false, .args = {.m = 16, .n = 16, .k = 2048, .lda = 2048, .ldb = 16, .ldc = 16, .split_k = 0}};
  EXPECT_EQ(tilewright::jit::rank_gemm(p, "gfx942").front().choice, list[0].choice);

  tw::gemm(c, a, b);
  EXPECT_LT(largest_error(c.download(), a, b, 16, 16, 2048), 0.5);
  tw::gemm(c, a, b, {.choice = "64x64"});
  EXPECT_LT(largest_error(c.download(), a, b, 16, 16, 2048), 0.5);
  EXPECT_EQ(tw::explain([&] { tw::gemm(c, a, b, {.choice = "64x64"}); })[0].choice, "64x64");
  // A workspace of the caller's.
  const auto own = ops_test::gpu().allocate(std::size_t(list[0].workspace_bytes));
  own.clear();
  EXPECT_EQ(message_of([&] { tw::gemm(c, a, b, {.workspace = own.data(), .workspace_bytes = 64}); }),
            "gemm: the workspace has 64 bytes, this call needs " + std::to_string(list[0].workspace_bytes) +
                "; give more, or none");
  tw::gemm(c, a, b, {.workspace = own.data(), .workspace_bytes = list[0].workspace_bytes});
  EXPECT_LT(largest_error(c.download(), a, b, 16, 16, 2048), 0.5);
}

TEST(Calls, TakeKernelsFromAnArchive) {
  namespace jit = tilewright::jit;
  const on_gpu<half_t> a({16, 2048}, 1), b({2048, 16}, 2);
  on_gpu<half_t> c({16, 16}, 3);
  // As tilewright-pack does with "split_k": 0.
  const jit::gemm_problem p{.b_along_k = false,
                            .args = {.m = 16, .n = 16, .k = 2048, .lda = 2048, .ldb = 16, .ldc = 16, .split_k = 0}};
  jit::compiler packer({.target = "gfx942"});
  const jit::kernel_source source = jit::gemm(p)("gfx942");
  jit::archive_writer writer;
  writer.add(packer.archive_key(source), source.name, packer.code_object(source));
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("tilewright-ops-" + std::to_string(::getpid()));
  writer.write(path);
  jit::compiler_options alone;
  alone.cache.enabled = false;
  alone.on_miss = jit::miss::fail;
  alone.archives = {path};
  tw::configure({.jit = alone});
  tw::gemm(c, a, b);
  EXPECT_LT(largest_error(c.download(), a, b, 16, 16, 2048), 0.5);
  EXPECT_NE(message_of([&] { tw::gemm(c, a, b, {.choice = "64x64"}); }).find("is in no archive"), std::string::npos);
  tw::configure({});
  std::filesystem::remove(path);
}

TEST(Calls, ComeFromManyThreads) {
  constexpr int threads = 32;
  const on_gpu<half_t> a({16, 1024}, 1), b({1024, 16}, 2), x({4, 64}, 3);
  std::vector<on_gpu<half_t>> results, rows;
  for (int i = 0; i < threads; ++i) results.emplace_back(std::initializer_list<tilewright::long_index_t>{16, 16});
  for (int i = 0; i < threads; ++i) rows.emplace_back(std::initializer_list<tilewright::long_index_t>{4, 64});
  std::atomic<int> failures = 0;
  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i)
    all.emplace_back([&, i] {
      failures += !message_of([&] {
                     tw::gemm(results[std::size_t(i)], a, b);  // with a workspace that all of them share
                     tw::softmax(rows[std::size_t(i)], x);
                   }).empty();
      failures += message_of([&] { tw::gemm(results[std::size_t(i)], b, a); }).empty();
    });
  for (std::thread& t : all) t.join();
  EXPECT_EQ(failures, 0);
  for (on_gpu<half_t>& c : results) EXPECT_LT(largest_error(c.download(), a, b, 16, 16, 1024), 0.3);
  for (on_gpu<half_t>& r : rows) EXPECT_EQ(r.download(), rows[0].download());
}

TEST(Calls, NameAKernelThatIsMissing) {
  const on_gpu<half_t> a({8, 8}, 1), b({8, 8}, 2), c({8, 8}, 3);
  tw::configure({.emulate = "gfx1201"});
  EXPECT_EQ(message_of([&] { tw::gemm(c, a, b); }),
            "gemm: no kernel gemm_64x64_f16_ak_bn_to_f16_v8 for gfx1201, CPU emulator is compiled into the program; in "
            "CMake, tilewright_add_kernels(<program> OPERATIONS gemm TYPES <types> EMULATE gfx1201) adds them");
  EXPECT_EQ(
      message_of([&] { tw::elementwise(c, a, "x * x"); }),
      "elementwise: no kernel elementwise_f16 for gfx1201, CPU emulator is compiled into the program; "
      "tilewright_add_kernels has none of elementwise for the CPU emulator; run the program on the emulated AMD GPU "
      "(docs/ops.md, Without a GPU)");
  tw::configure({.emulate = "gfx900"});
  EXPECT_TRUE(message_of([&] {
                tw::gemm(c, a, b);
              }).starts_with("gemm: 'gfx900' is no target that the CPU emulator has; there are gfx908"));
  tilewright::jit::compiler_options none;
  none.cache.enabled = false;
  none.on_miss = tilewright::jit::miss::fail;
  tw::configure({.jit = none});
  const std::string message = message_of([&] { tw::gemm(c, a, b); });
  EXPECT_NE(message.find("is in no archive"), std::string::npos) << message;
  EXPECT_NE(message.find("GPUS gfx942) adds them, or name an archive of tilewright-pack"), std::string::npos)
      << message;
  tw::configure({});
  EXPECT_EQ(message_of([&] { tw::release_workspaces(nullptr); }), "");
}

}  // namespace
