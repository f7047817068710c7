// SPDX-License-Identifier: MIT
// What the kernels of libtilewright_rows register, and what rows.py passes to them.
#pragma once

#include <tilewright/kernels/tensor/strided_tensor.hpp>
#include <tilewright/launch/launch.hpp>

namespace row_kernels {

namespace tw = tilewright;
using tw::index_t;
using tw::long_index_t;
using arch = tw::arch::sm90;

/// A tensor of PyTorch's, of up to 6 dimensions; lengths and strides in elements. An absent one has no data.
struct tensor {
  void* data;
  long long lengths[6], strides[6];
  int dims, element_bytes;

  index_t cols() const { return dims > 0 ? index_t(lengths[dims - 1]) : 1; }
  /// Of the matrix whose rows are the last dimension.
  index_t rows() const {
    long long n = 1;
    for (int i = 0; i + 1 < dims; ++i) n *= lengths[i];
    return index_t(n);
  }
  long_index_t row_stride() const { return dims > 1 ? strides[dims - 2] : cols(); }
};

/// A call from Python: inputs, then outputs, and numbers such as an epsilon.
struct call {
  const tensor* tensors;
  const double* numbers;
  cudaStream_t stream;

  const tensor& operator[](int i) const { return tensors[i]; }
  template <class T>
  T* data(int i) const {
    return static_cast<T*>(tensors[i].data);
  }
  template <class T>
  tw::strided_tensor<T> strided(int i) const {
    tw::strided_tensor<T> result;
    result.data = data<T>(i);
    result.dims = tensors[i].dims;
    for (int d = 0; d < result.dims; ++d) {
      result.lengths[d] = tensors[i].lengths[d];
      result.strides[d] = tensors[i].strides[d];
    }
    return result;
  }
};

/// Queues a kernel; returns null, or why it was refused.
using function = const char* (*)(const call&);

/// Objects of this type, one for each name, make the kernels known.
struct registered {
  const char* name;
  function start;
  const registered* next = first();

  registered(const char* kernel, function f) : name(kernel), start(f) { first() = this; }
  registered(const registered&) = delete;
  static const registered*& first() {
    static const registered* list = nullptr;
    return list;
  }
};

template <class Kernel>
const char* start(const typename Kernel::args_type& args, const call& c) {
  if (const char* why = Kernel::check(args)) return why;
  tw::launch<Kernel>(args, {.stream = c.stream});
  return nullptr;
}

}  // namespace row_kernels
