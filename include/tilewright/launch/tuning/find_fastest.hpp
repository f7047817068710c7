// SPDX-License-Identifier: MIT
// Finds the fastest of some contenders by measuring them: each shortly, then the best in interleaved batches of
// launches.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace tilewright {

/// How long is measured.
struct tuning_effort {
  std::size_t candidates = 16;    ///< by the model
  double first_seconds = 0.5e-3;  ///< of each candidate, in two passes, after two launches
  // Of the candidates, and again of the finalists; at least three of these in three rounds.
  /// of the candidates, and again of the finalists; at least three of these in three rounds
  double limit_seconds = 0.06;
  double close = 1.25;          ///< contenders slower than this times the best are dropped
  std::size_t finalists = 6;    ///< and at most this many stay
  int rounds = 7;               ///< of a batch of each finalist, at least 2; the first one warms up
  double round_seconds = 1e-3;  ///< of each finalist in each round
  int max_launches = 200;       ///< of one measurement
  double noise = 0.005;         ///< by which another than the likeliest must be faster
};

/// Back-to-back launches of a contender.
struct tuning_batch {
  std::size_t contender;  ///< number among the contenders
  int launches;           ///< in this block
};

namespace detail {

struct tuning_contender {
  std::size_t number;
  double seconds;  // of a launch
  std::vector<double> rounds = {};
};
/// Infinite for a time that is NaN, so that times can be sorted.
inline double or_never(double seconds) { return seconds >= 0 ? seconds : std::numeric_limits<double>::infinity(); }
/// Launches for about `wanted` seconds.
inline int tuning_launches(const tuning_effort& effort, double wanted, double once) {
  if (once == 0) return effort.max_launches;
  return once > 0 ? int(std::clamp(wanted / once, 1.0, double(effort.max_launches))) : 1;
}

/// The first contender, then others as far as there is time, the fastest first. Each is launched twice; then, if there
/// is time, all for a short while, forwards and backwards, so that a drift of the clock favours none.
template <class Measure>
std::vector<tuning_contender> time_shortly(std::size_t count, Measure& measure, const tuning_effort& effort) {
  std::vector<tuning_contender> all;
  double spent = 0, once = 0;
  for (std::size_t i = 0; i < count && (i == 0 || spent + once < effort.limit_seconds); ++i) {
    const std::vector<double> first = measure(std::vector<tuning_batch>{{i, 1}, {i, 1}});
    all.push_back({i, std::min(or_never(first[0]), or_never(first[1]))});
    spent += std::max(0.0, first[0] + first[1]);  // 0 for NaN
    if (i == 0 && first[1] > 0) once = 2 * all[0].seconds;
  }
  std::vector<tuning_batch> passes;
  for (std::size_t i = 0; i < 2 * all.size(); ++i) {
    const tuning_contender& c = all[std::min(i, 2 * all.size() - 1 - i)];
    passes.push_back({c.number, tuning_launches(effort, effort.first_seconds / 2, c.seconds)});
    if (std::isfinite(c.seconds)) spent += passes.back().launches * c.seconds;
  }
  if (spent < effort.limit_seconds) {
    const std::vector<double> seconds = measure(passes);
    for (tuning_contender& c : all)
      c.seconds = or_never((seconds[c.number] + seconds[passes.size() - 1 - c.number]) / passes[c.number].launches / 2);
  }
  std::sort(all.begin() + 1, all.end(), [](const auto& x, const auto& y) { return y.seconds > x.seconds; });
  return all;
}

}  // namespace detail

/// The number, from 0 to `count` - 1, of the contender that is fastest by the median of the finalists' rounds.
/// measure(batches) takes a vector of batches and returns the seconds of each. Batches follow each other without a
/// pause, so that the finalists find the clock that the GPU has under load. `count` is positive; the first contenders
/// are the likely ones: the first one stays unless another is clearly faster. A time that is NaN never is.
template <class Measure>
std::size_t find_fastest(std::size_t count, Measure measure, const tuning_effort& effort = {}) {
  std::vector<detail::tuning_contender> all = detail::time_shortly(count, measure, effort);
  const double best = std::min(all[0].seconds, all[all.size() > 1].seconds);
  while (all.size() > 1 && all.back().seconds > best * effort.close) all.pop_back();
  const double all_rounds = effort.rounds * std::max(best, effort.round_seconds);  // of one
  const double room = std::max(3.0, effort.limit_seconds / all_rounds);
  const std::size_t n = std::min(all.size(), std::size_t(std::min(double(effort.finalists), room)));
  const auto at = [&](std::size_t i) -> auto& {  // none always follows the same one
    return all[i / n % 2 ? n - 1 - i % n : i % n];
  };
  if (n == 1) return all[0].number;
  std::vector<tuning_batch> batches;
  double spent = 0;
  for (std::size_t i = 0; i < n * std::size_t(std::max(2, effort.rounds)); ++i) {
    if (i % n == 0 && i >= 3 * n && spent > effort.limit_seconds) break;
    batches.push_back({at(i).number, detail::tuning_launches(effort, effort.round_seconds, at(i).seconds)});
    spent += batches.back().launches * at(i).seconds;
  }
  const std::vector<double> seconds = measure(batches);
  for (std::size_t i = n; i < batches.size(); ++i)
    at(i).rounds.push_back(detail::or_never(seconds[i] / batches[i].launches));
  std::size_t fastest = 0;
  double least = 1 - effort.noise;
  for (std::size_t i = 1; i < n; ++i) {
    std::vector<double>& ratios = all[i].rounds;  // in which drifts of the clock cancel
    for (std::size_t r = 0; r < ratios.size(); ++r) ratios[r] = detail::or_never(ratios[r] / all[0].rounds[r]);
    std::sort(ratios.begin(), ratios.end());
    const double median = ratios[ratios.size() / 2];
    if (!(median < least)) continue;
    least = median;
    fastest = i;
  }
  return all[fastest].number;
}

}  // namespace tilewright
