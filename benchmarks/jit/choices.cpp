// SPDX-License-Identifier: MIT
// Kernels that tilewright::jit chooses for a Hopper GPU against others that could compute the same: attention's tiles
// of short and of long sequences, and of GEMMs the kernels for all lengths that tilewright_add_kernels links.
#include <tilewright/jit/attention.hpp>
#include <tilewright/jit/compiler.hpp>
#include <tilewright/jit/gemm.hpp>

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
  explicit summary(const char* name) : name_(name) {}
  void add(const std::string& problem, double chosen, double best) {
    std::printf("%s %s: %.1f us, the best %.1f, %.3f\n", name_.c_str(), problem.c_str(), chosen, best, chosen / best);
    sum_ += std::log(chosen / best);
    ++count_;
  }
  ~summary() {
    std::printf("%s: %d problems, mean %.4f of the best\n", name_.c_str(), count_, std::exp(sum_ / count_));
  }

 private:
  std::string name_;
  double sum_ = 0;
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

void race_gemm() {
  constexpr const char* tiles[] = {"128x256",   "64x40_swap",         "128x80_a2_c1_swap", "128x176_b2_pp",
                                   "64x8_swap", "128x104_a2_c1_swap", "64x64_b2_pp"};
  constexpr index_t nk[][2] = {{4096, 4096}, {28672, 4096}, {4096, 14336}, {10240, 8192}, {7168, 2048}, {2560, 2560}};
  summary linked("gemm, linked kernels against those of jit"),
      epilogue("gemm, one kernel for all epilogues against none");
  const jit::buffer memory = gpu().allocate(std::size_t{3} << 30), workspace = gpu().allocate(std::size_t{64} << 20);
  memory.clear();
  workspace.clear();
  char* const base = static_cast<char*>(memory.data());
  std::mt19937 random(11);
  for (int i = 0; i < 24; ++i) {
    const auto [n, k] = nk[i % 6];
    const auto m = index_t(std::exp2(std::uniform_real_distribution<double>(0, 13)(random)));
    jit::gemm_problem p;
    p.args = {.m = m, .n = n, .k = k, .lda = k, .ldb = k, .ldc = n, .split_k = 0};
    p.args.a = base, p.args.b = base + (1ll << 30), p.args.c = base + (2ll << 30), p.args.workspace = workspace.data();
    const auto time = [&](jit::gemm_problem q) {
      tilewright::gemm_args args = q.args;
      args.split_k = 1;
      return microseconds_of(gpu().load(jit::gemm(q)), args);
    };
    jit::gemm_problem fixed = p;
    fixed.policy = jit::rank_gemm(p, "sm_90a").front().choice;
    const double by_jit = time(fixed);
    p.for_all_lengths = true;
    for (const jit::gemm_candidate& c : jit::rank_gemm(p, "sm_90a")) {
      const std::string tile = c.choice.substr(0, c.choice.find(','));
      if (std::find(std::begin(tiles), std::end(tiles), tile) == std::end(tiles)) continue;
      p.policy = c.choice;
      const double us = time(p);
      jit::gemm_problem plain = p;
      plain.for_all_lengths = false;
      const std::string problem =
          std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k) + " " + c.choice;
      linked.add(problem, us, by_jit);
      epilogue.add(problem, us, time(plain));
      break;
    }
  }
}

}  // namespace

int main() {
  race_attention();
  race_gemm();
}
