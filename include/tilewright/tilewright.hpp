// SPDX-License-Identifier: MIT
// Everything that the author of a kernel needs.
#pragma once

#include <tilewright/core.hpp>
#include <tilewright/gemm/gemm_kernel.hpp>
#include <tilewright/gemm/lds_prediction.hpp>
#include <tilewright/gemm/multi_stage_pipeline.hpp>
#include <tilewright/gemm/one_wave_pipeline.hpp>
#include <tilewright/gemm/ping_pong_pipeline.hpp>
#include <tilewright/gemm/two_products.hpp>
#include <tilewright/mma/chained_products.hpp>
#include <tilewright/tile/async_load.hpp>
#include <tilewright/tile/load_store.hpp>
#include <tilewright/tile/load_tile_transpose.hpp>
#include <tilewright/tile/reduce_tile.hpp>
#include <tilewright/tile/shuffle_tile.hpp>
#include <tilewright/tile/slice_tile.hpp>
#include <tilewright/tile/sweep_tile.hpp>
#include <tilewright/tile/tensor_view.hpp>
#include <tilewright/tile/tile_scatter_gather.hpp>
#include <tilewright/tile/update.hpp>
