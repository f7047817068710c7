// SPDX-License-Identifier: MIT
// Routing for rows.py: experts to ends, source and place; rows to places and back. choose_experts.cu chooses them.
#include "library.hpp"

#include <tilewright/kernels/routing/expert_rows.hpp>
#include <tilewright/kernels/routing/order_by_expert.hpp>

namespace row_kernels {
namespace {

/// expert, ends, source, place.
const char* start_order(const call& c) {
  static index_t* counts = nullptr;
  static std::size_t bytes = 0;
  const index_t entries = c[0].rows() * c[0].cols(), experts = c[1].cols();
  const std::size_t needed = std::size_t(tw::order_by_expert<arch>::workspace_rows(entries)) * std::size_t(experts) * 4;
  if (needed > bytes) {
    cudaFree(counts);
    if (cudaMalloc(&counts, bytes = needed) != cudaSuccess) return "no memory for the workspace";
  }
  const tw::order_by_expert_args args{
      c.data<const index_t>(0), c.data<index_t>(1), c.data<index_t>(2), c.data<index_t>(3), counts, entries, experts};
  if (tw::choose_order_limit(experts) == 256) return start<tw::order_by_expert<arch, 256>>(args, c);
  return start<tw::order_by_expert<arch>>(args, c);
}

/// x, place, weight (optional), y.
template <class T, tw::expert_rows_kind Kind>
const char* start_rows_of_experts(const call& c) {
  constexpr bool scatters = Kind == tw::expert_rows_kind::scatter;
  constexpr int y = scatters ? 4 : 3;  // scatter has `source`, too, for PyTorch
  const index_t tokens = c[scatters ? 0 : y].rows();
  const tw::expert_rows_args<T> args{.x = c.data<const T>(0),
                                     .y = c.data<T>(y),
                                     .position = c.data<const index_t>(1),
                                     .weight = c.data<const float>(2),
                                     .tokens = tokens,
                                     .choices = c[scatters ? y : 0].rows() / tokens,
                                     .cols = c[0].cols(),
                                     .x_stride = c[0].row_stride(),
                                     .y_stride = c[y].row_stride()};
  constexpr index_t vector = 16 / sizeof(T);
  constexpr auto tile = [](index_t cols) { return tw::choose_expert_rows_tile(sizeof(T), cols, true, Kind); };
  if (args.cols <= 128 * vector) return start<tw::expert_rows<arch, T, tile(128 * vector), Kind>>(args, c);
  if (args.cols <= 256 * vector) return start<tw::expert_rows<arch, T, tile(256 * vector), Kind>>(args, c);
  return start<tw::expert_rows<arch, T, tile(257 * vector), Kind>>(args, c);
}

const registered routing[] = {
    {"order_by_expert", start_order},
    {"scatter_rows_bf16", start_rows_of_experts<tw::bfloat16_t, tw::expert_rows_kind::scatter>},
    {"combine_rows_bf16", start_rows_of_experts<tw::bfloat16_t, tw::expert_rows_kind::combine>},
};

}  // namespace
}  // namespace row_kernels
