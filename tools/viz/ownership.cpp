// SPDX-License-Identifier: MIT
// Evaluates a distribution that is known only at run time: which element a thread's register holds.
#include <tilewright/viz/ownership.hpp>

namespace tilewright::viz {
multi_index<distribution_encoding::max_y> y_of_register(const distribution_encoding& e, index_t reg) {
  multi_index<distribution_encoding::max_y> y{};
  for (index_t i = e.ndim_y(); i-- > 0; reg /= e.y_length(i)) y[i] = reg % e.y_length(i);
  return y;
}

element_position position_of(const distribution_encoding& e, index_t wave, index_t lane, index_t reg) {
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

ownership ownership_of(const distribution_encoding& e) {
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
