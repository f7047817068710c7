// SPDX-License-Identifier: MIT
// scales_view: the scales of a tensor of 8-bit elements.
#pragma once

#include <tilewright/kernels/rows/row_scales.hpp>
#include <tilewright/ops/tensor.hpp>

namespace tilewright::ops {

struct scales_view {
  scale_kind kind = scale_kind::none;
  float* data = nullptr;
  long_index_t row_stride = 1, group_stride = 0;
};

/// Of f32: (rows): one for each row; (rows, cols / 128 rounded up): one for each 128 elements. Nothing if not given.
scales_view as_scales(const char* operation, const tensor& scales, long_index_t rows, long_index_t cols);

}  // namespace tilewright::ops
