// SPDX-License-Identifier: MIT
// Which registers of a thread hold the same elements of a tile in two distributions.
#pragma once

#include <tilewright/distribution/distribution_encoding.hpp>

namespace tilewright::detail {

/// For each register of one distribution the register of the other that has the same element of the tile, for every
/// thread; possible or not.
template <index_t N>
struct register_exchange {
  bool is_possible = false;
  array<index_t, N> source{};
};

/// The numbers of the elements in a thread's registers, less that of the first one; stride[x]: what a step along
/// dimension x adds.
template <index_t N>
TILEWRIGHT_HD constexpr array<index_t, N> number_registers(const distribution_encoding& e, const index_t* stride) {
  array<index_t, N> numbers{};
  for (index_t y = e.ndim_y(), known = 1; y-- > 0; known *= e.y_length(y)) {
    const index_t step = e.stride(e.y[y]) * stride[e.y[y].major - 1];
    for (index_t r = known; r < known * e.y_length(y); ++r) numbers[r] = numbers[r - known] + step;
  }
  return numbers;
}

/// From `in` to `out`, whose N registers are wanted; dimension d of out's tile is dimension order[d] of in's.
template <index_t N, index_t NDimX>
TILEWRIGHT_HD constexpr register_exchange<N> find_register_exchange(const distribution_encoding& in,
                                                                    const distribution_encoding& out,
                                                                    const array<index_t, NDimX>& order) {
  register_exchange<N> exchange;
  if (in.ndim_x() != NDimX || out.ndim_x() != NDimX || in.ndim_p() != out.ndim_p() ||
      in.num_elements_per_thread() != N || out.num_elements_per_thread() != N)
    return exchange;
  index_t out_stride[NDimX] = {}, in_stride[NDimX] = {};
  for (index_t d = NDimX, stride = 1; d-- > 0; stride *= out.x_length(d)) {
    if (out.x_length(d) != in.x_length(order[d])) return exchange;
    out_stride[d] = in_stride[order[d]] = stride;
    // Threads must begin at the same place. Partition indices are digits of the position, so single ones tell.
    for (index_t i = 0; i < in.ndim_p(); ++i) {
      if (in.p_length(i) != out.p_length(i)) return exchange;
      for (index_t p = 1; p < in.p_length(i); ++p) {
        if (in.position_of(in.p[i], p, order[d]) != out.position_of(out.p[i], p, d)) return exchange;
      }
    }
  }
  const auto wanted = number_registers<N>(out, out_stride), is_at = number_registers<N>(in, in_stride);
  for (index_t r = 0, s = 0; r < N; ++r) {
    index_t tried = 0;
    for (; tried < N && is_at[s] != wanted[r]; ++tried) s = s + 1 == N ? 0 : s + 1;
    if (tried == N) return exchange;
    exchange.source[r] = s;
  }
  exchange.is_possible = true;
  return exchange;
}

}  // namespace tilewright::detail
