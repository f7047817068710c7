// SPDX-License-Identifier: MIT
// Tensors and arguments as the kernels take them.
#include "machine.hpp"

namespace attention_program {
namespace {

/// A tensor with rows of `dim` elements; what is new is zero.
std::vector<unsigned char> with_row_length(const matrix& source, std::int64_t dim) {
  matrix wide{.rows = source.rows, .cols = dim, .type = source.type, .batch = source.batch};
  for (std::int64_t z = 0; z < source.batch; ++z) {
    for (std::int64_t i = 0; i < source.rows; ++i) {
      for (std::int64_t j = 0; j < source.cols; ++j) wide.set_bits_at(wide.place(i, j, z), source.bits(i, j, z));
    }
  }
  return std::move(wide.bytes);
}

/// Takes a result from rows of `dim` elements.
void take_rows(matrix& to, const std::vector<unsigned char>& rows, std::int64_t dim) {
  matrix wide{.rows = to.rows, .cols = dim, .type = to.type, .batch = to.batch};
  wide.bytes = rows;
  for (std::int64_t z = 0; z < to.batch; ++z) {
    for (std::int64_t i = 0; i < to.rows; ++i) {
      for (std::int64_t j = 0; j < to.cols; ++j) to.set_bits_at(to.place(i, j, z), wide.bits(i, j, z));
    }
  }
}

}  // namespace

host_tensors kernel_tensors(const inputs& data) {
  const std::int64_t dim = kernel_dim(data);
  const auto result = [](std::size_t bytes) { return std::vector<unsigned char>(bytes, 0xff); };
  host_tensors t{with_row_length(data.q, dim), with_row_length(data.k, dim), with_row_length(data.v, dim)};
  t[3] = result(std::size_t(data.o.batch * data.o.rows * dim * gemm_program::bytes_of(data.o.type)));
  t[4] = result(data.lse.bytes.size());
  const std::vector<float>* const scales[] = {&data.q_scales, &data.k_scales, &data.v_scales};
  for (std::size_t i = 0; i < 3; ++i) {
    const auto* const bytes = reinterpret_cast<const unsigned char*>(scales[i]->data());
    t[10 + i].assign(bytes, bytes + scales[i]->size() * sizeof(float));
  }
  if (!data.has_gradients()) return t;
  t[5] = with_row_length(data.d_o, dim);
  for (std::size_t i = 0; i < 3; ++i) t[6 + i] = result(t[i].size());
  t[9] = result(std::size_t(workspace_bytes(arguments_of(data, {}), tw::index_t(dim))));
  return t;
}

tw::attention_backward_args arguments_of(const inputs& data, const std::array<void*, num_tensors>& places) {
  const std::int64_t dim = kernel_dim(data);
  const auto strides = [&](std::int64_t heads, std::int64_t rows) {
    return tw::attention_strides{.batch = heads * rows * dim, .head = rows * dim, .row = tw::index_t(dim)};
  };
  tw::attention_backward_args args;
  args.q = places[0];
  args.k = places[1];
  args.v = places[2];
  args.o = places[3];
  args.lse = static_cast<float*>(places[4]);
  args.d_o = places[5];
  args.d_q = places[6];
  args.d_k = places[7];
  args.d_v = places[8];
  args.workspace = places[9];
  if (!data.q_scales.empty()) {
    args.q_scales = static_cast<const float*>(places[10]);
    args.k_scales = static_cast<const float*>(places[11]);
    args.v_scales = static_cast<const float*>(places[12]);
  }
  args.batch = tw::index_t(data.batch);
  args.heads = tw::index_t(data.heads);
  args.kv_heads = tw::index_t(data.kv_heads);
  args.queries = tw::index_t(data.queries());
  args.keys = tw::index_t(data.keys());
  args.q_strides = args.o_strides = args.d_q_strides = args.d_o_strides = strides(data.heads, data.queries());
  args.k_strides = args.v_strides = args.d_k_strides = args.d_v_strides = strides(data.kv_heads, data.keys());
  args.lse_strides = {.batch = data.heads * data.queries(), .head = data.queries(), .row = 1};
  args.scale = data.scale;
  args.window = data.window;
  return args;
}

void take_results(inputs& data, const host_tensors& tensors) {
  const std::int64_t dim = kernel_dim(data);
  take_rows(data.o, tensors[3], dim);
  data.lse.bytes = tensors[4];
  if (!data.has_gradients()) return;
  take_rows(data.d_q, tensors[6], dim);
  take_rows(data.d_k, tensors[7], dim);
  take_rows(data.d_v, tensors[8], dim);
}

}  // namespace attention_program
