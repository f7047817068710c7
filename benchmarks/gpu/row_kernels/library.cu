// SPDX-License-Identifier: MIT
// libtilewright_rows: the kernels on rows behind one C function, which rows.py calls.
#include "library.hpp"

#include <string>

namespace {

using row_kernels::registered;

const registered* find(const std::string& name) {
  const registered* kernel = registered::first();
  while (kernel && kernel->name != name) kernel = kernel->next;
  return kernel;
}

}  // namespace

/// A handle for tilewright_rows; null if there is no kernel of this name.
extern "C" const void* tilewright_rows_find(const char* kernel) { return find(kernel); }

/// Queues a kernel. Returns null, or why it was refused: a text that lives until the next call.
extern "C" const char* tilewright_rows(const void* kernel, const row_kernels::tensor* tensors, const double* numbers,
                                       cudaStream_t stream) {
  static std::string message;
  try {
    const char* const why = static_cast<const registered*>(kernel)->start({tensors, numbers, stream});
    if (!why) return nullptr;
    message = why;
  } catch (const tilewright::launch_error& error) {
    message = error.what();
  }
  return message.c_str();
}

/// For callers that declare the struct themselves.
extern "C" int tilewright_rows_tensor_bytes() { return int(sizeof(row_kernels::tensor)); }
