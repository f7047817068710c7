// SPDX-License-Identifier: MIT
// Evaluates a distribution that is known only at run time: which element a thread's register holds.
#pragma once

#include <tilewright/distribution/distribution_encoding.hpp>

#include <cstddef>
#include <vector>

namespace tilewright::viz {

inline index_t num_waves(const distribution_encoding& e) { return e.ndim_p() == 1 ? 1 : e.p_length(0); }
inline index_t num_lanes(const distribution_encoding& e) { return e.p_length(e.ndim_p() - 1); }

using element_position = multi_index<distribution_encoding::max_x>;  // dimensions beyond ndim_x are 0

/// What a register's number says about its place among the dimensions y.
inline multi_index<distribution_encoding::max_y> y_of_register(const distribution_encoding& e, index_t reg) {
  multi_index<distribution_encoding::max_y> y{};
  for (index_t i = e.ndim_y(); i-- > 0; reg /= e.y_length(i)) y[i] = reg % e.y_length(i);
  return y;
}

/// Where the element lies that a register of a thread holds.
inline element_position position_of(const distribution_encoding& e, index_t wave, index_t lane, index_t reg) {
  element_position x{};
  for (index_t part = 0; part < e.ndim_p(); ++part) {
    index_t rest = part == e.ndim_p() - 1 ? lane : wave;
    for (index_t i = e.p[part].size(); i-- > 0;) {
      const rh_id id = e.p[part][i];
      if (id.major != 0) x[id.major - 1] += rest % e.length(id) * e.stride(id);
      rest /= e.length(id);
    }
  }
  const auto y = y_of_register(e, reg);
  for (index_t i = 0; i < e.ndim_y(); ++i) x[e.y[i].major - 1] += y[i] * e.stride(e.y[i]);
  return x;
}

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

/// Of a sound encoding (check(e) finds no fault) with two dimensions.
inline ownership ownership_of(const distribution_encoding& e) {
  ownership result{e.x_length(0), e.x_length(1), {}};
  result.owners.resize(std::size_t(result.rows) * std::size_t(result.cols));
  for (index_t wave = 0; wave < num_waves(e); ++wave) {
    for (index_t lane = 0; lane < num_lanes(e); ++lane) {
      for (index_t reg = 0; reg < e.num_elements_per_thread(); ++reg) {
        const element_position x = position_of(e, wave, lane, reg);
        result.owners[std::size_t(x[0]) * std::size_t(result.cols) + std::size_t(x[1])].push_back({wave, lane, reg});
      }
    }
  }
  return result;
}

}  // namespace tilewright::viz
