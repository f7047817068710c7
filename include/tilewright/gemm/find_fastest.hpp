// SPDX-License-Identifier: MIT
// Finds the fastest of some contenders by measuring them: each shortly, then the best in turns.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace tilewright {

/// How long is measured.
struct tuning_effort {
  std::size_t candidates = 16;    // by the model
  double first_seconds = 0.5e-3;  // of each candidate, after one launch that is not measured
  double limit_seconds = 0.06;    // after these, no more candidates are measured, or rounds of finalists
  double close = 1.25;            // contenders slower than this times the best are dropped
  std::size_t finalists = 6;      // and at most this many stay
  int rounds = 7;                 // in which the finalists take turns, at least 2; the first one warms up
  double round_seconds = 1e-3;    // of each finalist in each round
  int max_launches = 200;         // of one measurement
};

/// Back-to-back launches of a contender.
struct tuning_turn {
  std::size_t contender;
  int launches;
};

/// The number, from 0 to `count` - 1, of the contender with the smallest median of its measurements.
/// measure(turns) takes a vector of turns and returns the seconds of each. Turns follow each other without a pause, so
/// that the finalists find the clock that the GPU has under load. `count` is positive; the first contenders are the
/// likely ones.
template <class Measure>
std::size_t find_fastest(std::size_t count, Measure measure, const tuning_effort& effort = {}) {
  struct contender {
    std::size_t number;
    double seconds;  // of a launch
    std::vector<double> rounds;
  };
  const auto launches = [&](double wanted, double once) {
    return once > 0 ? int(std::clamp(wanted / once, 1.0, double(effort.max_launches))) : effort.max_launches;
  };
  std::vector<contender> all;
  double spent = 0;
  for (std::size_t i = 0; i < count && spent < effort.limit_seconds; ++i) {
    const std::vector<double> first = measure(std::vector<tuning_turn>{{i, 1}, {i, 1}});
    const int repeat = launches(effort.first_seconds, first[1]);
    // A long one is launched only twice.
    const double more = repeat > 1 ? measure(std::vector<tuning_turn>{{i, repeat}})[0] : 0;
    all.push_back({i, std::min(first[1], repeat > 1 ? more / repeat : first[0]), {}});
    spent += first[0] + first[1] + more;
  }
  const auto by_time = [](const contender& x, const contender& y) {
    return x.seconds < y.seconds || (x.seconds == y.seconds && y.number > x.number);
  };
  std::sort(all.begin(), all.end(), by_time);
  const double limit = all[0].seconds * effort.close;
  while (all.size() > 1 && (all.size() > effort.finalists || all.back().seconds > limit)) all.pop_back();
  if (all.size() == 1) return all[0].number;
  const std::size_t n = all.size();
  const auto at = [&](std::size_t turn) -> contender& {  // none always follows the same one
    return all[turn / n % 2 ? n - 1 - turn % n : turn % n];
  };
  std::vector<tuning_turn> turns;
  spent = 0;
  for (std::size_t i = 0; i < n * std::size_t(std::max(2, effort.rounds)); ++i) {
    if (i % n == 0 && i >= 3 * n && spent > effort.limit_seconds) break;
    turns.push_back({at(i).number, launches(effort.round_seconds, at(i).seconds)});
    spent += turns.back().launches * at(i).seconds;
  }
  const std::vector<double> seconds = measure(turns);
  for (std::size_t i = n; i < turns.size(); ++i) at(i).rounds.push_back(seconds[i] / turns[i].launches);
  for (contender& c : all) {
    std::sort(c.rounds.begin(), c.rounds.end());
    c.seconds = c.rounds[c.rounds.size() / 2];
  }
  return std::min_element(all.begin(), all.end(), by_time)->number;
}

}  // namespace tilewright
