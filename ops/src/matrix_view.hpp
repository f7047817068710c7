// SPDX-License-Identifier: MIT
// matrix_view: a tensor as a batch of matrices with one contiguous dimension.
#pragma once

#include <string>

#include <tilewright/ops/tensor.hpp>

namespace tilewright::ops {

/// What elements are called in sentences: "bf16".
const char* name_of(element type);
int bytes_of(element type);
/// "f32 (3, 4)".
std::string describe(const tensor& t);

/// Refuses a tensor that is null, misaligned for its elements, or has a length or a stride that no call takes.
void require_tensor(const char* operation, const char* name, const tensor& t);
/// The same, and another type or other lengths. `lengths` that are -1 may be any.
void require_tensor(const char* operation, const char* name, const tensor& t, element type,
                    std::initializer_list<long_index_t> lengths);
/// One dimension, contiguous.
void require_vector(const char* operation, const char* name, const tensor& t, element type, long_index_t length);

struct matrix_view {
  void* data;
  element type;
  index_t rows, cols;
  bool along_cols;  // contiguous along columns (row-major), else along rows
  index_t ld;       // from one contiguous line to the next
  index_t batch;    // 1: none
  long_index_t batch_stride;

  matrix_view transposed() const {
    matrix_view t = *this;
    t.rows = cols, t.cols = rows, t.along_cols = !along_cols;
    return t;
  }
};

/// Refuses other numbers of dimensions than 2 and 3, and matrices without a contiguous dimension. Where both are
/// contiguous, `prefer_cols` decides.
matrix_view as_matrix(const char* operation, const char* name, const tensor& t, bool prefer_cols = true);

}  // namespace tilewright::ops
