// SPDX-License-Identifier: MIT
// Operations for which few kernels come into question: the problem of jit is all that a call needs.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <tilewright/jit/element.hpp>

#include "call.hpp"
#include "matrix_view.hpp"

namespace tilewright::ops {

/// Members of `call` that few operations have: those of the arguments that the library sets, and an expression.
struct set_by_library {
  void** workspace = nullptr;
  index_t* splits = nullptr;
  void* given_workspace = nullptr;
  long_index_t given_bytes = 0;
  const char* expression = nullptr;
};

inline std::vector<candidate> as_list(candidate c) { return {std::move(c)}; }
inline std::vector<candidate> as_list(std::vector<candidate> list) { return list; }

/// Runs what Describe(problem, device) returns, a candidate or a list of them, with the problem's arguments.
template <auto Describe, class Problem>
void run_single(const char* operation, const call_key& key, Problem& problem, void* stream,
                const set_by_library& members = {}) {
  run({.operation = operation,
       .key = key,
       .args = &problem.args,
       .args_bytes = sizeof problem.args,
       .stream = stream,
       .workspace = members.workspace,
       .splits = members.splits,
       .given_workspace = members.given_workspace,
       .given_bytes = members.given_bytes,
       .choose = [](const void* p, const device_facts& on) -> std::vector<candidate> {
         return as_list(Describe(*static_cast<const Problem*>(p), on));
       },
       .problem = &problem,
       .expression = members.expression});
}

/// A kernel named after the operation and its types.
inline candidate kernel_for(const std::string& name, element type, jit::kernel_request source) {
  return {.kernel = name + "_" + name_of(type), .reason = "the only one for these types", .source = std::move(source)};
}

/// A key of all that is given.
template <class... Parts>
call_key key_of_all(const char* operation, const Parts&... parts) {
  call_key key(operation);
  (key.add(parts), ...);
  return key;
}

/// Compute units of a GPU, as a model: as many as the library knows of the target where the driver does not say it.
int compute_units(const device_facts& on);

}  // namespace tilewright::ops
