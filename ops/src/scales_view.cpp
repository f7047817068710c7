// SPDX-License-Identifier: MIT
#include "scales_view.hpp"

#include "call.hpp"
#include "matrix_view.hpp"

namespace tilewright::ops {

scales_view as_scales(const char* operation, const tensor& t, long_index_t rows, long_index_t cols) {
  if (t.data == nullptr) return {};
  require_tensor(operation, "scales", t);
  const long_index_t groups = (cols + 127) / 128;
  const bool per_row = t.rank == 1 && t.lengths[0] == rows,
             per_group = t.rank == 2 && t.lengths[0] == rows && t.lengths[1] == groups;
  if (t.type != element::f32 || (!per_row && !per_group))
    refuse(operation, "scales is " + describe(t) + ", but must be f32 (" + std::to_string(rows) + ") or f32 (" +
                          std::to_string(rows) + ", " + std::to_string(groups) + ")");
  return {per_row ? scale_kind::per_row : scale_kind::per_128, static_cast<float*>(t.data), t.strides[0],
          per_row ? 0 : t.strides[1]};
}

}  // namespace tilewright::ops
