// SPDX-License-Identifier: MIT
#include "race.hpp"

#include "clock_rate.hpp"
#include "launch_graph.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <thread>

namespace gpu_benchmark {
namespace {

struct runner {
  contender* who;
  standing* result;
  launch_graph graph = {};
  int launches = 1;  // in the graph
  int replays = 1;   // in a block
};

/// Computes every set once into poisoned memory.
void verify(const problem& p, operand_pool& pool, contender& who, standing& result, buffer& first, bool is_first) {
  pool.poison(p);
  for (std::size_t set = 0; set < pool.sets().size(); ++set) who.launch(set, nullptr);
  check(cudaDeviceSynchronize(), ("running " + who.name() + " on " + p.name()).c_str());
  result.correct = true;
  for (std::size_t set : {std::size_t(0), pool.sets().size() - 1}) {
    result.error = compare_with_double(p, pool.sets()[set], 17 + set);
    result.correct = result.correct && result.error.relative_error <= tolerance(p) && result.error.not_finite == 0;
  }
  // Every element of one set against the first contender's, since the double-precision check is a sample.
  const void* c = pool.sets()[0].c;
  if (is_first) {
    check(cudaMemcpy(first.data(), c, p.c_bytes(), cudaMemcpyDeviceToDevice), "copying a result");
  } else {
    result.difference_to_first = difference(p, c, first.data());
    result.correct = result.correct && result.difference_to_first <= 2 * tolerance(p);
  }
}

/// A graph of at most 256 launches, all sets of operands equally often, and as many replays as a block lasts.
void prepare_graph(runner& r, std::size_t sets, double block_seconds) {
  event begin, end;
  r.who->launch(0, nullptr);
  begin.record();
  r.who->launch(1 % sets, nullptr);
  end.record();
  const double wanted = std::clamp(std::ceil(block_seconds / end.seconds_since(begin)), 1.0, 4096.0);
  r.launches = int(std::max<std::size_t>(1, std::size_t(std::min(wanted, 256.0)) / sets) * sets);
  r.replays = std::max(1, int(wanted) / r.launches);
  r.graph = launch_graph(r.launches, [&](int i, cudaStream_t stream) { r.who->launch(std::size_t(i) % sets, stream); });
}

/// What the host needs to queue a launch, while the stream has room for more.
double host_seconds_of(contender& who, std::size_t sets) {
  constexpr int blocks = 7, launches = 32;
  std::vector<double> seconds;
  for (int block = 0; block < blocks; ++block) {
    check(cudaDeviceSynchronize(), "waiting for launches");
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < launches; ++i) who.launch(std::size_t(i) % sets, nullptr);
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / launches);
  }
  check(cudaDeviceSynchronize(), "waiting for launches");
  return median(seconds);
}

constexpr double slow_clock = 0.5;  // of the highest: high power does not slow a GPU down so far

/// Sets the times of all runners, and returns the lowest rate of the GPU's clock between their blocks, relative to its
/// highest. Every other round runs backwards, so that none always follows the one that heats the GPU least.
/// Everything is queued before anything is read, so that the GPU never idles between blocks. The first round warms up.
double time_blocks(std::vector<runner>& runners, int rounds) {
  const std::size_t blocks = std::size_t(rounds + 1) * runners.size();
  std::vector<event> begins(blocks), ends(blocks);
  std::vector<runner*> order;
  clock_rate clock(blocks);
  for (int round = 0; round <= rounds; ++round) {
    for (std::size_t i = 0; i < runners.size(); ++i) {
      runner& r = runners[round % 2 ? runners.size() - 1 - i : i];
      begins[order.size()].record();
      for (int n = 0; n < r.replays; ++n) r.graph.replay();
      ends[order.size()].record();
      clock.record();
      order.push_back(&r);
    }
  }
  const std::vector<double> rates = clock.megahertz();
  for (const runner& r : runners) r.result->seconds.clear(), r.result->megahertz.clear();
  for (std::size_t block = runners.size(); block < blocks; ++block) {
    const runner& r = *order[block];
    r.result->seconds.push_back(ends[block].seconds_since(begins[block]) / (r.launches * r.replays));
    r.result->megahertz.push_back(rates[block]);
  }
  return *std::min_element(rates.begin(), rates.end()) / clock_rate::highest_megahertz();
}

}  // namespace

std::vector<standing> race(const problem& p, const std::vector<std::unique_ptr<contender>>& contenders,
                           const race_options& options) {
  operand_pool pool(p, options.seed);
  buffer first(p.c_bytes());
  std::vector<standing> results(contenders.size());
  std::vector<runner> runners;
  for (std::size_t i = 0; i < contenders.size(); ++i) {
    results[i].name = contenders[i]->name();
    results[i].refusal = contenders[i]->prepare(p, pool.sets());
    if (!results[i].refusal.empty()) continue;
    results[i].choice = contenders[i]->choice();
    verify(p, pool, *contenders[i], results[i], first, runners.empty());
    runners.push_back({.who = contenders[i].get(), .result = &results[i]});
  }
  if (options.verify_only || runners.empty()) return results;

  for (runner& r : runners) {
    r.result->host_seconds = host_seconds_of(*r.who, pool.sets().size());
    prepare_graph(r, pool.sets().size(), options.block_seconds);
  }
  for (int attempt = 0; attempt < 3 && time_blocks(runners, options.rounds) < slow_clock; ++attempt)
    std::this_thread::sleep_for(std::chrono::seconds(1));
  check(cudaGetLastError(), "timing");
  return results;
}

}  // namespace gpu_benchmark
