// SPDX-License-Identifier: MIT
// Routing for rows.py: logits to experts and weights; experts to ends, source and place; rows to places and back.
#include "library.hpp"

#include <tilewright/rows/choose_experts.hpp>
#include <tilewright/rows/expert_rows.hpp>
#include <tilewright/rows/order_by_expert.hpp>

namespace row_kernels {
namespace {

/// logits, expert, weight.
const char* start_choose(const call& c) {
  const tw::choose_experts_args<float> args{.x = c.data<const float>(0),
                                            .expert = c.data<index_t>(1),
                                            .weight = c.data<float>(2),
                                            .tokens = c[0].rows(),
                                            .experts = c[0].cols(),
                                            .choices = c[1].cols(),
                                            .x_stride = c[0].row_stride()};
  if (args.choices <= 8) {
    if (args.experts <= 64) return start<tw::choose_experts<arch, float, tw::row_tile{256, 8, 2, 4}>>(args, c);
    if (args.experts <= 128) return start<tw::choose_experts<arch, float, tw::row_tile{256, 8, 4, 4}>>(args, c);
    if (args.experts <= 256) return start<tw::choose_experts<arch, float, tw::row_tile{256, 16, 4, 4}>>(args, c);
  }
  return start<tw::choose_experts<arch, float, tw::row_tile{256, 32, 8, 4}>>(args, c);
}

/// expert, ends, source, place.
const char* start_order(const call& c) {
  using kernel = tw::order_by_expert<arch>;
  static index_t* counts = nullptr;
  constexpr std::size_t most = 128 * 1024 * 4;
  if (!counts && cudaMalloc(&counts, most) != cudaSuccess) return "no memory for the workspace";
  const index_t entries = c[0].rows() * c[0].cols();
  return start<kernel>({c.data<const index_t>(0), c.data<index_t>(1), c.data<index_t>(2), c.data<index_t>(3), counts,
                        entries, c[1].cols()},
                       c);
}

/// x, place, weight (optional), y.
template <class T, tw::expert_rows_kind Kind>
const char* start_rows_of_experts(const call& c) {
  constexpr bool scatters = Kind == tw::expert_rows_kind::scatter;
  constexpr int y = scatters ? 4 : 3;  // scatter has `source`, too, for PyTorch
  const index_t tokens = c[scatters ? 0 : y].rows();
  const tw::expert_rows_args<T> args{.x = c.data<const T>(0),
                                     .y = c.data<T>(y),
                                     .place = c.data<const index_t>(1),
                                     .weight = c.data<const float>(2),
                                     .tokens = tokens,
                                     .choices = c[scatters ? y : 0].rows() / tokens,
                                     .cols = c[0].cols(),
                                     .x_stride = c[0].row_stride(),
                                     .y_stride = c[y].row_stride()};
  constexpr index_t vector = 16 / sizeof(T);
  if (args.cols <= 128 * vector)
    return start<tw::expert_rows<arch, T, tw::row_tile{128, 128, 1, vector}, Kind>>(args, c);
  if (args.cols <= 256 * vector)
    return start<tw::expert_rows<arch, T, tw::row_tile{256, 256, 1, vector}, Kind>>(args, c);
  return start<tw::expert_rows<arch, T, tw::row_tile{256, 256, 2, vector}, Kind>>(args, c);
}

const registered routing[] = {
    {"choose_experts", start_choose},
    {"order_by_expert", start_order},
    {"scatter_rows_bf16", start_rows_of_experts<tw::bfloat16_t, tw::expert_rows_kind::scatter>},
    {"combine_rows_bf16", start_rows_of_experts<tw::bfloat16_t, tw::expert_rows_kind::combine>},
};

}  // namespace
}  // namespace row_kernels
