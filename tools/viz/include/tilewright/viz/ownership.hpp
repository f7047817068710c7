// SPDX-License-Identifier: MIT
// Evaluates a distribution that is known only at run time: which element a thread's register holds.
#pragma once

#include <tilewright/core/distribution/distribution_encoding.hpp>

#include <cstddef>
#include <vector>

namespace tilewright::viz {

inline index_t num_waves(const distribution_encoding& e) { return e.ndim_p() == 1 ? 1 : e.p_length(0); }
inline index_t num_lanes(const distribution_encoding& e) { return e.p_length(e.ndim_p() - 1); }

using element_position = multi_index<distribution_encoding::max_x>;  // dimensions beyond ndim_x are 0

/// What a register's number says about its place among the dimensions y.
multi_index<distribution_encoding::max_y> y_of_register(const distribution_encoding& e, index_t reg);

/// Where the element is that a register of a thread holds.
element_position position_of(const distribution_encoding& e, index_t wave, index_t lane, index_t reg);

/// One register of one thread.
struct owner {
  index_t wave = 0, lane = 0, reg = 0;
  friend constexpr bool operator==(const owner&, const owner&) = default;
};

/// Who holds each element of a tile of two dimensions; several owners where the distribution replicates.
struct ownership {
  index_t rows = 0, cols = 0;
  std::vector<std::vector<owner>> owners;  // of (row, col) at row * cols + col

  const std::vector<owner>& at(index_t row, index_t col) const {
    return owners[std::size_t(row) * std::size_t(cols) + std::size_t(col)];
  }
};

/// Who owns what in a sound encoding (check(e) finds no fault) with two dimensions.
ownership ownership_of(const distribution_encoding& e);

}  // namespace tilewright::viz
