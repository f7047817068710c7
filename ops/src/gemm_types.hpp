// SPDX-License-Identifier: MIT
// Which types a matrix product takes and writes.
#pragma once

#include "matrix_view.hpp"

namespace tilewright::ops {

/// Refuses other combinations than those of gemm().
void require_product_types(const char* operation, const matrix_view& c, const matrix_view& a, const matrix_view& b);

}  // namespace tilewright::ops
