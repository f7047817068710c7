// SPDX-License-Identifier: MIT
#include "fit.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <tuple>

namespace predict {
namespace {

/// A constant, and the range of what it may mean.
struct range {
  const char* name;
  double* value;
  double least, most;
};

std::vector<range> ranges_of(tw::cdna_gemm_constants& c) {
  return {{"launch_us", &c.launch_us, 0.5, 6},
          {"ramp_us", &c.ramp_us, 0.01, 6},
          {"latency_ns", &c.latency_ns, 100, 2000},
          {"memory_share", &c.memory_share, 0.3, 0.95},
          {"exposed_memory", &c.exposed_memory, 0.01, 1},
          {"exposed_units[0]", &c.exposed_units[0], 0.01, 1},
          {"exposed_units[1]", &c.exposed_units[1], 0.01, 1},
          {"exposed_alone", &c.exposed_alone, 0.01, 1},
          {"exposed_block", &c.exposed_block, 0.01, 1},
          {"step_clocks[0]", &c.step_clocks[0], 1, 1000},
          {"step_clocks[1]", &c.step_clocks[1], 1, 1000},
          {"mx_clocks", &c.mx_clocks, 1, 1000},
          {"tile_clocks", &c.tile_clocks, 100, 12000},
          {"store_bytes_per_clock", &c.store_bytes_per_clock, 1, 64},
          {"scale_clocks", &c.scale_clocks, 1, 8},
          {"idle_clock", &c.idle_clock, 0.01, 1},
          {"split_us[0]", &c.split_us[0], 0.1, 8},
          {"split_us[1]", &c.split_us[1], 0.1, 8},
          {"split_us[2]", &c.split_us[2], 0.1, 8}};
}

struct weighted_row {
  const measured_gemm* gemm;
  double weight;
};

std::vector<weighted_row> weighted(const std::vector<measured_gemm>& rows) {
  const auto group_of = [](const measured_gemm& g) {
    return std::tuple(g.gpu, g.element_bits, g.block_scaled, g.kernel.family, g.us > 15, g.us > 60, g.us > 300);
  };
  std::map<decltype(group_of(rows[0])), int> sizes;
  std::vector<weighted_row> result;
  for (const measured_gemm& g : rows) {
    if (!g.gpu || g.batched || !g.kernel.tile || g.splits_by_itself || !is_fitted(g)) continue;
    ++sizes[group_of(g)];
    result.push_back({&g, 0});
  }
  for (weighted_row& r : result) r.weight = 1 / std::sqrt(double(std::max(10, sizes[group_of(*r.gemm)])));
  return result;
}

double mean_error(const std::vector<weighted_row>& rows, const tw::cdna_gemm_constants& c) {
  double sum = 0, weights = 0;
  for (const auto& [g, weight] : rows) {
    const double us = tw::predict_gemm(*g->gpu, *g->kernel.tile, g->m, g->n, g->k, c).us;
    sum += weight * std::min(1.0, std::abs(std::log(us / g->us)));
    weights += weight;
  }
  return weights > 0 ? sum / weights : 0;
}

/// Multiplies one constant by `factor` as long as that helps, four times at most.
void improve(fit_result& result, const range& r, double factor, const std::vector<weighted_row>& rows) {
  for (int i = 0; i < 4; ++i) {
    const double old = *r.value;
    *r.value = std::clamp(old * factor, r.least, r.most);
    const double error = mean_error(rows, result.constants);
    if (error >= result.mean_error) {
      *r.value = old;
      return;
    }
    result.mean_error = error;
  }
}

}  // namespace

fit_result fit(const std::vector<measured_gemm>& rows, const tw::cdna_gemm_constants& start, int rounds) {
  const std::vector<weighted_row> used = weighted(rows);
  fit_result result{start, mean_error(used, start)};
  double step = 0.3;
  for (int round = 0; round < rounds && step > 0.01; ++round) {
    const double before = result.mean_error;
    for (const range& r : ranges_of(result.constants)) {
      improve(result, r, 1 + step, used);
      improve(result, r, 1 / (1 + step), used);
    }
    if (before - result.mean_error < 0.0005) step /= 2;
  }
  return result;
}

std::vector<fitted_constant> values_of(const tw::cdna_gemm_constants& c) {
  tw::cdna_gemm_constants copy = c;
  std::vector<fitted_constant> result;
  for (const range& r : ranges_of(copy)) result.push_back({r.name, *r.value});
  return result;
}

}  // namespace predict
