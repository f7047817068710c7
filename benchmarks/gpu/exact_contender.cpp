// SPDX-License-Identifier: MIT
// This library's GEMM kernels for exact tiles, compiled at run time: the tile that the model chooses of the whole
// family, or the fastest of those that it prefers, by time.
#include <tilewright/jit/compiler.hpp>
#include <tilewright/jit/gemm.hpp>
#include <tilewright/kernels/gemm/hopper/hopper_gemm_plan.hpp>
#include <tilewright/launch/tuning/find_fastest.hpp>

#include <algorithm>
#include <functional>

#include "contender.hpp"
#include "launch_graph.hpp"

namespace gpu_benchmark {
namespace {

namespace jit = tilewright::jit;
namespace tw = tilewright;

constexpr std::size_t candidates = 16;  // of a search

/// The same compiler for all, which remembers kernels.
jit::compiler& compiler() {
  static jit::compiler one;
  return one;
}

tw::gemm_args arguments_of(const problem& p, void* workspace) {
  tw::gemm_args g{.m = tw::index_t(p.m), .n = tw::index_t(p.n), .k = tw::index_t(p.k)};
  g.lda = tw::index_t(p.a_col_major ? p.m : p.k);
  g.ldb = tw::index_t(p.b_col_major ? p.k : p.n);
  g.ldc = tw::index_t(p.n);
  g.workspace = workspace;
  return g;
}

/// With the policy of a choice; empty: the model's.
jit::gemm_problem jit_problem(const problem& p, const std::string& policy) {
  alignas(16) static char somewhere[16];
  constexpr jit::element elements[] = {jit::element::f16, jit::element::bf16, jit::element::fp8};
  jit::gemm_problem j{.type = elements[int(p.type)],
                      .result = elements[int(p.c_type())],
                      .a_along_k = !p.a_col_major,
                      .b_along_k = p.b_col_major,
                      .args = arguments_of(p, somewhere)};
  j.policy = policy;
  return j;
}

/// The first is the model's choice.
std::vector<std::string> policies_of(const problem& p, std::size_t most) {
  std::vector<std::string> list;
  for (const jit::gemm_problem& j : jit::policies_to_time(jit_problem(p, ""), "sm_90a", most)) list.push_back(j.policy);
  return list;
}

class exact_contender final : public contender {
 public:
  explicit exact_contender(bool searches) : searches_(searches) {}
  std::string name() const override { return searches_ ? "searched" : "exact"; }
  std::string choice() const override { return choice_; }

  /// Before the GPU is used: kernels are compiled in processes.
  void announce(const std::vector<problem>& problems) override {
    std::vector<jit::kernel_request> requests;
    for (const problem& p : problems)
      for (const std::string& policy : policies_of(p, searches_ ? candidates : 1))
        requests.push_back(jit::gemm(jit_problem(p, policy)));
    jit::compiler offline({.target = "sm_90a", .on_progress = jit::progress_line()});
    offline.prepare(requests);
  }

  std::string prepare(const problem& p, const std::vector<operands>& sets) override try {
    launches_.clear();
    if (!workspace_.data()) {
      workspace_ = buffer(std::size_t(tw::hopper_gemm_workspace::bytes));
      check(cudaMemset(workspace_.data(), 0, tw::hopper_gemm_workspace::counter_bytes), "clearing the workspace");
    }
    std::vector<std::vector<jit::bound_kernel>> all;
    const std::vector<std::string> policies = policies_of(p, searches_ ? candidates : 1);
    for (const std::string& policy : policies) all.push_back(bound(p, sets, policy));
    std::size_t best = 0;
    if (all.size() > 1) best = fastest(all);
    launches_ = all[best];
    choice_ = names_[best];
    names_.clear();
    return {};
  } catch (const jit::error& e) {
    names_.clear();
    return e.what();
  }
  void launch(std::size_t set, cudaStream_t stream) override { launches_[set](stream); }

 private:
  std::vector<jit::bound_kernel> bound(const problem& p, const std::vector<operands>& sets, const std::string& policy) {
    const jit::kernel_source source = jit::gemm(jit_problem(p, policy))(compiler().target());
    const jit::kernel kernel = compiler().load(source);
    names_.push_back(source.name + (source.host.name.empty() ? "" : ", " + source.host.name));
    std::vector<jit::bound_kernel> list;
    for (const operands& o : sets) {
      tw::gemm_args g = arguments_of(p, workspace_.data());
      g.a = o.a, g.b = o.b, g.c = o.c;
      list.push_back(kernel.bind(g));
    }
    return list;
  }

  /// By graphs of launches, as in the race.
  static std::size_t fastest(const std::vector<std::vector<jit::bound_kernel>>& all) {
    constexpr int in_graph = 32;
    std::vector<launch_graph> graphs;
    for (const auto& set : all) {
      set[0](nullptr);
      graphs.emplace_back(in_graph, [&](int i, cudaStream_t stream) { set[std::size_t(i) % set.size()](stream); });
    }
    const auto measure = [&](const std::vector<tw::tuning_batch>& batches) {
      std::vector<event> marks(batches.size() + 1);
      std::vector<int> launches;
      marks[0].record();
      for (std::size_t i = 0; i < batches.size(); ++i) {
        const int replays = std::max(1, batches[i].launches / in_graph);
        for (int n = 0; n < replays; ++n) graphs[batches[i].contender].replay();
        marks[i + 1].record();
        launches.push_back(replays * in_graph);
      }
      std::vector<double> seconds;
      for (std::size_t i = 0; i < batches.size(); ++i)
        seconds.push_back(marks[i + 1].seconds_since(marks[i]) * batches[i].launches / launches[i]);
      return seconds;
    };
    return tw::find_fastest(all.size(), measure, {.limit_seconds = 0.15, .finalists = 6});
  }

  bool searches_;
  buffer workspace_;
  std::vector<std::string> names_;  // of what is bound
  std::vector<jit::bound_kernel> launches_;
  std::string choice_;
};

}  // namespace

std::unique_ptr<contender> make_exact_contender(bool searches) { return std::make_unique<exact_contender>(searches); }

}  // namespace gpu_benchmark
