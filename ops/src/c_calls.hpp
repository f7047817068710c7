// SPDX-License-Identifier: MIT
// What the functions of tilewright.h share: exceptions become status codes, structs of options have a size.
#pragma once

#include <cstddef>
#include <cstring>
#include <string>
#include <type_traits>

#include <tilewright.h>

#include <tilewright/ops/parallel.hpp>
#include <tilewright/ops/tensor.hpp>

namespace tilewright::ops {

/// Runs `work`; what it throws becomes a status and tilewright_last_error().
tilewright_status guarded(const char* operation, void (*work)(void*), void* data);
template <class Work>
tilewright_status guarded(const char* operation, Work work) {
  return guarded(operation, [](void* data) { (*static_cast<Work*>(data))(); }, &work);
}

/// The caller's options, of which it may know fewer members than `defaults` has. Throws operation_error if the size is
/// none.
void read_options(const char* operation, void* to, const void* from, std::size_t bytes);
template <class Options>
Options options_of(const char* operation, const Options* given, Options defaults) {
  if (given != nullptr) read_options(operation, &defaults, given, sizeof defaults);
  return defaults;
}

/// Throws operation_error if it is null.
tensor required(const char* operation, const char* name, const tilewright_tensor* t);
/// No tensor if it is null.
tensor optional(const tilewright_tensor* t);

/// Throws operation_error if it is null.
communicator as_communicator(const char* operation, const tilewright_communicator* given);

/// The tensors that an operation needs, by the names that its messages give them.
struct operands {
  const char* operation;
  tensor operator()(const char* name, const tilewright_tensor* t) const { return required(operation, name, t); }
};

/// A function of tilewright.h: work(operands, options).
template <class Options, class Work>
tilewright_status call_c(const char* operation, const Options* given, const std::type_identity_t<Options>& defaults,
                         Work work) {
  return guarded(operation, [&] { work(operands{operation}, options_of(operation, given, defaults)); });
}

}  // namespace tilewright::ops
