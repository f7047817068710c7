// SPDX-License-Identifier: MIT
// What kernels are written with: core, tiles, matrix products of a block. Ready kernels are in kernels/*.hpp.
#pragma once

#include <tilewright/block/mma/chained_products.hpp>
#include <tilewright/block/mma/default_block_tile.hpp>
#include <tilewright/block/mma/wgmma_gemm.hpp>
#include <tilewright/block/mma/wgmma_operand.hpp>
#include <tilewright/block/operands/narrow_formats.hpp>
#include <tilewright/block/operands/narrow_tiles.hpp>
#include <tilewright/block/operands/scaled_operand.hpp>
#include <tilewright/block/operands/stage_copies.hpp>
#include <tilewright/block/pipeline/lds_plan.hpp>
#include <tilewright/block/pipeline/mbarrier_pipeline.hpp>
#include <tilewright/block/pipeline/order_barrier.hpp>
#include <tilewright/block/pipeline/warp_roles.hpp>
#include <tilewright/block/rows/row_block.hpp>
#include <tilewright/block/rows/row_cluster.hpp>
#include <tilewright/block/rows/row_mailboxes.hpp>
#include <tilewright/block/rows/row_memory.hpp>
#include <tilewright/block/rows/row_tile.hpp>
#include <tilewright/block/schedule/grid_order.hpp>
#include <tilewright/block/schedule/stream_k_ranges.hpp>
#include <tilewright/block/schedule/stream_k_schedule.hpp>
#include <tilewright/core.hpp>
#include <tilewright/tile/copy/async_load.hpp>
#include <tilewright/tile/copy/cut_vectors.hpp>
#include <tilewright/tile/copy/load_store.hpp>
#include <tilewright/tile/copy/load_tile_transpose.hpp>
#include <tilewright/tile/copy/shuffle_tile.hpp>
#include <tilewright/tile/registers/element_functions.hpp>
#include <tilewright/tile/registers/online_softmax.hpp>
#include <tilewright/tile/registers/reduce_tile.hpp>
#include <tilewright/tile/registers/scan.hpp>
#include <tilewright/tile/window/tensor_view.hpp>
#include <tilewright/tile/window/tile_window.hpp>
