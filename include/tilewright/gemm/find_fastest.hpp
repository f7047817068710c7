// SPDX-License-Identifier: MIT
// Finds the fastest of some contenders by measuring them: each shortly, then the best in turns.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

namespace tilewright {

/// How long is measured.
struct tuning_effort {
  std::size_t candidates = 16;    // by the model
  double first_seconds = 0.5e-3;  // of each candidate, after one launch that is not measured
  // Of the candidates, and again of the finalists; at least three of these in three rounds.
  double limit_seconds = 0.06;
  double close = 1.25;          // contenders slower than this times the best are dropped
  std::size_t finalists = 6;    // and at most this many stay
  int rounds = 7;               // in which the finalists take turns, at least 2; the first one warms up
  double round_seconds = 1e-3;  // of each finalist in each round
  int max_launches = 200;       // of one measurement
  double noise = 0.005;         // by which another than the likeliest must be faster
};

/// Back-to-back launches of a contender.
struct tuning_turn {
  std::size_t contender;
  int launches;
};

/// The number, from 0 to `count` - 1, of the contender that is fastest by the median of the finalists' rounds.
/// measure(turns) takes a vector of turns and returns the seconds of each. Turns follow each other without a pause, so
/// that the finalists find the clock that the GPU has under load. `count` is positive; the first contenders are the
/// likely ones: the first of the finalists stays unless another is clearly faster. A time that is NaN never is.
template <class Measure>
std::size_t find_fastest(std::size_t count, Measure measure, const tuning_effort& effort = {}) {
  struct contender {
    std::size_t number;
    double seconds;  // of a launch
    std::vector<double> rounds;
  };
  const auto launches = [&](double wanted, double once) {
    if (once == 0) return effort.max_launches;
    return once > 0 ? int(std::clamp(wanted / once, 1.0, double(effort.max_launches))) : 1;
  };
  const auto or_never = [](double seconds) {  // so that times can be sorted
    return seconds >= 0 ? seconds : std::numeric_limits<double>::infinity();
  };
  std::vector<contender> all;
  double spent = 0, next = 0;
  for (std::size_t i = 0; i < count && (i == 0 || spent + next < effort.limit_seconds); ++i) {
    const std::vector<double> first = measure(std::vector<tuning_turn>{{i, 1}, {i, 1}});
    const int repeat = launches(effort.first_seconds, first[1]);
    // A long one is launched only twice.
    const double more = repeat > 1 ? measure(std::vector<tuning_turn>{{i, repeat}})[0] : 0;
    all.push_back({i, std::min(or_never(first[1]), or_never(repeat > 1 ? more / repeat : first[0])), {}});
    spent += std::max(0.0, first[0] + first[1] + more);  // 0 for NaN
    if (i == 0 && first[1] > 0) next = 2 * all[0].seconds;
  }
  const auto is_faster = [](const contender& x, const contender& y) { return x.seconds < y.seconds; };
  std::sort(all.begin(), all.end(), is_faster);
  const double best = all[0].seconds;
  while (all.back().seconds > best * effort.close) all.pop_back();
  const auto comes_first = [](const contender& x, const contender& y) { return y.number > x.number; };
  const auto likeliest = std::min_element(all.begin(), all.end(), comes_first);
  std::rotate(all.begin(), likeliest, likeliest + 1);
  const double all_rounds = effort.rounds * std::max(best, effort.round_seconds);  // of one
  const double room = std::max(3.0, effort.limit_seconds / all_rounds);
  const std::size_t n = std::min(all.size(), std::size_t(std::min(double(effort.finalists), room)));
  const auto at = [&](std::size_t turn) -> contender& {  // none always follows the same one
    return all[turn / n % 2 ? n - 1 - turn % n : turn % n];
  };
  if (n == 1) return all[0].number;
  std::vector<tuning_turn> turns;
  spent = 0;
  for (std::size_t i = 0; i < n * std::size_t(std::max(2, effort.rounds)); ++i) {
    if (i % n == 0 && i >= 3 * n && spent > effort.limit_seconds) break;
    turns.push_back({at(i).number, launches(effort.round_seconds, at(i).seconds)});
    spent += turns.back().launches * at(i).seconds;
  }
  const std::vector<double> seconds = measure(turns);
  for (std::size_t i = n; i < turns.size(); ++i) at(i).rounds.push_back(or_never(seconds[i] / turns[i].launches));
  std::size_t fastest = 0;
  double least = 1 - effort.noise;
  for (std::size_t i = 1; i < n; ++i) {
    std::vector<double>& ratios = all[i].rounds;  // in which drifts of the clock cancel
    for (std::size_t r = 0; r < ratios.size(); ++r) ratios[r] = or_never(ratios[r] / all[0].rounds[r]);
    std::sort(ratios.begin(), ratios.end());
    const double median = ratios[ratios.size() / 2];
    if (!(median < least)) continue;
    least = median;
    fastest = i;
  }
  return all[fastest].number;
}

}  // namespace tilewright
