// SPDX-License-Identifier: MIT
// Operations for which one kernel comes into question: the problem of jit is all that a call needs.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <tilewright/jit/element.hpp>

#include "call.hpp"
#include "matrix_view.hpp"

namespace tilewright::ops {

/// For call::choose: what `Describe` says of a Problem.
template <class Problem, candidate (*Describe)(const Problem&, const device_facts&)>
std::vector<candidate> choose_single(const void* problem, const device_facts& on) {
  return {Describe(*static_cast<const Problem*>(problem), on)};
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
