// SPDX-License-Identifier: MIT
// CK Tile's second spellings, and the documented helpers that kernels of this library do not need.
#pragma once

#include <tilewright/compat/ck_tile/distributed_span.hpp>
#include <tilewright/compat/ck_tile/functional.hpp>
#include <tilewright/compat/ck_tile/load_store_traits.hpp>
#include <tilewright/compat/ck_tile/memory_access_analyzer.hpp>
#include <tilewright/compat/ck_tile/pad_tensor_view.hpp>
#include <tilewright/compat/ck_tile/slice_tile.hpp>
#include <tilewright/compat/ck_tile/static_distributed_lds_tensor.hpp>
#include <tilewright/compat/ck_tile/sweep_tile.hpp>
#include <tilewright/compat/ck_tile/tile_index.hpp>
#include <tilewright/compat/ck_tile/update_tile.hpp>
#include <tilewright/compat/ck_tile/xor_preshuffle.hpp>
