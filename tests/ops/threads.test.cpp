// SPDX-License-Identifier: MIT
// 32 threads call at once, on four streams of a stub of HIP's runtime that records what is queued.
#include <tilewright/kernels/gemm/gemm_args.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "on_gpu.hpp"
#include "recorded_launches.hpp"

namespace {

namespace tw = tilewright::ops;
using ops_test::message_of, ops_test::on_gpu, ops_test::take_launches;
using tilewright::half_t;

/// Streams are known by their addresses.
char streams[5];
void* stream_of(int i) { return &streams[1 + i % 4]; }

tilewright::gemm_args gemm_args_of(const stub_launch& launch) {
  tilewright::gemm_args args;
  std::memcpy(static_cast<void*>(&args), launch.args, std::min(sizeof args, launch.bytes));
  return args;
}

TEST(Threads, OfFourStreamsShareNoWorkspaceAndSplitNoPair) {
  constexpr int threads = 32, calls = 40;
  // More problems than a workspace has counters: their slices are added up by a second kernel.
  constexpr tilewright::long_index_t n = 1100;
  const on_gpu<half_t> a({n, 16, 256}, 1), b({n, 256, 16}, 2), long_a({n, 16, 512}, 3), long_b({n, 512, 16}, 4),
      x({4, 64}, 5), y({4, 64}, 6);
  std::vector<on_gpu<half_t>> results;
  for (int i = 0; i < threads; ++i) results.emplace_back(std::initializer_list<tilewright::long_index_t>{n, 16, 16});
  (void)take_launches();
  std::atomic<int> failures = 0;
  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i)
    all.emplace_back([&, i] {
      const on_gpu<half_t>& c = results[std::size_t(i)];
      for (int call = 0; call < calls; ++call) {
        failures += !message_of([&] {
                       const bool is_long = (call + i) % 3 == 0;  // another plan, and a larger workspace
                       tw::gemm(c, is_long ? long_a : a, is_long ? long_b : b,
                                {.choice = "64x64, split_k 4", .stream = stream_of(i)});
                       if (call % 4 == 0) tw::softmax(y, x, {.stream = stream_of(i)});
                     }).empty();
        failures += message_of([&] { tw::gemm(c, b, a, {.stream = stream_of(i)}); }).empty();
      }
    });
  for (std::thread& t : all) t.join();
  EXPECT_EQ(failures, 0);

  std::map<void*, std::vector<stub_launch>> by_stream;
  std::map<const void*, int> of_result;
  for (const stub_launch& launch : take_launches()) {
    if (!std::string(launch.name).starts_with("gemm_")) continue;
    by_stream[launch.stream].push_back(launch);
    ++of_result[gemm_args_of(launch).c];
  }
  ASSERT_EQ(by_stream.size(), 4u);
  std::map<const void*, void*> stream_of_workspace;
  for (const auto& [stream, launches] : by_stream) {
    EXPECT_EQ(launches.size(), std::size_t{2 * threads / 4 * calls});  // a kernel, and the one that adds up its slices
    for (std::size_t i = 0; i + 1 < launches.size(); i += 2) {
      const tilewright::gemm_args first = gemm_args_of(launches[i]), second = gemm_args_of(launches[i + 1]);
      ASSERT_EQ(launches[i].name + std::string("_then"), launches[i + 1].name) << i;
      EXPECT_EQ(first.c, second.c);
      EXPECT_EQ(first.workspace, second.workspace);
      EXPECT_EQ(stream_of_workspace.try_emplace(first.workspace, stream).first->second, stream);
    }
  }
  for (const on_gpu<half_t>& c : results) EXPECT_EQ(of_result[c.view.data], 2 * calls);
}

// Each call of several kernels is rehearsed: half of the threads' calls are refused by the last step, and neither these
// nor the rehearsals of others keep the rest from being queued.
TEST(Threads, QueueNothingOfACallWhoseLastStepIsRefused) {
  constexpr int threads = 16, calls = 10;
  constexpr tilewright::long_index_t m = 12, n = 40, k = 24;
  static std::atomic<int> collectives;
  collectives = 0;
  const auto count = [](void*, const void*, void*, std::int64_t, void*) -> const char* {
    return ++collectives, nullptr;
  };
  const on_gpu<half_t> a({m, k + 8}, 1), b({k, n}, 2), bias({n}, 3), short_bias({n - 1}, 4);
  const tw::tensor gaps = tw::strided(a.view.data, tw::element::f16, {m, k}, {k + 8, 1});  // so that A is copied first
  std::vector<on_gpu<half_t>> results;
  for (int i = 0; i < threads; ++i) results.emplace_back(std::initializer_list<tilewright::long_index_t>{2 * m, n});
  (void)take_launches();
  std::atomic<int> failures = 0;
  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i)
    all.emplace_back([&, i] {
      const bool is_right = i % 2 == 0;
      for (int call = 0; call < calls; ++call)
        failures += is_right != message_of([&] {
                                  tw::all_gather_gemm(results[std::size_t(i)], gaps, b, {0, 2, nullptr, count, count},
                                                      {.bias = is_right ? bias : short_bias, .stream = stream_of(i)});
                                }).empty();
    });
  for (std::thread& t : all) t.join();
  EXPECT_EQ(failures, 0);
  int copies = 0, products = 0;
  for (const stub_launch& launch : take_launches()) {
    const bool is_product = std::string(launch.name).starts_with("gemm_");
    ++(is_product ? products : copies);
    EXPECT_EQ(launch.stream == stream_of(0) || launch.stream == stream_of(2), true);  // of the right calls
  }
  EXPECT_EQ(copies, threads / 2 * calls);
  EXPECT_EQ(products, threads / 2 * calls);
  EXPECT_EQ(collectives, threads / 2 * calls);
}

TEST(Threads, MayConfigureWhileOthersCall) {
  const on_gpu<half_t> x({4, 64}, 5);
  on_gpu<half_t> y({4, 64}, 6);
  std::atomic<int> failures = 0;
  std::vector<std::thread> all;
  for (int i = 0; i < 8; ++i)
    all.emplace_back([&, i] {
      for (int call = 0; call < 20; ++call) {
        if (i == 0)
          tw::configure({});
        else
          failures += !message_of([&] { tw::softmax(y, x, {.stream = stream_of(i)}); }).empty();
      }
    });
  for (std::thread& t : all) t.join();
  EXPECT_EQ(failures, 0);
}

}  // namespace
