// SPDX-License-Identifier: MIT
#include "report.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace gpu_benchmark {
namespace {

const standing* find(const result& r, const std::string& name) {
  for (const standing& s : r.standings) {
    if (s.name == name && !s.seconds.empty()) return &s;
  }
  return nullptr;
}

/// How the library chooses a kernel.
enum class chosen_by : signed char { model, time };

/// The library's contender; of kernels that are compiled ahead of time, if they take part.
const standing* ours_in(const result& r, chosen_by how = chosen_by::model) {
  const standing* const ahead = find(r, how == chosen_by::model ? "tilewright" : "tuned");
  return ahead ? ahead : find(r, how == chosen_by::model ? "exact" : "searched");
}

/// The library's rate over cuBLAS's; 0 where one of them did not take part.
double ratio(const result& r, chosen_by how = chosen_by::model) {
  const standing *ours = ours_in(r, how), *cublas = find(r, "cublas");
  return ours && cublas ? median(cublas->seconds) / median(ours->seconds) : 0;
}

}  // namespace

void print_head(const facts& about) {
  for (const auto& [key, value] : about) std::printf("%-10s %s\n", key.c_str(), value.c_str());
  std::printf("\n%-34s %-12s %10s %8s %8s %10s  %s\n", "problem", "who", "TFLOP/s", "+- %", "host us", "error", "");
}

void print_row(const result& r) {
  for (const standing& s : r.standings) {
    std::printf("%-34s %-12s ", r.what.name().c_str(), s.name.c_str());
    if (!s.refusal.empty()) {
      std::printf("not run: %s\n", s.refusal.c_str());
      continue;
    }
    if (s.seconds.empty()) {
      std::printf("%10s %8s %8s ", "", "", "");
    } else {
      std::printf("%10.1f %8.2f %8.1f ", s.tflops(r.what), 100 * spread(s.seconds), 1e6 * s.host_seconds);
    }
    std::printf("%10.2e  %s%s\n", s.error.relative_error, s.correct ? "" : "WRONG ", s.choice.c_str());
    if (!s.correct) {
      std::printf("  worst entry: %.2e of the root mean square; not finite: %lld; difference to the first: %.2e\n",
                  s.error.worst, static_cast<long long>(s.error.not_finite), s.difference_to_first);
    }
  }
  if (const double x = ratio(r)) std::printf("%-34s %-12s %10.3f of cuBLAS\n", r.what.name().c_str(), "ratio", x);
  std::fflush(stdout);
}

void print_line(const result& r) {
  const standing *ours = ours_in(r), *cublas = find(r, "cublas");
  std::printf("%-31s %-10s", r.what.name().c_str(), name_of(regime_of(r.what)));
  for (const standing* s : {ours, cublas}) {
    if (s)
      std::printf(" %8.2f", 1e6 * median(s->seconds));
    else
      std::printf(" %8s", "-");
  }
  if (ours) std::printf(" %6.0f %6.1f", double(r.what.bytes()) / median(ours->seconds) * 1e-9, ours->tflops(r.what));
  if (const double x = ratio(r)) std::printf(" %6.3f", x);
  if (const double x = ratio(r, chosen_by::time)) std::printf(" %6.3f", x);
  for (const standing* s : {ours, cublas})
    if (s) std::printf(" %5.1f", 1e6 * s->host_seconds);
  for (const standing& s : r.standings) {
    if (s.name == "cublas" && s.refusal.empty() && s.correct) continue;
    std::printf("  %s%s", s.correct || !s.refusal.empty() ? "" : "WRONG ",
                s.refusal.empty() ? s.choice.c_str() : (s.name + ": " + s.refusal).c_str());
  }
  std::printf("\n");
  std::fflush(stdout);
}

void print_line_head() {
  std::printf("%-31s %-10s %8s %8s %6s %6s %s\n", "problem", "regime", "us", "cuBLAS", "GB/s", "TF/s",
              "ratio to cuBLAS; host us ours, cuBLAS");
}

namespace {

/// Geometric mean, lowest and number of some ratios.
struct summary {
  double sum = 0, lowest = 1e9;
  int count = 0;
  void add(double x) {
    sum += std::log(x);
    lowest = std::min(lowest, x);
    ++count;
  }
  double mean() const { return std::exp(sum / count); }
};

constexpr element all_elements[] = {element::f16, element::bf16, element::e4m3};

const char* name_of(chosen_by how) { return how == chosen_by::model ? "by the model" : "by time"; }

void print_regimes(const std::vector<result>& results, chosen_by who) {
  std::printf("\n%-12s", name_of(who));
  for (element type : all_elements) std::printf("  %-6s mean lowest  n", name_of(type));
  std::printf("\n");
  for (int c = 0; c < num_regimes; ++c) {
    std::printf("%-12s", name_of(regime(c)));
    for (element type : all_elements) {
      summary s;
      for (const result& r : results) {
        if (r.what.type == type && regime_of(r.what) == regime(c) && ratio(r, who) > 0) s.add(ratio(r, who));
      }
      if (s.count)
        std::printf("  %11.3f %6.3f %2d", s.mean(), s.lowest, s.count);
      else
        std::printf("  %11s %6s %2s", "-", "-", "0");
    }
    std::printf("\n");
  }
}

void print_histogram(const std::vector<result>& results, chosen_by who) {
  constexpr double bounds[] = {0, 0.5, 0.7, 0.8, 0.9, 0.95, 0.97, 1, 1.03, 1.05, 1.1, 1.2, 1.5, 1e9};
  constexpr int bins = int(std::size(bounds)) - 1;
  std::printf("%-12s", "ratio from");
  for (int b = 0; b < bins; ++b) std::printf(" %5.2f", bounds[b]);
  std::printf("\n");
  for (element type : all_elements) {
    int counts[bins] = {}, all = 0;
    for (const result& r : results) {
      const double x = ratio(r, who);
      if (r.what.type != type || x == 0) continue;
      ++all;
      for (int b = 0; b < bins; ++b) counts[b] += bounds[b] <= x && x < bounds[b + 1];
    }
    if (!all) continue;
    std::printf("%-12s", name_of(type));
    for (int n : counts) std::printf(" %5d", n);
    std::printf("\n");
  }
}

}  // namespace

void print_population(const std::vector<result>& results) {
  for (const chosen_by who : {chosen_by::model, chosen_by::time}) {
    if (std::none_of(results.begin(), results.end(), [&](const result& r) { return ratio(r, who) > 0; })) continue;
    print_regimes(results, who);
    print_histogram(results, who);
    summary sixteen_bits;
    for (const result& r : results)
      if (r.what.type != element::e4m3 && ratio(r, who) > 0) sixteen_bits.add(ratio(r, who));
    if (sixteen_bits.count)
      std::printf("%s, f16 and bf16: geometric mean %.3f of cuBLAS over %d products, lowest %.3f\n", name_of(who),
                  sixteen_bits.mean(), sixteen_bits.count, sixteen_bits.lowest);
  }
}

void print_means(const std::vector<result>& results) {
  for (element type : all_elements) {
    summary s;
    for (const result& r : results)
      if (r.what.type == type && ratio(r) > 0) s.add(ratio(r));
    if (s.count)
      std::printf("%s: geometric mean %.3f of cuBLAS over %d problems, lowest %.3f\n", name_of(type), s.mean(), s.count,
                  s.lowest);
  }
}

std::string to_json(const facts& about, const std::vector<result>& results) {
  nlohmann::ordered_json all;
  for (const auto& [key, value] : about) all[key] = value;
  all["results"] = nlohmann::ordered_json::array();
  for (const result& r : results) {
    nlohmann::ordered_json row{{"m", r.what.m},
                               {"n", r.what.n},
                               {"k", r.what.k},
                               {"type", name_of(r.what.type)},
                               {"a", r.what.a_col_major ? "col" : "row"},
                               {"b", r.what.b_col_major ? "col" : "row"}};
    if (const standing* s = ours_in(r)) row["tflops"] = s->tflops(r.what);
    if (const standing* s = find(r, "cublas")) row["cublas_tflops"] = s->tflops(r.what);
    row["regime"] = name_of(regime_of(r.what));
    if (const double x = ratio(r)) row["ratio_to_cublas"] = x;
    if (const double x = ratio(r, chosen_by::time)) row["tuned_ratio_to_cublas"] = x;
    for (const standing& s : r.standings) {
      nlohmann::ordered_json one;
      if (!s.refusal.empty()) {
        one["refusal"] = s.refusal;
      } else {
        one = {{"choice", s.choice},
               {"correct", s.correct},
               {"relative_error", s.error.relative_error},
               {"worst_error", s.error.worst},
               {"checked_entries", s.error.entries},
               {"difference_to_first", s.difference_to_first}};
        if (!s.seconds.empty()) {
          one["seconds"] = median(s.seconds);
          one["spread"] = spread(s.seconds);
          one["host_seconds"] = s.host_seconds;
          one["sm_megahertz"] = median(s.megahertz);
          one["block_seconds"] = s.seconds;
        }
      }
      row["contenders"][s.name] = one;
    }
    all["results"].push_back(row);
  }
  return all.dump(1) + "\n";
}

void print_ceilings(const std::vector<ceiling>& all) {
  std::printf("%-6s %-34s %8s %8s %9s %6s\n", "type", "what is in the loop", "clocks", "MHz", "TFLOP/s", "+- %");
  for (const ceiling& c : all) {
    std::printf("%-6s %-34s %8.2f %8.0f %9.1f %6.2f\n", name_of(c.type), c.loop->name, median(c.clocks),
                median(c.megahertz), median(c.tflops), 100 * spread(c.tflops));
  }
}

std::string to_json(const facts& about, const std::vector<ceiling>& ceilings) {
  nlohmann::ordered_json all;
  for (const auto& [key, value] : about) all[key] = value;
  all["ceilings"] = nlohmann::ordered_json::array();
  for (const ceiling& c : ceilings) {
    all["ceilings"].push_back({{"type", name_of(c.type)},
                               {"loop", c.loop->name},
                               {"gaussian", c.loop->gaussian},
                               {"clocks", median(c.clocks)},
                               {"megahertz", median(c.megahertz)},
                               {"tflops", median(c.tflops)},
                               {"spread", spread(c.tflops)},
                               {"launch_tflops", c.tflops}});
  }
  return all.dump(1) + "\n";
}

}  // namespace gpu_benchmark
