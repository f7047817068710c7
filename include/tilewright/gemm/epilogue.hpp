// SPDX-License-Identifier: MIT
// Writes the result: C = alpha times the accumulator plus beta times the old C.
#pragma once

#include <tilewright/tile/load_store.hpp>

namespace tilewright {

/// With beta = 0 the old contents of C are not read, so they may be anything.
template <class CWindow, class C>
TILEWRIGHT_HD void linear_combination_epilogue(const CWindow& c_window,
                                               const static_distributed_tensor<float, C>& accumulator, float alpha,
                                               float beta) {
  using T = typename CWindow::element_type;
  static_distributed_tensor<float, C> sum;
  for (index_t d = 0; d < C::num_elements; ++d) sum.thread_buffer[d] = alpha * accumulator.thread_buffer[d];
  if (beta != 0.0f) {
    const auto old = load_tile(c_window);
    for (index_t d = 0; d < C::num_elements; ++d)
      sum.thread_buffer[d] += beta * type_convert<float>(old.thread_buffer[d]);
  }
  static_distributed_tensor<T, C> result;
  for (index_t d = 0; d < C::num_elements; ++d) result.thread_buffer[d] = type_convert<T>(sum.thread_buffer[d]);
  store_tile(c_window, result);
}

}  // namespace tilewright
