// SPDX-License-Identifier: MIT
// What the program says about a run, as text or as JSON.
#include "report.hpp"

#include <algorithm>
#include <sstream>

#include <nlohmann/json.hpp>

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
                   gemm_program::tolerance_of(r.data.o.type), is_correct(c, r.data.o.type) ? "correct" : "WRONG");
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
  using json = nlohmann::ordered_json;
  const inputs& d = r.data;
  const double best = best_seconds(r.result);
  json verification;
  if (r.verification)
    verification = {{"relative_error", r.verification->relative_error},
                    {"lse_error", r.verification->lse_error},
                    {"gradient_errors", d.has_gradients() ? json(r.verification->gradient_errors) : json()},
                    {"tolerance", gemm_program::tolerance_of(d.o.type)},
                    {"correct", is_correct(*r.verification, d.o.type)}};
  const json object = {{"batch", d.batch},
                       {"heads", d.heads},
                       {"kv_heads", d.kv_heads},
                       {"queries", d.queries()},
                       {"keys", d.keys()},
                       {"dim", d.q.cols},
                       {"value_dim", d.v.cols},
                       {"dtype", name_of(d.q.type)},
                       {"scale", d.scale},
                       {"left", d.window.left},
                       {"right", d.window.right},
                       {"q", d.q_source},
                       {"k", d.k_source},
                       {"v", d.v_source},
                       {"backward", d.has_gradients()},
                       {"seed", r.seed},
                       {"device", r.result.device},
                       {"seconds", r.result.seconds},
                       {"operations_per_second", best > 0 ? json(operations(d) / best) : json()},
                       {"verification", verification}};
  return object.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

std::string failure_sentence(const report& r) {
  const comparison& c = r.verification.value();
  return formatted(
      "the result is wrong: its relative error %.3g or those of dQ, dK and dV (%.3g, %.3g, %.3g) are not within %g, or "
      "its log-sum-exp is off by %.3g; "
      "O(%lld, %lld) of head %lld is %g instead of %g",
      c.relative_error, c.gradient_errors[0], c.gradient_errors[1], c.gradient_errors[2],
      gemm_program::tolerance_of(r.data.o.type), c.lse_error, static_cast<long long>(c.worst_row),
      static_cast<long long>(c.worst_col), static_cast<long long>(c.worst_head), c.worst_result, c.worst_reference);
}

}  // namespace attention_program
