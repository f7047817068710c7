// SPDX-License-Identifier: MIT
// Reductions along any dimensions for rows.py: x; y, variance or position. y has length 1 where x is reduced.
#include "library.hpp"

#include <tilewright/kernels/tensor/reduce_tensor.hpp>

namespace row_kernels {
namespace {

using enum tw::reduce_kind;

/// Memory that is kept: PyTorch's reductions take theirs from a pool, too.
void* workspace(long long bytes) {
  static void* memory = nullptr;
  static long long size = 0;
  if (bytes > size) {
    cudaFree(memory);
    cudaMalloc(&memory, std::size_t(bytes));
    size = bytes;
  }
  return memory;
}

template <class T, tw::reduce_kind Kind>
const char* start_reduce(const call& c) {
  using kernel = tw::reduce_tensor<arch, T, Kind>;
  tw::reduce_args<T> args{.x = c.strided<const T>(0), .y = c.strided<float>(1)};
  if (Kind == mean_variance) args.variance = c.data<float>(2);
  if (Kind == maximum) args.position = c.data<index_t>(2);
  if (const char* why = kernel::check(args)) return why;
  args.workspace = workspace(kernel::workspace_bytes(args));
  return start<kernel>(args, c);
}

const registered reductions[] = {
    {"sum_bf16", start_reduce<tw::bfloat16_t, sum>},
    {"sum_f32", start_reduce<float, sum>},
    {"mean_bf16", start_reduce<tw::bfloat16_t, mean>},
    {"max_bf16", start_reduce<tw::bfloat16_t, maximum>},
    {"max_f32", start_reduce<float, maximum>},
    {"mean_variance_bf16", start_reduce<tw::bfloat16_t, mean_variance>},
    {"mean_variance_f32", start_reduce<float, mean_variance>},
};

}  // namespace
}  // namespace row_kernels
