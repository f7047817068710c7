// SPDX-License-Identifier: MIT
// Products of several ranks on the CPU emulator, where flags are noticed as late as they may be: results, buffers in
// turns, late ranks, missing ranks.
#include "../explored.hpp"

#include <gtest/gtest.h>

#include <tilewright/kernels/gemm/choice/hopper_gemm_choice.hpp>
#include <tilewright/kernels/gemm/named_policies.hpp>
#include <tilewright/kernels/parallel/all_gather_kernel.hpp>
#include <tilewright/kernels/parallel/emulated_rank.hpp>
#include <tilewright/kernels/parallel/parallel_choice.hpp>
#include <tilewright/kernels/parallel/rank_products.hpp>
#include <tilewright/kernels/parallel/reduce_scatter_kernel.hpp>

#include <functional>
#include <random>

namespace tilewright::parallel {
namespace {

using policy =
    gemm_hopper<bfloat16_t, operand_major::k, operand_major::k, hopper_gemm_tiles[6], bfloat16_t, epilogue::from_args>;
using gather = detail::fused_all_gather<all_gather_kernel<policy>, emulated_rank>;
using reduce = detail::fused_reduce_scatter<reduce_scatter_kernel<policy>, emulated_rank>;
template <index_t Tile>
using policy_of =
    gemm_hopper<bfloat16_t, operand_major::k, operand_major::k, parallel_tiles[Tile], bfloat16_t, epilogue::from_args>;
using reduce_in_turns = detail::fused_reduce_scatter<reduce_scatter_kernel<policy_of<1>>, emulated_rank>;
using gather_192 = detail::fused_all_gather<all_gather_kernel<policy_of<3>>, emulated_rank>;
using reduce_192 = detail::fused_reduce_scatter<reduce_scatter_kernel<policy_of<3>>, emulated_rank>;
using collective_gather = collective_all_gather<all_gather_kernel<policy>, emulated_rank>;
using collective_reduce = collective_reduce_scatter<reduce_scatter_kernel<policy>, emulated_rank>;

struct amd_policy : gemm_64x64<arch::gfx942, bfloat16_t, operand_major::k, operand_major::k, 8> {
  using epilogue = tilewright::epilogue::from_args;
};
using amd_gather = collective_all_gather<gemm_kernel<amd_policy>, emulated_rank>;

/// Elements with padding after each row.
struct matrix {
  index_t rows, cols, ld;
  std::vector<bfloat16_t> data;

  matrix(index_t r, index_t c, index_t padding = 8)
      : rows(r), cols(c), ld(c + padding), data(std::size_t(r) * std::size_t(c + padding)) {}
  bfloat16_t& operator()(index_t i, index_t j) { return data[std::size_t(i) * std::size_t(ld) + std::size_t(j)]; }
  float at(index_t i, index_t j) const {
    return type_convert<float>(data[std::size_t(i) * std::size_t(ld) + std::size_t(j)]);
  }
  void fill(unsigned seed) {
    std::mt19937 random(seed);
    for (bfloat16_t& x : data) x = type_convert<bfloat16_t>(float(int(random() % 5) - 2));
  }
  void fill_for(index_t rank, index_t call) { fill(unsigned(100 * call + rank + 1)); }
};

enum class kind { all_gather, reduce_scatter, all_reduce };

struct problem {
  kind what;
  index_t ranks, rows, n, k, calls = 3;
  std::uint64_t seed = 1;
  int late = -1;     // the rank that begins each call when nothing else can happen
  int missing = -1;  // the rank that leaves out the last call
  bool by_nccl = false, on_amd = false, in_turns = false, of_192_rows = false;
  index_t blocks = 2;     // of each rank
  int explored_rank = 0;  // whose schedule an explorer chooses; needs blocks = 1
};

/// What a rank has, from call to call.
struct rank_data {
  matrix a, b, c;
  std::vector<bfloat16_t> bias;
};

class ParallelProducts : public testing::Test {
 protected:
  static matrix a_of(const problem& p, index_t rank, index_t call) {
    matrix a(p.what == kind::all_gather ? p.rows : p.rows * p.ranks, p.k);
    a.fill_for(rank, call);
    return a;
  }
  static float dot(const matrix& a, index_t i, const matrix& b, index_t j) {
    float sum = 0;
    for (index_t k = 0; k < a.cols; ++k) sum += a.at(i, k) * b.at(j, k);
    return sum;
  }

  /// What C(i, j) of a rank is to be after a call; a: all ranks' A of that call.
  static float expected(const problem& p, const std::vector<rank_data>& data, const std::vector<matrix>& a,
                        index_t rank, index_t i, index_t j) {
    if (p.what == kind::all_gather)
      return bias(data, rank, j) + dot(a[std::size_t(i / p.rows)], i % p.rows, data[std::size_t(rank)].b, j);
    const index_t row = p.what == kind::all_reduce ? i : rank * p.rows + i;
    float sum = bias(data, row / p.rows, j);  // the owner of the row finishes it
    for (index_t s = 0; s < p.ranks; ++s) sum += dot(a[std::size_t(s)], row, data[std::size_t(s)].b, j);
    return sum;
  }
  static float bias(const std::vector<rank_data>& data, index_t rank, index_t j) {
    return type_convert<float>(data[std::size_t(rank)].bias[std::size_t(j)]);
  }

  /// Runs the calls, checks each rank's C after each of them, and returns the ranks that reported an error.
  static std::vector<int> run(const problem& p) {
    emulated_ranks ranks(p.ranks, p.seed);
    ranks.blocks = p.blocks;
    ranks.group.explored_rank = p.explored_rank;
    std::vector<rank_data> data;
    emulated_memory all_c;
    for (index_t r = 0; r < p.ranks; ++r) {
      const bool whole = p.what != kind::reduce_scatter;
      data.push_back(
          {a_of(p, r, 0), matrix(p.n, p.k), matrix(whole ? p.rows * p.ranks : p.rows, p.n, p.by_nccl ? 0 : 8), {}});
      data.back().b.fill(unsigned(50 + r));
      for (index_t j = 0; j < p.n; ++j) data.back().bias.push_back(type_convert<bfloat16_t>(float((j + r) % 7)));
    }
    for (rank_data& d : data) all_c.pointers.push_back(reinterpret_cast<char*>(d.c.data.data()));
    std::vector<int> errors(std::size_t(p.ranks), 0);
    std::vector<std::string> wrong(std::size_t(p.ranks));
    ranks.group.run([&](int rank) {
      emulated_rank self(ranks, rank);
      rank_data& mine = data[std::size_t(rank)];
      const gemm_args args = args_of(p, mine);
      const std::function<void()> call = call_of(p, self, args, all_c);
      for (index_t i = 0; i < p.calls; ++i) {
        mine.a.fill_for(rank, i);
        if (p.what != kind::all_reduce) mine.c.fill(99);
        if (rank == p.late) ranks.group.sleep(rank);
        if (rank == p.missing && i + 1 == p.calls) return;
        call();
        const matrix now = mine.c;
        mine.a.fill(77);  // A may be overwritten
        try {
          self.finish();
          if (wrong[std::size_t(rank)].empty()) wrong[std::size_t(rank)] = first_wrong(p, data, now, rank, i);
        } catch (const launch_error&) {
          errors[std::size_t(rank)] = 1;
        }
      }
    });
    for (const std::string& w : wrong) EXPECT_EQ(w, "");
    return errors;
  }

  template <class Call>
  static std::function<void()> make(auto&&... args) {
    return [f = std::make_shared<Call>(args...)] { (*f)(0); };
  }
  static std::function<void()> call_of(const problem& p, emulated_rank& self, const gemm_args& args,
                                       const emulated_memory& all_c) {
    const bool all = p.what == kind::all_reduce;
    if (p.on_amd) return make<amd_gather>(std::ref(self), args);
    if (p.by_nccl && p.what == kind::all_gather) return make<collective_gather>(std::ref(self), args);
    if (p.by_nccl) return make<collective_reduce>(std::ref(self), args, all ? &all_c : nullptr);
    if (p.of_192_rows && p.what == kind::all_gather) return make<gather_192>(std::ref(self), args);
    if (p.of_192_rows) return make<reduce_192>(std::ref(self), args, all ? &all_c : nullptr);
    if (p.what == kind::all_gather) return make<gather>(std::ref(self), args);
    if (p.in_turns) return make<reduce_in_turns>(std::ref(self), args, nullptr);
    return make<reduce>(std::ref(self), args, all ? &all_c : nullptr);
  }

  static gemm_args args_of(const problem& p, rank_data& mine) {
    gemm_args args;
    args.a = mine.a.data.data();
    args.b = mine.b.data.data();
    args.c = mine.c.data.data();
    args.m = p.rows * p.ranks;
    args.n = p.n;
    args.k = p.k;
    args.lda = mine.a.ld;
    args.ldb = mine.b.ld;
    args.ldc = mine.c.ld;
    args.bias = mine.bias.data();
    return args;
  }
  static std::string first_wrong(const problem& p, const std::vector<rank_data>& data, const matrix& c, index_t rank,
                                 index_t call) {
    std::vector<matrix> a;
    for (index_t s = 0; s < p.ranks; ++s) a.push_back(a_of(p, s, call));
    for (index_t i = 0; i < c.rows; ++i)
      for (index_t j = 0; j < c.cols; ++j) {
        const float want = expected(p, data, a, rank, i, j);
        if (!(c.at(i, j) == type_convert<float>(type_convert<bfloat16_t>(want))))
          return "rank " + std::to_string(rank) + ", call " + std::to_string(call) + ": C(" + std::to_string(i) + ", " +
                 std::to_string(j) + ") is " + std::to_string(c.at(i, j)) + " instead of " + std::to_string(want);
      }
    return "";
  }
};

TEST_F(ParallelProducts, RowsComeWhileTheKernelRuns) {
  const std::vector<int> none2(2, 0), none3(3, 0);
  EXPECT_EQ(run({kind::all_gather, 2, 136, 72, 24}), none2);  // two groups of rows
  EXPECT_EQ(run({kind::all_gather, 3, 20, 136, 264, 4, 5}), none3);
}

TEST_F(ParallelProducts, SumsGoToTheirOwners) {
  const std::vector<int> none2(2, 0), none3(3, 0);
  EXPECT_EQ(run({kind::reduce_scatter, 2, 72, 72, 24}), none2);
  EXPECT_EQ(run({kind::reduce_scatter, 3, 20, 136, 64, 4, 5}), none3);
  EXPECT_EQ(run({kind::all_reduce, 2, 40, 72, 24}), none2);
}

// Boxes of three sources for the second consumer, which waits for its turn, must not keep the first one from its own.
TEST_F(ParallelProducts, SumsOfManyRanksForConsumersThatTakeTurns) {
  EXPECT_EQ(run({.what = kind::reduce_scatter, .ranks = 4, .rows = 8, .n = 72, .k = 24, .calls = 1, .in_turns = true}),
            std::vector<int>(4, 0));
}

// A tile then waits for two groups of 128 rows, the second of which has 9.
TEST_F(ParallelProducts, TilesOf192Rows) {
  for (const kind what : {kind::all_gather, kind::reduce_scatter})
    EXPECT_EQ(run({.what = what, .ranks = 2, .rows = 137, .n = 104, .k = 24, .calls = 2, .of_192_rows = true}),
              std::vector<int>(2, 0));
}

TEST_F(ParallelProducts, PassInExploredSchedules) {
  for (const kind what : {kind::all_gather, kind::reduce_scatter, kind::all_reduce}) {
    for (const int rank : {0, 1})
      testing_schedules::expect_in_explored_schedules([=] {
        EXPECT_EQ(run({.what = what,
                       .ranks = 2,
                       .rows = 24,
                       .n = 72,
                       .k = 24,
                       .calls = 1,
                       .blocks = 1,
                       .explored_rank = rank}),
                  std::vector<int>(2, 0));
      });
  }
}

TEST_F(ParallelProducts, RowsAndSumsTravelByNccl) {
  const std::vector<int> none3(3, 0);
  for (const kind what : {kind::all_gather, kind::reduce_scatter, kind::all_reduce}) {
    EXPECT_EQ(run({.what = what, .ranks = 3, .rows = 20, .n = 72, .k = 24, .late = 1, .by_nccl = true}), none3);
  }
}

TEST_F(ParallelProducts, OnAmdGpus) {
  EXPECT_EQ(run({.what = kind::all_gather,
                 .ranks = 2,
                 .rows = 24,
                 .n = 72,
                 .k = 40,
                 .calls = 2,
                 .late = 0,
                 .by_nccl = true,
                 .on_amd = true}),
            std::vector<int>(2, 0));
}

TEST_F(ParallelProducts, LateRanks) {
  for (const kind what : {kind::all_gather, kind::reduce_scatter, kind::all_reduce}) {
    for (const int late : {0, 1}) {
      EXPECT_EQ(run({.what = what, .ranks = 2, .rows = 24, .n = 64, .k = 8, .calls = 4, .seed = 3, .late = late}),
                std::vector<int>(2, 0));
    }
  }
}

TEST_F(ParallelProducts, DoNotSplitK) {
  const char* const sentence = "products of several ranks do not split k into equal parts: set split_k to 1";
  all_gather_args gathers;
  reduce_scatter_args scatters;
  gathers.split_k = scatters.split_k = 2;
  EXPECT_STREQ(all_gather_kernel<policy>::check(gathers), sentence);
  EXPECT_STREQ(reduce_scatter_kernel<policy>::check(scatters), sentence);
}

TEST_F(ParallelProducts, AResultInTheMemoryOfAnOperandIsRefused) {
  alignas(128) static bfloat16_t memory[1 << 16];
  static unsigned status;
  const auto refusal_at = [](index_t a, index_t b, index_t c) -> std::string {
    all_gather_args g;
    g.a = memory + a, g.b = memory + b, g.c = memory + c;
    g.m = 32, g.n = 64, g.k = 64;
    g.lda = g.ldb = g.ldc = 128;
    g.self = {0, 2}, g.wait.status = &status;
    g.bias = g.gathered = memory + (1 << 15), g.ld_gathered = 64;
    const char* const why = all_gather_kernel<policy>::check(g);
    return why ? why : "";
  };
  const std::string overlaps = "C may share memory with an operand, which other blocks still read";
  EXPECT_EQ(refusal_at(0, 1 << 14, 64), "") << "columns beside those of A";
  EXPECT_EQ(refusal_at(0, 1 << 14, 16 * 128), "") << "A has half the rows of C";
  EXPECT_EQ(refusal_at(0, 1 << 14, 56), overlaps);
  EXPECT_EQ(refusal_at(0, 1 << 14, 15 * 128), overlaps);
  EXPECT_EQ(refusal_at(1 << 14, 0, 63 * 128), overlaps);
}

TEST_F(ParallelProducts, MissingRankIsAnError) {
  for (const kind what : {kind::all_gather, kind::reduce_scatter, kind::all_reduce}) {
    EXPECT_EQ(run({.what = what, .ranks = 2, .rows = 24, .n = 64, .k = 8, .calls = 2, .missing = 1}),
              (std::vector<int>{1, 0}));
  }
}

}  // namespace
}  // namespace tilewright::parallel
