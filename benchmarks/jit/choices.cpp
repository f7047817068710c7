// SPDX-License-Identifier: MIT
// Kernels that tilewright::jit chooses for a Hopper GPU against others that could compute the same: attention's tiles
// of short and of long sequences, and of GEMMs and SwiGLU the kernels for all lengths that tilewright_add_kernels
// links, and tiles that are named by hand.
#include <tilewright/jit/attention.hpp>
#include <tilewright/jit/compiler.hpp>
#include <tilewright/jit/error.hpp>
#include <tilewright/jit/gemm.hpp>
#include <tilewright/kernels/gemm/choice/gemm_choice.hpp>
#include <tilewright/kernels/gemm/choice/hopper_gemm_choice.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

namespace {

namespace jit = tilewright::jit;
using tilewright::index_t;
using tilewright::long_index_t;

jit::compiler& gpu() {
  static jit::compiler only;
  return only;
}

/// The shortest of some medians, in microseconds: launches that follow each other without a gap.
template <class Args>
double microseconds_of(const jit::kernel& kernel, const Args& args) {
  using clock = std::chrono::steady_clock;
  double best = 1e30;
  for (int batch = 0; batch < 4; ++batch) {
    kernel(args);
    gpu().synchronize();
    const auto start = clock::now();
    for (int i = 0; i < 30; ++i) kernel(args);
    gpu().synchronize();
    best = std::min(best, std::chrono::duration<double, std::micro>(clock::now() - start).count() / 30);
  }
  return best;
}

/// Ratios to the best, and their geometric mean.
class summary {
 public:
  explicit summary(std::string name) : name_(std::move(name)) {}
  void add(const std::string& problem, double chosen, double best) {
    std::printf("%s %s: %.1f us, the best %.1f, %.3f\n", name_.c_str(), problem.c_str(), chosen, best, chosen / best);
    sum_ += std::log(chosen / best);
    largest_ = std::max(largest_, chosen / best);
    ++count_;
  }
  ~summary() {
    if (count_ > 0)
      std::printf("%s: %d problems, mean %.4f, largest %.3f\n", name_.c_str(), count_, std::exp(sum_ / count_),
                  largest_);
  }

 private:
  std::string name_;
  double sum_ = 0, largest_ = 0;
  int count_ = 0;
};

void race_attention() {
  summary all("attention");
  const jit::buffer memory = gpu().allocate(std::size_t{1} << 31);
  memory.clear();
  char* const base = static_cast<char*>(memory.data());
  for (const int dim : {64, 128})
    for (const bool causal : {false, true})
      for (const index_t keys : {128, 256, 512, 1024, 2048, 4096}) {
        jit::attention_problem p{.head_dim = dim, .value_dim = dim};
        tilewright::attention_args& a = p.args;
        a.q = base, a.k = base + (1 << 28), a.v = base + (2 << 28), a.o = base + (3ll << 28);
        a.batch = std::max(1, 16384 / keys), a.heads = a.kv_heads = 16, a.queries = a.keys = keys;
        const tilewright::attention_strides s{long_index_t(keys) * 16 * dim, dim, 16 * dim};
        a.q_strides = a.k_strides = a.v_strides = a.o_strides = s;
        a.scale = 0.1f, a.window.right = causal ? 0 : -1;
        double chosen = 0, best = 1e30;
        for (const index_t as_if : {keys, 512, 8192}) {  // the tile of other lengths takes these, too
          p.args.keys = as_if;
          const jit::kernel kernel = gpu().load(jit::attention(p));
          p.args.keys = keys;
          const double us = microseconds_of(kernel, p.args);
          if (as_if == keys) chosen = us;
          best = std::min(best, us);
        }
        all.add("d" + std::to_string(dim) + (causal ? " causal " : " ") + std::to_string(keys) + " keys", chosen, best);
      }
}

/// A GEMM of a layer: half of them with 1 to 512 rows, half with up to 8,192; with a gate n counts one product's
/// columns.
jit::gemm_problem random_gemm(int i, bool has_gate, std::mt19937& random) {
  constexpr index_t nk[][2] = {{4096, 4096}, {28672, 4096}, {4096, 14336}, {10240, 8192}, {7168, 2048}, {2560, 2560}};
  const auto [columns, k] = nk[i % 6];
  const index_t n = has_gate ? columns / 2 : columns;
  const auto m = index_t(std::exp2(std::uniform_real_distribution<double>(i % 2 ? 9 : 0, i % 2 ? 13 : 9)(random)));
  jit::gemm_problem p{.has_gate = has_gate};
  p.args = {.m = m, .n = n, .k = k, .lda = k, .ldb = k, .ldc = n, .split_k = 0};
  if (has_gate) p.args.product_stride_b = long_index_t(n) * k;
  return p;
}

/// Microseconds of a problem's candidates, the first kernel of each tile, in the order of predicted times; at most 24.
struct timed_candidate {
  std::string choice;
  double us;
};
std::vector<timed_candidate> time_candidates(jit::gemm_problem p) {
  std::vector<timed_candidate> list;
  std::vector<std::string> tiles;
  for (const jit::gemm_candidate& c : jit::rank_gemm(p, "sm_90a")) {
    const std::string tile = c.choice.substr(0, c.choice.find(','));
    if (std::find(tiles.begin(), tiles.end(), tile) != tiles.end() || tiles.size() == 24) continue;
    if (!c.kernel.starts_with("gemm_hopper_")) continue;
    tiles.push_back(tile);
    p.policy = c.choice;
    tilewright::gemm_args args = p.args;
    args.split_k = 1;
    list.push_back({c.choice, microseconds_of(gpu().load(jit::gemm(p)), args)});
  }
  return list;
}

bool can_run(const jit::gemm_problem& p) {
  try {
    return !jit::rank_gemm(p, "sm_90a").empty();
  } catch (const jit::error&) {
    return false;
  }
}

void race_gemm(bool has_gate) {
  const std::string name = has_gate ? "SwiGLU" : "GEMM";
  summary linked(name + ", linked kernels against the tile that jit chooses"),
      chosen(name + ", the choice among linked kernels against the fastest of them"),
      by_hand(name + ", the tile that jit chooses against the fastest of hopper_gemm_tiles"),
      epilogue(name + ", one kernel for all epilogues against none");
  const jit::buffer memory = gpu().allocate(std::size_t{3} << 30), workspace = gpu().allocate(std::size_t{64} << 20);
  memory.clear();
  workspace.clear();
  char* const base = static_cast<char*>(memory.data());
  std::mt19937 random(11);
  for (int i = 0; i < (has_gate ? 12 : 48); ++i) {
    jit::gemm_problem p = random_gemm(i, has_gate, random);
    p.args.a = base, p.args.b = base + (1ll << 30), p.args.c = base + (2ll << 30), p.args.workspace = workspace.data();
    const auto time = [&](const std::string& choice) {
      jit::gemm_problem q = p;
      q.policy = choice, q.for_all_lengths = false;
      tilewright::gemm_args args = q.args;
      args.split_k = 1;
      return microseconds_of(gpu().load(jit::gemm(q)), args);
    };
    const auto fastest = [](const std::vector<timed_candidate>& list) {
      return std::min_element(list.begin(), list.end(), [](auto& x, auto& y) { return x.us < y.us; })->us;
    };
    const std::string by_jit = jit::rank_gemm(p, "sm_90a").front().choice;
    const double exact = time(by_jit);
    jit::gemm_problem all = p;
    all.for_all_lengths = true;
    const std::vector<timed_candidate> list = time_candidates(all);
    const std::string problem =
        std::to_string(p.args.m) + "x" + std::to_string(p.args.n) + "x" + std::to_string(p.args.k) + " ";
    linked.add(problem + list.front().choice + " for " + by_jit, list.front().us, exact);
    chosen.add(problem + list.front().choice, list.front().us, fastest(list));
    if (!has_gate) epilogue.add(problem + list.front().choice, list.front().us, time(list.front().choice));
    double best = 1e30;
    for (const tilewright::hopper_gemm_tile& tile : tilewright::hopper_gemm_tiles)
      for (const char* const split : {", split_k 1", ""}) {
        jit::gemm_problem q = p;
        q.policy = tilewright::name_of(tile) + split;
        if (!tile.unaligned && can_run(q)) best = std::min(best, time(q.policy));
      }
    by_hand.add(problem + by_jit, exact, best);
  }
}

}  // namespace

int main() {
  race_attention();
  race_gemm(false);
  race_gemm(true);
}
