// SPDX-License-Identifier: MIT
#include "rows_view.hpp"

#include <algorithm>
#include <string>

#include "call.hpp"
#include "matrix_view.hpp"

namespace tilewright::ops {

rows_view as_rows(const char* operation, const char* name, const tensor& t) {
  require_tensor(operation, name, t);
  const std::string who = name;
  if (t.rank < 1) refuse(operation, who + " has no dimensions; rows lie along the last of at least one");
  const int c = t.rank - 1;
  if (t.strides[c] != 1 && t.lengths[c] > 1)
    refuse(operation, who + " has stride " + std::to_string(t.strides[c]) +
                          " along its last dimension; rows must be contiguous: copy it");
  long_index_t rows = 1, stride = 0;
  for (int i = c; i-- > 0;) {
    if (t.lengths[i] == 1) continue;
    if (rows > 1 && t.strides[i] != rows * stride)
      refuse(operation, who + ": its leading dimensions are no rows with one stride; copy it, or call once for each");
    if (rows == 1) stride = t.strides[i];
    rows *= t.lengths[i];
    if (rows > 0x7fffffff) refuse(operation, who + " has more than 2^31 rows; split it");
  }
  return {t.data, t.type, index_t(rows), index_t(t.lengths[c]), rows == 1 ? t.lengths[c] : stride};
}

rows_view as_rows_like(const char* operation, const char* name, const tensor& t, const tensor& like, element type) {
  if (t.data == nullptr) return {};
  rows_view r = as_rows(operation, name, t);
  if (t.type != type || t.rank != like.rank || !std::equal(t.lengths, t.lengths + t.rank, like.lengths)) {
    tensor wanted = like;
    wanted.type = type;
    refuse(operation, std::string(name) + " is " + describe(t) + ", but must be " + describe(wanted));
  }
  return r;
}

float* as_row_floats(const char* operation, const char* name, const tensor& t, long_index_t rows) {
  if (t.data == nullptr) return nullptr;
  require_tensor(operation, name, t);
  long_index_t count = 1, stride = 1;
  bool is_packed = true;
  for (int i = t.rank; i-- > 0; stride *= t.lengths[i], count *= t.lengths[i])
    is_packed = is_packed && (t.lengths[i] == 1 || t.strides[i] == stride);
  if (t.type != element::f32 || count != rows)
    refuse(operation, std::string(name) + " is " + describe(t) + ", but must have " + std::to_string(rows) +
                          " f32, one for each row");
  if (!is_packed) refuse(operation, std::string(name) + " must be packed: one float after another");
  return static_cast<float*>(t.data);
}

}  // namespace tilewright::ops
