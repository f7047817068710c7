// SPDX-License-Identifier: MIT
// Strided tensors of random shapes with guarded gaps, for tests of kernels on tensors.
#pragma once

#include "../rows/matrix.hpp"

#include <tilewright/kernels/tensor/strided_tensor.hpp>
#include <tilewright/launch/launch.hpp>

#include <array>
#include <numeric>

namespace rows_test {

/// The same tensor, of elements that are not written.
template <class T>
strided_tensor<const T> as_input(const strided_tensor<T>& t) {
  strided_tensor<const T> result;
  result.data = t.data;
  result.dims = t.dims;
  std::copy_n(t.lengths, 6, result.lengths);
  std::copy_n(t.strides, 6, result.strides);
  return result;
}

/// Memory for a tensor whose dimensions lie in memory in a random order, with gaps, from `first` elements on.
template <class T>
struct tensor {
  std::vector<T> values;
  strided_tensor<T> view;

  tensor(const std::vector<index_t>& lengths, std::mt19937& random, index_t gap_multiple, index_t first,
         bool is_shuffled)
      : view(nullptr, {}) {
    view.dims = index_t(lengths.size());
    std::vector<index_t> order(lengths.size());
    std::iota(order.begin(), order.end(), 0);
    if (is_shuffled) std::shuffle(order.begin(), order.end(), random);
    long_index_t stride = 1;
    for (index_t i = view.dims; i-- > 0;) {
      const index_t d = order[std::size_t(i)];
      view.lengths[d] = lengths[std::size_t(d)];
      view.strides[d] = stride;
      stride *= lengths[std::size_t(d)];
      if (gap_multiple > 0)
        stride = ceil_div(stride, long_index_t{gap_multiple}) * gap_multiple + gap_multiple * index_t(random() % 2);
    }
    values.resize(std::size_t(stride + first));
    view.data = values.data() + first;
    std::normal_distribution<float> gaussian;
    for (T& x : values) x = type_convert<T>(gaussian(random) * 3);
  }
  strided_tensor<const T> input() const { return as_input(view); }
  emulator::memory_range range() const { return {values.data(), long_index_t(values.size() * sizeof(T))}; }
  long_index_t elements() const {
    return std::accumulate(view.lengths, view.lengths + view.dims, 1ll, std::multiplies<>());
  }
};

/// The offset of element number i in the order of the dimensions.
template <class T>
long_index_t offset_of(const strided_tensor<T>& t, long_index_t i) {
  long_index_t offset = 0;
  for (index_t d = t.dims; d-- > 0; i /= t.lengths[d]) offset += i % t.lengths[d] * t.strides[d];
  return offset;
}

/// 1 to 6 lengths with up to about `most` elements in all.
inline std::vector<index_t> random_lengths(std::mt19937& random, index_t most) {
  std::vector<index_t> lengths(1 + random() % 6);
  for (index_t& length : lengths) {
    length = random_length(random, std::max(2, std::min(most, 300)), 1);
    most = std::max(1, most / length);
  }
  std::shuffle(lengths.begin(), lengths.end(), random);
  return lengths;
}

}  // namespace rows_test
