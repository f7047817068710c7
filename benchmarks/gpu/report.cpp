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

/// The library's rate over cuBLAS's; 0 where one of them did not take part.
double ratio(const result& r) {
  const standing *ours = find(r, "tilewright"), *cublas = find(r, "cublas");
  return ours && cublas ? median(cublas->seconds) / median(ours->seconds) : 0;
}

}  // namespace

void print_head(const facts& about) {
  for (const auto& [key, value] : about) std::printf("%-10s %s\n", key.c_str(), value.c_str());
  std::printf("\n%-34s %-12s %10s %8s %10s  %s\n", "problem", "who", "TFLOP/s", "+- %", "error", "");
}

void print_row(const result& r) {
  for (const standing& s : r.standings) {
    std::printf("%-34s %-12s ", r.what.name().c_str(), s.name.c_str());
    if (!s.refusal.empty()) {
      std::printf("not run: %s\n", s.refusal.c_str());
      continue;
    }
    if (s.seconds.empty()) {
      std::printf("%10s %8s ", "", "");
    } else {
      std::printf("%10.1f %8.2f ", s.tflops(r.what), 100 * spread(s.seconds));
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

void print_means(const std::vector<result>& results) {
  for (element type : {element::f16, element::bf16, element::e4m3}) {
    double sum = 0, worst = 1e9;
    int count = 0;
    for (const result& r : results) {
      const double x = ratio(r);
      if (r.what.type != type || x == 0) continue;
      sum += std::log(x);
      worst = std::min(worst, x);
      ++count;
    }
    if (count)
      std::printf("%s: geometric mean %.3f of cuBLAS over %d problems, lowest %.3f\n", name_of(type),
                  std::exp(sum / count), count, worst);
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
                               {"b", r.what.b_col_major ? "col" : "row"}};
    if (const standing* s = find(r, "tilewright")) row["tflops"] = s->tflops(r.what);
    if (const standing* s = find(r, "cublas")) row["cublas_tflops"] = s->tflops(r.what);
    if (const double x = ratio(r)) row["ratio_to_cublas"] = x;
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
