// SPDX-License-Identifier: MIT
// Where every element of a tile of two dimensions lies in LDS.
#pragma once

#include <tilewright/descriptor/tensor_graph.hpp>

namespace tilewright::viz {

/// A layout (see graph_of) from (row, col) to an offset in elements, seen as bytes from the begin of the tile.
/// Holds the graph by reference.
class lds_map {
 public:
  lds_map(const tensor_graph& layout, index_t element_bytes) : layout_(&layout), element_bytes_(element_bytes) {}

  index_t rows() const { return hidden_length(*layout_, layout_->top[0]); }
  index_t cols() const { return hidden_length(*layout_, layout_->top[1]); }
  index_t element_bytes() const { return element_bytes_; }

  index_t at(index_t row, index_t col) const {
    const index_t index[2] = {row, col};
    index_t hidden[tensor_graph::max_hidden] = {};
    lower_all(*layout_, nullptr, index, hidden);
    return hidden[0] * element_bytes_;
  }

  /// Bytes of an aligned run along a row that is contiguous in LDS.
  index_t run_bytes() const { return contiguous_runs(*layout_, 1 << 20)[layout_->top[1]] * element_bytes_; }

  /// One past the last byte.
  index_t size() const {
    index_t end = 0;
    for (index_t row = 0; row < rows(); ++row) {
      for (index_t col = 0; col < cols(); ++col) end = max(end, at(row, col) + element_bytes_);
    }
    return end;
  }

 private:
  const tensor_graph* layout_;
  index_t element_bytes_;
};

}  // namespace tilewright::viz
