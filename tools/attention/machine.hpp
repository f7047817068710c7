// SPDX-License-Identifier: MIT
// The machines that run attention: the CPU, which emulates a target, and the GPU.
#pragma once

#include <functional>

#include <tilewright/attention/attention_args.hpp>

#include "inputs.hpp"

namespace attention_program {

struct outcome {
  std::string device;
  std::vector<double> seconds;  // of each run; empty on the CPU, whose time says nothing
};

/// Targets that the CPU emulates.
std::vector<std::string> emulated_targets();

/// Computes data.o and data.lse on the CPU, which emulates `target`.
outcome attend_on_cpu(inputs& data, const std::string& target, const std::function<void(double)>& progress);

/// On the GPU, `repeat` times; nothing where the program has no kernels for GPUs. Throws refusal where there is no GPU
/// that it can use.
std::optional<outcome> attend_on_gpu(inputs& data, int repeat);

/// Arguments of the kernel with rows of `dim` elements, without pointers.
inline tw::attention_args arguments_of(const inputs& data, std::int64_t dim) {
  const auto strides = [&](std::int64_t heads, std::int64_t rows) {
    return tw::attention_strides{.batch = heads * rows * dim, .head = rows * dim, .row = tw::index_t(dim)};
  };
  tw::attention_args args;
  args.batch = tw::index_t(data.batch);
  args.heads = tw::index_t(data.heads);
  args.kv_heads = tw::index_t(data.kv_heads);
  args.queries = tw::index_t(data.queries());
  args.keys = tw::index_t(data.keys());
  args.q_strides = args.o_strides = strides(data.heads, data.queries());
  args.k_strides = args.v_strides = strides(data.kv_heads, data.keys());
  args.lse_strides = {.batch = data.heads * data.queries(), .head = data.queries(), .row = 1};
  args.scale = data.scale;
  args.window = data.window;
  return args;
}

/// Takes O from rows of `dim` elements.
inline void take_output(inputs& data, const std::vector<unsigned char>& rows, std::int64_t dim) {
  matrix wide{.rows = data.o.rows, .cols = dim, .type = data.o.type, .batch = data.o.batch};
  wide.bytes = rows;
  for (std::int64_t z = 0; z < wide.batch; ++z) {
    for (std::int64_t i = 0; i < wide.rows; ++i) {
      for (std::int64_t j = 0; j < data.o.cols; ++j) data.o.set_bits_at(data.o.place(i, j, z), wide.bits(i, j, z));
    }
  }
}

}  // namespace attention_program
