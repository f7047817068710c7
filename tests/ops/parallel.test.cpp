// SPDX-License-Identifier: MIT
// GEMMs and expert layers of several ranks: threads that share the emulated GPU, whose collectives copy between their
// memory.
#include <gtest/gtest.h>

#include <barrier>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <dlfcn.h>

#include <tilewright.h>

#include "moe_oracle.hpp"
#include "on_gpu.hpp"

namespace {

namespace tw = tilewright::ops;
using ops_test::message_of, ops_test::on_gpu;
using tilewright::half_t;

/// Ranks of one process: each collective meets all of them before and after it copies.
struct group {
  explicit group(int count) : ranks(count), meet(count), sent(std::size_t(count)) {}
  int ranks;
  std::barrier<> meet;
  std::vector<const void*> sent;
};
struct member {
  group* of;
  int rank;
};

void copy(void* to, const void* from, std::int64_t bytes) {
  static void* const library = dlopen(std::getenv("TILEWRIGHT_HIP_LIBRARY"), RTLD_NOW);
  static const auto hip_copy =
      reinterpret_cast<int (*)(void*, const void*, std::size_t, int)>(dlsym(library, "hipMemcpy"));
  ASSERT_EQ(hip_copy(to, from, std::size_t(bytes), 3), 0);  // hipMemcpyDeviceToDevice
}
/// first(rank) of what each rank sent.
const char* collect(void* context, const void* sent, void* received, std::int64_t bytes, bool from_own_slot) {
  const member& self = *static_cast<member*>(context);
  group& g = *self.of;
  g.sent[std::size_t(self.rank)] = sent;
  g.meet.arrive_and_wait();
  for (int r = 0; r < g.ranks; ++r)
    copy(static_cast<char*>(received) + r * bytes,
         static_cast<const char*>(g.sent[std::size_t(r)]) + (from_own_slot ? self.rank * bytes : 0), bytes);
  g.meet.arrive_and_wait();
  return nullptr;
}
const char* all_gather(void* context, const void* sent, void* received, std::int64_t bytes, void*) {
  return collect(context, sent, received, bytes, false);
}
const char* all_to_all(void* context, const void* sent, void* received, std::int64_t bytes, void*) {
  return collect(context, sent, received, bytes, true);
}
const char* fail(void*, const void*, void*, std::int64_t, void*) { return "the network is down"; }

/// work(communicator) on each rank, in a thread of its own.
void on_all_ranks(int ranks, const std::function<void(const tw::communicator&)>& work) {
  group all(ranks);
  std::vector<std::thread> threads;
  for (int r = 0; r < ranks; ++r)
    threads.emplace_back([&, r] {
      member self{&all, r};
      work({r, ranks, &self, all_gather, all_to_all});
    });
  for (std::thread& t : threads) t.join();
}

constexpr int m = 12, n = 40, k = 24;

TEST(Parallel, AllGatherGemmHasTheRowsOfAllRanks) {
  for (const int ranks : {1, 2, 3}) {
    std::vector<on_gpu<half_t>> a, b, c;
    on_gpu<half_t> bias({n}, 9);
    for (int r = 0; r < ranks; ++r) {
      a.emplace_back(std::initializer_list<tilewright::long_index_t>{m, k + 8}, unsigned(r + 1));
      b.emplace_back(std::initializer_list<tilewright::long_index_t>{k, n}, unsigned(r + 11));
      c.emplace_back(std::initializer_list<tilewright::long_index_t>{ranks * m, n}, unsigned(r + 21));
    }
    on_all_ranks(ranks, [&](const tw::communicator& self) {
      const auto r = std::size_t(self.rank);
      const tw::tensor rows = tw::strided(a[r].view.data, tw::element::f16, {m, k}, {k + 8, 1});  // with gaps
      EXPECT_EQ(message_of([&] { tw::all_gather_gemm(c[r], rows, b[r], self, {.bias = bias}); }), "");
    });
    for (std::size_t r = 0; r < std::size_t(ranks); ++r) {
      c[r].download();
      for (int row = 0; row < ranks * m; ++row)
        for (int col = 0; col < n; ++col) {
          const std::vector<half_t>& from = a[std::size_t(row / m)].data;
          double sum = double(float(bias.data[std::size_t(col)]));
          for (int x = 0; x < k; ++x)
            sum += double(float(from[std::size_t(row % m * (k + 8) + x)])) *
                   double(float(b[r].data[std::size_t(x * n + col)]));
          ASSERT_NEAR(float(c[r].data[std::size_t(row * n + col)]), sum, 0.02) << ranks << " " << r << " " << row;
        }
    }
  }
}

TEST(Parallel, ReduceScatterHasTheSumOfTheOwnRows) {
  for (const int ranks : {1, 2, 4}) {
    std::vector<on_gpu<half_t>> a, b, c;
    for (int r = 0; r < ranks; ++r) {
      a.emplace_back(std::initializer_list<tilewright::long_index_t>{m, k}, unsigned(r + 1));
      b.emplace_back(std::initializer_list<tilewright::long_index_t>{k, n}, unsigned(r + 11));
      c.emplace_back(std::initializer_list<tilewright::long_index_t>{m / ranks, n}, unsigned(r + 21));
    }
    on_all_ranks(ranks, [&](const tw::communicator& self) {
      const auto r = std::size_t(self.rank);
      const member own = *static_cast<member*>(self.context);
      tilewright_tensor t[3];
      int i = 0;
      for (const tw::tensor* x : {&c[r].view, &a[r].view, &b[r].view}) {
        t[i] = {x->data, int(x->type), x->rank, {}, {}};
        for (int d = 0; d < x->rank; ++d) t[i].lengths[d] = x->lengths[d], t[i].strides[d] = x->strides[d];
        ++i;
      }
      const tilewright_communicator by_c{sizeof by_c, own.rank, ranks, self.context, all_gather, all_to_all};
      tilewright_reduce_scatter_options options = TILEWRIGHT_REDUCE_SCATTER_OPTIONS;
      options.alpha = 0.5f;
      EXPECT_EQ(tilewright_gemm_reduce_scatter(&t[0], &t[1], &t[2], &by_c, &options), TILEWRIGHT_OK)
          << tilewright_last_error();
    });
    for (int r = 0; r < ranks; ++r) {
      on_gpu<half_t>& own = c[std::size_t(r)];
      own.download();
      for (int row = 0; row < m / ranks; ++row)
        for (int col = 0; col < n; ++col) {
          double sum = 0;
          for (std::size_t from = 0; from < std::size_t(ranks); ++from)
            for (int x = 0; x < k; ++x)
              sum += 0.5 * double(float(a[from].data[std::size_t((r * (m / ranks) + row) * k + x)])) *
                     double(float(b[from].data[std::size_t(x * n + col)]));
          ASSERT_NEAR(float(own.data[std::size_t(row * n + col)]), sum, 0.03) << ranks << " " << r << " " << row;
        }
    }
  }
}

/// `count` of a tensor's first dimension.
tw::tensor slice(const tw::tensor& t, int first, int count) {
  tw::tensor result = t;
  result.data = static_cast<char*>(t.data) + first * t.strides[0] * (t.type == tw::element::f32 ? 4 : 2);
  result.lengths[0] = count;
  return result;
}
/// Each rank has an equal share of a layer's tokens and experts.
template <class Call>
void expect_expert_parallel(const moe_test::moe_problem& p, int ranks, Call call) {
  moe_test::moe_case<half_t, float> layer(p);
  on_all_ranks(ranks, [&](const tw::communicator& self) {
    const auto own = [&](const tw::tensor& t) {
      const int count = int(t.lengths[0]) / self.ranks;
      return t.data ? slice(t, self.rank * count, count) : t;
    };
    tw::moe_options o = layer.options();
    o.gate_up_bias = own(o.gate_up_bias), o.down_bias = own(o.down_bias);
    EXPECT_EQ(message_of([&] {
                call(own(layer.y), own(layer.x), own(layer.logits), own(layer.gate_up), own(layer.down), self, o);
              }),
              "");
  });
  layer.y.download();
  layer.expect_downloaded(4);
}
TEST(Parallel, ExpertsOfAllRanks) {
  moe_test::moe_problem p{.tokens = 10, .experts = 4, .choices = 3, .n = 16, .d = 24, .has_bias = true};
  p.nan_logits = 3;
  expect_expert_parallel(p, 2, tw::expert_parallel_moe);  // more choices than experts of a rank
  p = {.tokens = 24, .experts = 8, .choices = 2, .n = 16, .d = 24, .score = tilewright::expert_score::sigmoid};
  p.groups = 4, p.kept_groups = 2, p.scale = 2.5f, p.has_score_bias = true, p.favourite = 5, p.capacity = 4;
  expect_expert_parallel(p, 8, tw::expert_parallel_moe);
  expect_expert_parallel({.tokens = 9, .experts = 9, .choices = 2, .n = 16, .d = 24}, 1, tw::expert_parallel_moe);
  const auto by_c = [](const tw::tensor& y, const tw::tensor& x, const tw::tensor& logits, const tw::tensor& gate_up,
                       const tw::tensor& down, const tw::communicator& ranks, const tw::moe_options& options) {
    tilewright_tensor t[5];
    int i = 0;
    for (const tw::tensor* from : {&y, &x, &logits, &gate_up, &down}) {
      t[i] = {from->data, int(from->type), from->rank, {}, {}};
      for (int d = 0; d < from->rank; ++d) t[i].lengths[d] = from->lengths[d], t[i].strides[d] = from->strides[d];
      ++i;
    }
    const tilewright_communicator c{sizeof c, ranks.rank, ranks.ranks, ranks.context, all_gather, all_to_all};
    tilewright_moe_options o = TILEWRIGHT_MOE_OPTIONS;
    o.choices = options.choices;
    EXPECT_EQ(tilewright_expert_parallel_moe(&t[0], &t[1], &t[2], &t[3], &t[4], &c, &o), TILEWRIGHT_OK)
        << tilewright_last_error();
  };
  expect_expert_parallel({.tokens = 9, .experts = 9, .choices = 2, .n = 16, .d = 24}, 3, by_c);
}

TEST(Parallel, WrongCallsAreRefusedBeforeAnythingIsSent) {
  const on_gpu<half_t> a({m, k}), b({k, n}), c({2 * m, n}), half({m / 2, n});
  const tw::communicator two{0, 2, nullptr, fail, fail};
  EXPECT_EQ(message_of([&] { tw::all_gather_gemm(c, a, b, {2, 2, nullptr, fail, fail}); }),
            "all_gather_gemm: rank 2 of 2 is none; ranks count from 0");
  EXPECT_EQ(message_of([&] { tw::all_gather_gemm(c, a, b, {0, 2}); }),
            "all_gather_gemm: the communicator has no functions; set all_gather and all_to_all, or use "
            "nccl_communicator");
  EXPECT_EQ(message_of([&] { tw::all_gather_gemm(half, a, b, two); }),
            "all_gather_gemm: C has 6 rows, but 2 ranks have 12 rows of A each");
  EXPECT_EQ(message_of([&] { tw::all_gather_gemm(c, tw::transposed(on_gpu<half_t>({k, m})), b, two); }),
            "all_gather_gemm: A must be contiguous along k");
  EXPECT_EQ(message_of([&] { tw::all_gather_gemm(c, a, b, two, {.bias = half}); }),
            "gemm: bias is f16 (6, 40), but must be f16 (40) here");
  EXPECT_EQ(message_of([&] { tw::gemm_reduce_scatter(c, a, b, two); }),
            "gemm_reduce_scatter: C is f16 (24, 40), A f16 (12, 24) and B f16 (24, 40); with 2 ranks they must be (m / "
            "ranks, n), (m, k) and (k, n)");
  EXPECT_EQ(message_of([&] { tw::all_gather_gemm(c, a, b, two); }),
            "all_gather_gemm: the other ranks: the network is down");
  EXPECT_EQ(message_of([&] { tw::all_gather_gemm(c, a, b, two, {.choice = "7x7"}); }),
            message_of([&] { tw::gemm(c, on_gpu<half_t>({2 * m, k}), b, {.choice = "7x7"}); }));
  const on_gpu<half_t> x({3, 24}), w1({2, 32, 24}), w2({2, 24, 16});
  const on_gpu<float> logits({3, 4}), few({3, 2});
  const auto refusal = [&](const tw::tensor& scores, const tw::moe_options& o) {
    return message_of([&] { tw::expert_parallel_moe(x, x, scores, w1, w2, two, o); });
  };
  EXPECT_EQ(refusal(few, {.choices = 1}),
            "expert_parallel_moe: logits is f32 (3, 2), but must be (3, 4): all ranks have as many experts");
  EXPECT_EQ(refusal({}, {.choices = 1}),
            "expert_parallel_moe: logits is null: give the gate's output, or the options expert and weight");
  EXPECT_EQ(refusal(logits, {.choices = 1, .shared = 1}),
            "expert_parallel_moe: shared and first_expert must be 0: each rank has its own experts");
  EXPECT_EQ(refusal(logits, {.choices = 5}), "expert_parallel_moe: there are 5 choices of 4 experts");
  EXPECT_EQ(refusal(logits, {.choices = 1}), "expert_parallel_moe: the other ranks: the network is down");
  // Rows with gaps are copied first: not if the GEMM is refused.
  const tw::tensor gaps = tw::strided(on_gpu<half_t>({m, k + 8}).view.data, tw::element::f16, {m, k}, {k + 8, 1});
  EXPECT_NE(message_of([&] { tw::all_gather_gemm(c, gaps, b, two, {.bias = half}); }), "");
  const auto list = tw::explain([&] { tw::gemm_reduce_scatter(half, a, b, two); });
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0].operation + " " + list[1].operation, "gemm reduce");
}

}  // namespace
