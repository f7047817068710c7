// SPDX-License-Identifier: MIT
#include "gemm_candidates.hpp"

#include <string>
#include <utility>

#include <tilewright/core/arch/arch.hpp>
#include <tilewright/jit/error.hpp>
#include <tilewright/jit/gemm.hpp>

#include "matrix_view.hpp"

namespace tilewright::ops {
namespace {

/// Whether a target multiplies elements of a type.
bool multiplies(const std::string& target, element type) {
  const arch::target& t = *arch::find_target(target == "sm_90a" ? "sm_90" : target.c_str());
  const bool is_fnuz = t.fp8 == arch::fp8_kind::fnuz;
  using enum arch::matrix_element;
  const arch::matrix_element e = type == element::bf16  ? bf16
                                 : type == element::f32 ? f32
                                 : type == element::fp8 ? (is_fnuz ? fp8_fnuz : fp8_ocp)
                                 : type == element::bf8 ? (is_fnuz ? bf8_fnuz : bf8_ocp)
                                 : type == element::i8  ? i8
                                                        : f16;
  for (const arch::matrix_op op : t.matrix_ops)
    if (t.supports(op, e)) return true;
  return t.has_wgmma && e == fp8_ocp;
}

/// What jit::rank_gemm says of a problem. reason: null: jit's.
void append_ranked(std::vector<candidate>& list, jit::gemm_problem p, const std::string& target, const char* reason) {
  for (const jit::gemm_candidate& c : jit::rank_gemm(p, target)) {
    p.policy = c.choice;
    list.push_back({.kernel = c.kernel,
                    .choice = c.choice,
                    .reason = reason ? reason : c.reason,
                    .source = jit::gemm(p),
                    .is_for_archives = p.for_all_lengths,
                    .splits = c.split_k,
                    .workspace_bytes = c.workspace_bytes,
                    .counts_in_workspace = true});
  }
}

}  // namespace

std::vector<candidate> choose_gemm_kernels(const void* problem, const device_facts& on) {
  jit::gemm_problem p = *static_cast<const jit::gemm_problem*>(problem);
  if (!multiplies(on.target, p.type))
    refuse("gemm", on.target + " has no matrix instructions for " + name_of(p.type) + "; use another element type");
  alignas(16) static char somewhere[16];
  p.args.workspace = somewhere;  // there will be one
  const char* tuned_reason = nullptr;
  if (p.policy.empty() && on.by != nullptr) {
    p = jit::tuned(*on.by, p);
    if (!p.policy.empty()) tuned_reason = "the fastest of a tuning file";
  }
  std::vector<candidate> list;
  try {
    append_ranked(list, p, on.target, tuned_reason);
  } catch (const jit::error& e) {
    throw jit::error(std::string(e.what()).substr(5) + "; explain() names the choices");
  }
  if (on.by != nullptr && on.by->has_archives()) {
    p.policy = static_cast<const jit::gemm_problem*>(problem)->policy;
    p.for_all_lengths = true;
    try {
      append_ranked(list, p, on.target, nullptr);
    } catch (const jit::error&) {  // a policy that only kernels for some lengths have
    }
  }
  // Compiled kernels take any length without vectors, too.
  for (std::size_t i = 0, count = list.size(); i < count; ++i) {
    const std::size_t vector = list[i].kernel.rfind("_v");
    if (vector == std::string::npos || list[i].splits > 1 || list[i].kernel.ends_with("_v1")) continue;
    candidate any = list[i];
    any.kernel.replace(vector, std::string::npos, "_v1");
    any.source = {};
    any.is_for_archives = false;
    list.push_back(std::move(any));
  }
  return list;
}

}  // namespace tilewright::ops
