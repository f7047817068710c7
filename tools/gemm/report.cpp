// SPDX-License-Identifier: MIT
// What the program says about a run, as text or as JSON.
#include "report.hpp"

#include <algorithm>
#include <sstream>

#include "../program/json.hpp"
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
  using program::json;
  const problem& p = r.what;
  const double best = best_seconds(r.result);
  json epilogue = json::object(), lds = json::list(), verification;
  epilogue.add("scale", p.epilogue.scale)
      .add("row_scale", p.epilogue.row_scale)
      .add("column_scale", p.epilogue.column_scale)
      .add("bias", p.epilogue.bias)
      .add("activation", name_of(p.epilogue.activation))
      .add("residual", p.epilogue.residual);
  for (const lds_conflicts& line : r.result.lds)
    lds.add(json::object()
                .add("instruction", line.instruction)
                .add("executions", line.executions)
                .add("predicted_cycles", line.predicted_cycles)
                .add("predicted_conflicts", line.predicted_conflicts)
                .add("counted_conflicts", line.counted_conflicts < 0 ? json() : json(line.counted_conflicts)));
  if (r.verification)
    verification = json::object()
                       .add("relative_error", r.verification->relative_error)
                       .add("tolerance", tolerance_of(p.result))
                       .add("correct", is_correct(*r.verification, p.result));
  json report = json::object();
  report.add("m", p.m).add("n", p.n).add("k", p.k).add("batch", p.batch).add("gap", p.gap);
  report.add("dtype", name_of(p.type)).add("out_dtype", name_of(p.result)).add("layout", layout_of(p));
  report.add("alpha", p.alpha).add("beta", p.beta).add("epilogue", epilogue);
  report.add("a", r.a_source).add("b", r.b_source).add("c", r.c_source).add("seed", r.seed);
  report.add("device", r.result.device).add("kernel", r.result.kernel).add("chosen", r.result.reason);
  report.add("seconds", r.result.seconds).add("best_seconds", best);
  report.add("operations_per_second", best > 0 ? json(operations(p) / best) : json());
  report.add("lds", lds).add("verification", verification);
  return report.text();
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
