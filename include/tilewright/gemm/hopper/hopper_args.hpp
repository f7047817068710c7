// SPDX-License-Identifier: MIT
// What a Hopper GEMM kernel gets: tensors as bulk copies see them, and the work to share.
#pragma once

#include <tilewright/exec/tensor_map.hpp>
#include <tilewright/gemm/gemm_args.hpp>
#include <tilewright/gemm/tile_order.hpp>

namespace tilewright {

struct hopper_args {
  exec::tensor_map a, b, c;  // boxes of a stage and of C
  gemm_args gemm;
  tile_order order;  // of tiles of clusters
  index_t k_tiles;
};

}  // namespace tilewright
