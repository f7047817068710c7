// SPDX-License-Identifier: MIT
// Gradients of norms for rows.py: dy, x, weight, mean, rstd, dx, dweight, dbias.
#include "library.hpp"

#include <tilewright/kernels/rows/norm_gradient.hpp>
#include <tilewright/kernels/rows/norm_gradient_choice.hpp>

namespace row_kernels {
namespace {

using enum tw::norm_kind;

/// Memory for sums of columns, which grows when it is too small.
float* workspace(std::size_t floats) {
  static float* memory = nullptr;
  static std::size_t size = 0;
  if (size < floats) {
    cudaFree(memory);
    size = cudaMalloc(&memory, floats * 4) == cudaSuccess ? floats : 0;
  }
  return memory;
}

/// How many blocks of a kernel run at the same time, or clusters.
template <class Kernel>
index_t resident() {
  tw::detail::gpu_launch launch;
  launch.function = tw::detail::gpu_functions::of<Kernel>().kernel;
  launch.block_size = Kernel::block_size;
  launch.lds_bytes = Kernel::lds_bytes;
  launch.cluster = Kernel::cluster;
  tw::detail::allow_lds(launch);
  return tw::detail::resident_clusters(launch);
}

template <class T, tw::norm_kind Kind, tw::row_tile Tile>
const char* start_tile(tw::norm_gradient_args<T> args, const call& c) {
  using kernel = tw::row_norm_gradient<arch, T, Tile, Kind>;
  static const index_t most = resident<kernel>();
  args.num_partials = tw::choose_num_partials(args.rows, most, Tile);
  args.partials = workspace(std::size_t(2 * args.num_partials) * std::size_t(args.partials_stride()));
  return start<kernel>(args, c);
}

template <class T, tw::norm_kind Kind>
const char* start_gradient(const call& c) {
  const tw::norm_gradient_args<T> args{.dy = c.data<const T>(0),
                                       .s = c.data<const T>(1),
                                       .weight = c.data<const T>(2),
                                       .mean = c.data<const float>(3),
                                       .rstd = c.data<const float>(4),
                                       .dx = c.data<T>(5),
                                       .dweight = c.data<T>(6),
                                       .dbias = c.data<T>(7),
                                       .rows = c[0].rows(),
                                       .cols = c[0].cols(),
                                       .dy_stride = c[0].row_stride(),
                                       .s_stride = c[1].row_stride(),
                                       .dx_stride = c[5].row_stride()};
  const tw::row_tile wanted = tw::choose_norm_gradient_tile(arch::value, sizeof(T), args.cols,
                                                            args.cols % (16 / index_t(sizeof(T))) == 0, Kind);
  const char* why = "there is no such tile";
  const auto start_if = [&]<index_t I>(tw::number<I>) {
    constexpr tw::row_tile tile = tw::norm_gradient_tile(I, sizeof(T));
    constexpr bool is_for_rms_norm = tile.unaligned && tile.vectors == 4;
    if constexpr (!(is_for_rms_norm && Kind == layer_norm))
      if (tile == wanted) why = start_tile<T, Kind, tile>(args, c);
  };
  [&]<index_t... I>(tw::sequence<I...>) { (start_if(tw::number<I>{}), ...); }(tw::make_sequence<16>{});
  return why;
}

const registered gradients[] = {
    {"rms_norm_gradient_bf16", start_gradient<tw::bfloat16_t, rms_norm>},
    {"layer_norm_gradient_bf16", start_gradient<tw::bfloat16_t, layer_norm>},
};

}  // namespace
}  // namespace row_kernels
