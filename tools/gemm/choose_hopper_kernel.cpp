// SPDX-License-Identifier: MIT
// Whether one of the Hopper kernels computes a problem, and which.
#include <algorithm>

#include <tilewright/gemm/specialized_choice.hpp>

#include "hopper_kernels.hpp"

namespace gemm_program {
namespace {

constexpr const char* prefix = "hopper_";

std::string policy_name(tw::index_t tile) {
  const tw::specialized_tile& t = tw::specialized_tiles[tile];
  std::string s = prefix + std::to_string(t.m) + "x" + std::to_string(t.n);
  if (t.share_a > 1) s += "_a" + std::to_string(t.share_a);
  if (t.share_b > 1) s += "_b" + std::to_string(t.share_b);
  return s;
}

bool has_types(const hopper_entry& e, const kernel_problem& problem) {
  return e.type == problem.type && e.result == problem.result;
}
bool is_for(const hopper_entry& e, const kernel_problem& problem) {
  return has_types(e, problem) && e.a_major == problem.a_major && e.b_major == problem.b_major;
}

/// Why no tile can do it, in the middle of a sentence; empty if one can.
std::string obstacle(const std::vector<hopper_entry>& list, const kernel_problem& problem,
                     const kernel_request& request) {
  if (request.split_k > 1 || request.grid_order)
    return "they share the work in their own way, without --split-k and --grid-order";
  const auto any = [&](auto condition) {
    return std::any_of(list.begin(), list.end(), [&](const hopper_entry& e) { return condition(e, problem); });
  };
  if (any(is_for)) return {};
  const std::string types = std::string(name_of(problem.type)) + " to " + name_of(problem.result);
  return "there are none for " + types + (any(has_types) ? " with this layout" : "");
}

}  // namespace

std::string hopper_entry::policy() const { return policy_name(tile); }

std::string hopper_entry::name() const {
  return policy() + "_" + name_of(type) + (a_major == tw::operand_major::k ? "_ak" : "_am") +
         (b_major == tw::operand_major::k ? "_bk" : "_bn") + "_to_" + name_of(result) +
         (has_epilogue ? "_epilogue" : "");
}

hopper_choice choose_hopper_kernel(const std::vector<hopper_entry>& list, const kernel_problem& problem,
                                   const kernel_request& request, int multiprocessors) {
  const bool is_asked_for = request.policy && request.policy->rfind(prefix, 0) == 0;
  if (list.empty() || (request.policy && !is_asked_for)) return {};
  const auto decline = [&](const std::string& why) -> hopper_choice {
    if (is_asked_for) throw refusal("the Hopper kernels cannot do this: " + why);
    return {nullptr, why};
  };
  if (const std::string why = obstacle(list, problem, request); !why.empty()) return decline(why);

  tw::gemm_args args = problem.args;
  // On the GPU all are aligned.
  args.a = args.b = args.c = nullptr;
  args.column_scale = nullptr;
  args.bias = nullptr;
  alignas(16) static constexpr char somewhere[16] = {};
  if (args.residual) args.residual = somewhere;
  const tw::product_operand_types operands{tw::index_t(bytes_of(problem.type)), problem.a_major == tw::operand_major::k,
                                           problem.b_major == tw::operand_major::k};
  const std::string wanted =
      is_asked_for ? *request.policy : policy_name(tw::choose_specialized_tile(args, operands, multiprocessors));
  for (const hopper_entry& e : list) {
    if (!is_for(e, problem) || e.has_epilogue != problem.wants_epilogue || e.policy() != wanted) continue;
    if (const char* why = e.check(args)) return decline(why);
    return {&e, is_asked_for ? "as --policy asks" : "a Hopper GPU, and the tile with the shortest predicted time"};
  }
  std::string names;
  for (tw::index_t i = 0; i < tw::specialized_tiles.size(); ++i) names += (i > 0 ? ", " : "") + policy_name(i);
  throw refusal("there is no policy '" + wanted + "'; those of the Hopper kernels are " + names);
}

}  // namespace gemm_program
