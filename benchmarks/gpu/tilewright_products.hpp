// SPDX-License-Identifier: MIT
// This library's products as the benchmark sees them at run time: one gemm_operation for each type and order.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>

#include "problem.hpp"

namespace gpu_benchmark {

/// Launches of a product, one for each set of operands.
struct prepared_product {
  std::string refusal;  // why there are none
  std::string choice;
  std::vector<std::function<void(cudaStream_t)>> launches;
};

/// A workspace of the given size in bytes, with its counters set to 0.
using get_workspace = std::function<void*(std::size_t bytes)>;

/// By the model, or (`tuned`) the fastest of all kernels, by time.
using prepare_product = prepared_product (*)(const problem&, const std::vector<operands>&, const get_workspace&,
                                             bool tuned);

/// Each is compiled in tilewright_products.cu, for a GEMM_PRODUCT.
prepared_product prepare_f16_row_col(const problem&, const std::vector<operands>&, const get_workspace&, bool);
prepared_product prepare_f16_row_row(const problem&, const std::vector<operands>&, const get_workspace&, bool);
prepared_product prepare_f16_col_col(const problem&, const std::vector<operands>&, const get_workspace&, bool);
prepared_product prepare_f16_col_row(const problem&, const std::vector<operands>&, const get_workspace&, bool);
prepared_product prepare_bf16_row_col(const problem&, const std::vector<operands>&, const get_workspace&, bool);
prepared_product prepare_bf16_row_row(const problem&, const std::vector<operands>&, const get_workspace&, bool);
prepared_product prepare_bf16_col_col(const problem&, const std::vector<operands>&, const get_workspace&, bool);
prepared_product prepare_bf16_col_row(const problem&, const std::vector<operands>&, const get_workspace&, bool);
prepared_product prepare_e4m3_row_col(const problem&, const std::vector<operands>&, const get_workspace&, bool);

}  // namespace gpu_benchmark
