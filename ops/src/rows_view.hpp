// SPDX-License-Identifier: MIT
// rows_view: a tensor as rows of contiguous elements, all of its leading dimensions counted as rows.
#pragma once

#include <tilewright/ops/tensor.hpp>

namespace tilewright::ops {

struct rows_view {
  void* data = nullptr;
  element type{};
  index_t rows = 0, cols = 0;
  long_index_t stride = 0;  // from row to row

  template <class T = void>
  T* as() const {
    return static_cast<T*>(data);
  }
};

/// Refuses tensors without dimensions, rows that are not contiguous, and rows that do not follow with one stride.
rows_view as_rows(const char* operation, const char* name, const tensor& t);
/// The same, and other lengths than those of `like`, or another type. A tensor that is not given: no rows.
rows_view as_rows_like(const char* operation, const char* name, const tensor& t, const tensor& like, element type);
/// A vector of floats, one for each row; null if it is not given.
float* as_row_floats(const char* operation, const char* name, const tensor& t, long_index_t rows);

}  // namespace tilewright::ops
