// SPDX-License-Identifier: MIT
// What the program says about a run, as text or as JSON.
#include "report.hpp"

#include <algorithm>
#include <sstream>

#include <nlohmann/json.hpp>

#include "formatted.hpp"

namespace gemm_program {
namespace {

std::string layout_of(const problem& p) { return {letter_of(p.a_order), letter_of(p.b_order), letter_of(p.c_order)}; }

std::string types_of(const problem& p) {
  return std::string(name_of(p.type)) + (p.result == p.type ? "" : std::string(" to ") + name_of(p.result));
}

const char* name_of(tw::activation kind) {
  switch (kind) {
    case tw::activation::relu: return "relu";
    case tw::activation::gelu: return "gelu";
    case tw::activation::silu: return "silu";
    case tw::activation::none: break;
  }
  return "none";
}

/// For instance: C = relu(1 A B * row scale + bias) + residual + 0 C.
std::string formula_of(const problem& p) {
  const epilogue_request& e = p.epilogue;
  std::string text = formatted("%g A B", double(p.alpha));
  if (e.scale) text += " * scale";
  if (e.row_scale) text += " * row scale";
  if (e.column_scale) text += " * column scale";
  if (e.bias) text += " + bias";
  if (e.activation != tw::activation::none) text = std::string(name_of(e.activation)) + "(" + text + ")";
  if (e.residual) text += " + residual";
  return "C = " + text + formatted(" + %g C", double(p.beta));
}

double median_seconds(const outcome& result) {
  std::vector<double> sorted = result.seconds;
  if (sorted.empty()) return 0;
  std::sort(sorted.begin(), sorted.end());
  return sorted[sorted.size() / 2];
}

std::string duration_text(double seconds) {
  if (seconds < 1e-3) return formatted("%.4g us", seconds * 1e6);
  if (seconds < 1) return formatted("%.4g ms", seconds * 1e3);
  return formatted("%.4g s", seconds);
}

std::string rate_text(double operations_per_second) {
  if (operations_per_second >= 1e12) return formatted("%.4g TFLOP/s", operations_per_second * 1e-12);
  return formatted("%.4g GFLOP/s", operations_per_second * 1e-9);
}

std::string input_text(const report& r) {
  std::string text = "A " + r.a_source + ", B " + r.b_source;
  if (r.c_source != "none") text += ", initial C " + r.c_source;
  const bool any_random = r.a_source == "random" || r.b_source == "random" || r.c_source == "random";
  return any_random ? text + formatted(" (seed %llu)", static_cast<unsigned long long>(r.seed)) : text;
}

std::string time_text(const outcome& result) {
  const std::string best = duration_text(best_seconds(result));
  if (result.seconds.size() < 2) return best;
  return best + formatted(" best of %zu, median ", result.seconds.size()) + duration_text(median_seconds(result));
}

std::string verification_text(const report& r) {
  if (!r.verification) return "not compared with a reference (--verify does)";
  return formatted("||C - R|| / ||R|| = %.3g against double precision, tolerance %g: %s",
                   r.verification->relative_error, tolerance_of(r.what.result),
                   is_correct(*r.verification, r.what.result) ? "correct" : "WRONG");
}

std::string lds_text(const outcome& result) {
  if (result.lds.empty()) return "";
  std::string text =
      formatted("%-18s %14s %20s %18s\n", "LDS instruction", "executions", "conflicts predicted", "counted");
  for (const lds_conflicts& line : result.lds) {
    const std::string counted = line.counted_conflicts < 0 ? "-" : std::to_string(line.counted_conflicts);
    text += formatted("%-18s %14lld %20lld %18s\n", line.instruction.c_str(), static_cast<long long>(line.executions),
                      static_cast<long long>(line.predicted_conflicts), counted.c_str());
  }
  return text;
}

}  // namespace

double operations(const problem& p) { return 2.0 * double(p.batch) * double(p.m) * double(p.n) * double(p.k); }

double best_seconds(const outcome& result) {
  return result.seconds.empty() ? 0 : *std::min_element(result.seconds.begin(), result.seconds.end());
}

std::string to_text(const report& r) {
  const problem& p = r.what;
  const double best = best_seconds(r.result);
  std::ostringstream text;
  text << "problem   " << formula_of(p) << ", m n k = " << p.m << " " << p.n << " " << p.k
       << (p.batch > 1 ? formatted(", batch of %lld", static_cast<long long>(p.batch)) : "") << ", " << types_of(p)
       << ", layout " << layout_of(p) << "\n"
       << "input     " << input_text(r) << "\n"
       << "device    " << r.result.device << "\n"
       << "kernel    " << r.result.kernel << "\n"
       << "chosen    " << r.result.reason << "\n"
       << "time      " << time_text(r.result) << "\n";
  if (best > 0) text << "rate      " << rate_text(operations(p) / best) << "\n";
  text << "result    " << verification_text(r) << "\n" << lds_text(r.result);
  return text.str();
}

std::string to_json(const report& r) {
  using json = nlohmann::ordered_json;
  const problem& p = r.what;
  const double best = best_seconds(r.result);
  json lds = json::array();
  for (const lds_conflicts& line : r.result.lds)
    lds.push_back({{"instruction", line.instruction},
                   {"executions", line.executions},
                   {"predicted_cycles", line.predicted_cycles},
                   {"predicted_conflicts", line.predicted_conflicts},
                   {"counted_conflicts", line.counted_conflicts < 0 ? json() : json(line.counted_conflicts)}});
  json verification;
  if (r.verification)
    verification = {{"relative_error", r.verification->relative_error},
                    {"tolerance", tolerance_of(p.result)},
                    {"correct", is_correct(*r.verification, p.result)}};
  const json object = {{"m", p.m},
                       {"n", p.n},
                       {"k", p.k},
                       {"batch", p.batch},
                       {"gap", p.gap},
                       {"dtype", name_of(p.type)},
                       {"out_dtype", name_of(p.result)},
                       {"layout", layout_of(p)},
                       {"alpha", p.alpha},
                       {"beta", p.beta},
                       {"epilogue",
                        {{"scale", p.epilogue.scale},
                         {"row_scale", p.epilogue.row_scale},
                         {"column_scale", p.epilogue.column_scale},
                         {"bias", p.epilogue.bias},
                         {"activation", name_of(p.epilogue.activation)},
                         {"residual", p.epilogue.residual}}},
                       {"a", r.a_source},
                       {"b", r.b_source},
                       {"c", r.c_source},
                       {"seed", r.seed},
                       {"device", r.result.device},
                       {"kernel", r.result.kernel},
                       {"chosen", r.result.reason},
                       {"seconds", r.result.seconds},
                       {"best_seconds", best},
                       {"operations_per_second", best > 0 ? json(operations(p) / best) : json()},
                       {"lds", lds},
                       {"verification", verification}};
  return object.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

std::string failure_sentence(const report& r) {
  const comparison& c = r.verification.value();
  if (!c.gaps_kept) return "the result is wrong: the kernel wrote between the rows (columns) of C";
  const std::string matrix =
      r.what.batch > 1 ? formatted(" of matrix %lld", static_cast<long long>(c.worst_batch)) : std::string();
  return formatted(
      "the result is wrong: its relative error %.3g is not within %g, and C(%lld, %lld)%s is %g instead of %g",
      c.relative_error, tolerance_of(r.what.result), static_cast<long long>(c.worst_row),
      static_cast<long long>(c.worst_col), matrix.c_str(), c.worst_result, c.worst_reference);
}

}  // namespace gemm_program
