// SPDX-License-Identifier: MIT
// Kernels of jit::gemm and jit::attention on the GPU against sums in double, on random problems.
#pragma once

#include <tilewright/jit/compiler.hpp>

/// Print a line, and return whether all results were right.
bool check_products(tilewright::jit::compiler& compiler);
bool check_attention(tilewright::jit::compiler& compiler);
