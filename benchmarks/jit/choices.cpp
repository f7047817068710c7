// SPDX-License-Identifier: MIT
// Kernels that tilewright::jit chooses for a Hopper GPU against others that could compute the same: attention's tiles
// of short and of long sequences, and of GEMMs and SwiGLU the kernels for all lengths that tilewright_add_kernels
// links, and tiles that are named by hand.
#include <tilewright/jit/attention.hpp>
#include <tilewright/jit/compiler.hpp>
#include <tilewright/jit/error.hpp>
#include <tilewright/kernels/gemm/choice/gemm_choice.hpp>
#include <tilewright/kernels/gemm/choice/hopper_gemm_choice.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "gemm_race.hpp"

namespace {

using namespace gemm_race;

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
  const jit::buffer memory = gaussian(std::size_t{1} << 30);
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

/// The fastest of hopper_gemm_tiles, k whole or split by stream-K, each as jit compiles it for the problem.
double fastest_by_hand(const jit::gemm_problem& p) {
  double best = 1e30;
  for (const tilewright::hopper_gemm_tile& tile : tilewright::hopper_gemm_tiles)
    for (const char* const split : {", split_k 1", ""})
      if (!tile.unaligned) best = std::min(best, microseconds_of(p, tilewright::name_of(tile) + split, false));
  return best;
}

void race_gemm(bool has_gate) {
  const std::string name = has_gate ? "SwiGLU" : "GEMM";
  summary linked(name + ", linked kernels against the tile that jit chooses"),
      by_hand(name + ", the tile that jit chooses against the fastest of hopper_gemm_tiles"),
      epilogue(name + ", one kernel for all epilogues against none");
  const operands memory;
  for (jit::gemm_problem p : random_gemms(has_gate ? 12 : 48, has_gate)) {
    memory.give(p.args);
    const auto first_choice = [&](bool for_all_lengths) {
      jit::gemm_problem q = p;
      q.for_all_lengths = for_all_lengths;
      return jit::rank_gemm(q, "sm_90a").front().choice;
    };
    const std::string by_jit = first_choice(false), among_linked = first_choice(true);
    const double exact = microseconds_of(p, by_jit, false), all = microseconds_of(p, among_linked, true);
    linked.add(name_of(p) + " " + among_linked + " for " + by_jit, all, exact);
    if (!has_gate) epilogue.add(name_of(p) + " " + among_linked, all, microseconds_of(p, among_linked, false));
    by_hand.add(name_of(p) + " " + by_jit, exact, fastest_by_hand(p));
  }
}

}  // namespace

int main() {
  race_attention();
  race_gemm(false);
  race_gemm(true);
}
