// SPDX-License-Identifier: MIT
// Gradients of norms for rows.py: dy, x, weight, mean, rstd, dx, dweight, dbias.
#include "library.hpp"

#include <tilewright/kernels/rows/norm_gradient.hpp>

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
  // A multiple of the vector, where enough blocks are left: neighbouring rows are then taken at the same time.
  constexpr index_t vector = Tile.unaligned ? Tile.vector : 1;
  args.num_parts = args.rows <= most ? args.rows : most % vector * 4 <= most ? most / vector * vector : most;
  args.parts = workspace(std::size_t(2 * args.num_parts) * std::size_t(args.parts_stride()));
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
  constexpr index_t vector = 16 / index_t(sizeof(T));
  using tw::row_tile;
  if (args.cols % vector != 0) {
    const index_t cols = args.cols - 2 * vector;  // less what is at the ends
    if (cols <= 192 * vector) return start_tile<T, Kind, row_tile{64, 64, 3, vector, 1, true}>(args, c);
    if (cols <= 256 * vector) return start_tile<T, Kind, row_tile{128, 128, 2, vector, 1, true}>(args, c);
    if (cols <= 768 * vector) return start_tile<T, Kind, row_tile{256, 256, 3, vector, 1, true}>(args, c);
    if (cols <= 1024 * vector) return start_tile<T, Kind, row_tile{512, 512, 2, vector, 1, true}>(args, c);
    if (cols <= 3072 * vector) return start_tile<T, Kind, row_tile{512, 512, 3, vector, 2, true}>(args, c);
    if (Kind == rms_norm && cols <= 8192 * vector)
      return start_tile<T, Kind, row_tile{512, 512, 4, vector, 4, true}>(args, c);
    if (cols <= 8192 * vector) return start_tile<T, Kind, row_tile{512, 512, 2, vector, 8, true}>(args, c);
    return start_tile<T, Kind, row_tile{512, 512, 3, vector, 8, true}>(args, c);
  }
  if (args.cols <= 128 * vector) return start_tile<T, Kind, row_tile{64, 64, 2, vector}>(args, c);
  if (args.cols <= 256 * vector) return start_tile<T, Kind, row_tile{256, 256, 1, vector}>(args, c);
  if (args.cols <= 512 * vector) return start_tile<T, Kind, row_tile{256, 256, 2, vector}>(args, c);
  if (args.cols <= 1024 * vector) return start_tile<T, Kind, row_tile{512, 512, 2, vector}>(args, c);
  if (args.cols <= 2048 * vector) return start_tile<T, Kind, row_tile{512, 512, 2, vector, 2}>(args, c);
  if (args.cols <= 4096 * vector) return start_tile<T, Kind, row_tile{512, 512, 2, vector, 4}>(args, c);
  if (args.cols <= 8192 * vector) return start_tile<T, Kind, row_tile{512, 512, 2, vector, 8}>(args, c);
  return start_tile<T, Kind, row_tile{512, 512, 4, vector, 8}>(args, c);
}

const registered gradients[] = {
    {"rms_norm_gradient_bf16", start_gradient<tw::bfloat16_t, rms_norm>},
    {"layer_norm_gradient_bf16", start_gradient<tw::bfloat16_t, layer_norm>},
};

}  // namespace
}  // namespace row_kernels
