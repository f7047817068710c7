// SPDX-License-Identifier: MIT
// What the program says about a run, as text or as JSON.
#include "report.hpp"

#include <algorithm>
#include <sstream>

#include "../program/json.hpp"
#include "formatted.hpp"

namespace attention_program {
namespace {

using gemm_program::formatted;

/// Operations of both products, or of the five for the gradients, without those that the mask saves.
double operations(const inputs& data) {
  const double both =
      2.0 * double(data.q.batch) * double(data.queries()) * double(data.keys()) * double(data.q.cols + data.v.cols);
  return data.has_gradients() ? 2.5 * both : both;
}

double best_seconds(const outcome& result) {
  return result.seconds.empty() ? 0 : *std::min_element(result.seconds.begin(), result.seconds.end());
}

std::string mask_of(const tw::attention_window& w) {
  if (w.left < 0 && w.right < 0) return "none";
  if (w.left < 0 && w.right == 0) return "causal";
  const auto side = [](tw::index_t n) { return n < 0 ? std::string("all") : std::to_string(n); };
  return side(w.left) + " earlier and " + side(w.right) + " later keys";
}

std::string result_of(const report& r) {
  if (!r.verification) return "not verified";
  const comparison& c = *r.verification;
  const std::string gradients = !r.data.has_gradients()
                                    ? ""
                                    : formatted(", of the gradients %.3g, %.3g, %.3g", c.gradient_errors[0],
                                                c.gradient_errors[1], c.gradient_errors[2]);
  return formatted("%s, relative error %.3g%s (tolerance %g): %s", "verified", c.relative_error, gradients.c_str(),
                   gemm_program::tolerance_of(r.data.q.type), is_correct(c, r.data.q.type) ? "correct" : "WRONG");
}

}  // namespace

std::string to_text(const report& r) {
  const inputs& d = r.data;
  std::ostringstream text;
  text << "problem   " << d.batch << " sequences, " << d.heads << " query and " << d.kv_heads << " key heads, "
       << d.queries() << " queries, " << d.keys() << " keys, dimensions " << d.q.cols << " and " << d.v.cols << ", "
       << name_of(d.q.type) << ", mask " << mask_of(d.window) << "\n"
       << "input     Q " << d.q_source << ", K " << d.k_source << ", V " << d.v_source << "\n"
       << "device    " << r.result.device << "\n";
  if (const double best = best_seconds(r.result); best > 0)
    text << formatted("time      %.4g ms, %.4g TFLOP/s (without the mask's savings)\n", best * 1e3,
                      operations(d) / best * 1e-12);
  text << "result    " << result_of(r) << "\n";
  return text.str();
}

std::string to_json(const report& r) {
  using program::json;
  const inputs& d = r.data;
  const double best = best_seconds(r.result);
  json verification, gradient_errors;
  if (r.verification) {
    if (d.has_gradients()) gradient_errors = json::list();
    for (const double error : r.verification->gradient_errors)
      if (d.has_gradients()) gradient_errors.add(error);
    verification = json::object()
                       .add("relative_error", r.verification->relative_error)
                       .add("lse_error", r.verification->lse_error)
                       .add("gradient_errors", gradient_errors)
                       .add("tolerance", gemm_program::tolerance_of(d.q.type))
                       .add("correct", is_correct(*r.verification, d.q.type));
  }
  json report = json::object();
  report.add("batch", d.batch).add("heads", d.heads).add("kv_heads", d.kv_heads);
  report.add("queries", d.queries()).add("keys", d.keys()).add("dim", d.q.cols).add("value_dim", d.v.cols);
  report.add("dtype", name_of(d.q.type)).add("scale", d.scale);
  report.add("left", d.window.left).add("right", d.window.right);
  report.add("q", d.q_source).add("k", d.k_source).add("v", d.v_source);
  report.add("backward", d.has_gradients()).add("seed", r.seed);
  report.add("device", r.result.device).add("seconds", r.result.seconds);
  report.add("operations_per_second", best > 0 ? json(operations(d) / best) : json());
  report.add("verification", verification);
  return report.text();
}

std::string failure_sentence(const report& r) {
  const comparison& c = r.verification.value();
  return formatted(
      "the result is wrong: its relative error %.3g or those of dQ, dK and dV (%.3g, %.3g, %.3g) are not within %g, or "
      "its log-sum-exp is off by %.3g; "
      "O(%lld, %lld) of head %lld is %g instead of %g",
      c.relative_error, c.gradient_errors[0], c.gradient_errors[1], c.gradient_errors[2],
      gemm_program::tolerance_of(r.data.q.type), c.lse_error, static_cast<long long>(c.worst_row),
      static_cast<long long>(c.worst_col), static_cast<long long>(c.worst_head), c.worst_result, c.worst_reference);
}

}  // namespace attention_program
