// SPDX-License-Identifier: MIT
// Whether one of the Hopper kernels computes a problem, and which.
#include <algorithm>
#include <optional>

#include "hopper_kernels.hpp"

namespace gemm_program {
namespace {

const std::string prefix = "hopper_";

bool has_types(const hopper_product& e, const kernel_problem& problem) {
  return e.type == problem.type && e.result == problem.result;
}
bool is_for(const hopper_product& e, const kernel_problem& problem) {
  return has_types(e, problem) && e.a_major == problem.a_major && e.b_major == problem.b_major &&
         e.has_epilogue == problem.wants_epilogue;
}

/// What a policy such as "64x64, split_k 3" asks for; nothing if there is no such kernel.
std::optional<tw::gemm_choice> named_choice(const std::vector<tw::gemm_choice>& kernels, const std::string& policy) {
  const std::optional<tw::gemm_choice> named = tw::choice_named(policy);
  const bool is_there = named && std::any_of(kernels.begin(), kernels.end(), [&](const tw::gemm_choice& c) {
                          return tw::kernel_name_of(c) == tw::kernel_name_of(*named);
                        });
  return is_there ? named : std::nullopt;
}

/// Pointers as they are on the GPU, where all are aligned and there is a workspace.
tw::gemm_args as_on_device(tw::gemm_args args) {
  alignas(16) static char somewhere[16] = {};
  args.a = args.b = args.c = nullptr;
  args.column_scale = nullptr;
  args.bias = nullptr;
  if (args.residual) args.residual = somewhere;
  args.workspace = somewhere;
  return args;
}

}  // namespace

std::string hopper_choice::name() const {
  return prefix + tw::kernel_name_of(kernel) + "_" + name_of(*product) +
         (kernel.split_k == 0 ? "" : ", " + tw::name_of_split_k(kernel.split_k));
}

hopper_choice choose_hopper_kernel(const std::vector<hopper_product>& list, const kernel_problem& problem,
                                   const kernel_request& request, int SMs) {
  const bool is_asked_for = request.policy && request.policy->rfind(prefix, 0) == 0;
  if (list.empty() || (request.policy && !is_asked_for)) return {};
  const auto decline = [&](const std::string& why) -> hopper_choice {
    if (is_asked_for) throw refusal("the Hopper kernels cannot do this: " + why);
    return {.reason = why};
  };
  if (request.split_k > 1 || request.grid_order)
    return decline("they share the work in their own way, without --split-k and --grid-order");
  const auto found =
      std::find_if(list.begin(), list.end(), [&](const hopper_product& e) { return is_for(e, problem); });
  if (found == list.end()) {
    const bool other_layout =
        std::any_of(list.begin(), list.end(), [&](const hopper_product& e) { return has_types(e, problem); });
    return decline("there are none for " + std::string(name_of(problem.type)) + " to " + name_of(problem.result) +
                   (other_layout ? " with this layout" : ""));
  }
  const tw::gemm_args args = as_on_device(problem.args);
  tw::gemm_choice kernel;
  if (is_asked_for) {
    const auto named = named_choice(found->kernels, request.policy->substr(prefix.size()));
    if (!named) {
      std::string known;
      for (const tw::gemm_choice& c : found->kernels) known += (known.empty() ? "" : ", ") + prefix + name_of(c);
      throw refusal("there is no policy '" + *request.policy + "'; those of the Hopper kernels are " + known +
                    ", also with such as \", split_k 3\"");
    }
    kernel = *named;
  } else {
    kernel = found->choose(args, SMs);
  }
  if (const char* why = found->check(args, kernel)) return decline(why);
  return {&*found, kernel,
          is_asked_for ? "as --policy asks" : "a Hopper GPU, and the kernel with the shortest predicted time"};
}

}  // namespace gemm_program
