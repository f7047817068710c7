// SPDX-License-Identifier: MIT
// Everything that the author of a kernel needs.
#pragma once

#include <tilewright/block/mma/chained_products.hpp>
#include <tilewright/core.hpp>
#include <tilewright/kernels/gemm/gemm_kernel.hpp>
#include <tilewright/kernels/gemm/lds_prediction.hpp>
#include <tilewright/kernels/gemm/portable/multi_stage_pipeline.hpp>
#include <tilewright/kernels/gemm/portable/one_wave_per_simd_pipeline.hpp>
#include <tilewright/kernels/gemm/portable/ping_pong_pipeline.hpp>
#include <tilewright/kernels/gemm/two_products.hpp>
#include <tilewright/tile/copy/async_load.hpp>
#include <tilewright/tile/copy/load_store.hpp>
#include <tilewright/tile/copy/load_tile_transpose.hpp>
#include <tilewright/tile/copy/shuffle_tile.hpp>
#include <tilewright/tile/registers/online_softmax.hpp>
#include <tilewright/tile/registers/scan.hpp>
#include <tilewright/tile/window/tensor_view.hpp>
#include <tilewright/tile/window/tile_window.hpp>
