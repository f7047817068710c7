// SPDX-License-Identifier: MIT
// Finds the fastest of some contenders by measuring them: all of them shortly, then the best in turns.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace tilewright {

/// How long is measured.
struct tuning_effort {
  double first_seconds = 0.5e-3;  // of each contender, after one launch that is not measured
  double close = 1.25;            // contenders slower than this times the best are dropped
  std::size_t finalists = 6;      // and at most this many stay
  int rounds = 5;                 // in which the finalists take turns
  double round_seconds = 1e-3;    // of each finalist in each round
  int max_launches = 200;         // of one measurement
};

/// The number, from 0 to `count` - 1, of the contender with the smallest median of its measurements.
/// measure(contender, launches): seconds that `launches` back-to-back launches take. `count` is positive.
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
  for (std::size_t i = 0; i < count; ++i) {
    (void)measure(i, 1);
    const double once = measure(i, 1);
    const int repeat = launches(effort.first_seconds, once);
    all.push_back({i, std::min(once, measure(i, repeat) / repeat), {}});  // a long one is launched only twice
  }
  const auto by_time = [](const contender& x, const contender& y) {
    return x.seconds < y.seconds || (x.seconds == y.seconds && y.number > x.number);
  };
  std::sort(all.begin(), all.end(), by_time);
  const double limit = all[0].seconds * effort.close;
  while (all.size() > 1 && (all.size() > effort.finalists || all.back().seconds > limit)) all.pop_back();
  if (all.size() == 1) return all[0].number;
  for (int round = 0; round < effort.rounds; ++round) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      contender& c = all[round % 2 ? all.size() - 1 - i : i];  // none always follows the same one
      const int repeat = launches(effort.round_seconds, c.seconds);
      c.rounds.push_back(measure(c.number, repeat) / repeat);
    }
  }
  for (contender& c : all) {
    std::sort(c.rounds.begin(), c.rounds.end());
    c.seconds = c.rounds[c.rounds.size() / 2];
  }
  return std::min_element(all.begin(), all.end(), by_time)->number;
}

}  // namespace tilewright
