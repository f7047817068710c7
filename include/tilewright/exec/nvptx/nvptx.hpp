// SPDX-License-Identifier: MIT
// The machine's functions on NVIDIA GPUs.
#pragma once

#include <tilewright/exec/nvptx/async_copy.hpp>
#include <tilewright/exec/nvptx/atomic.hpp>
#include <tilewright/exec/nvptx/cross_lane.hpp>
#include <tilewright/exec/nvptx/matrix.hpp>
#include <tilewright/exec/nvptx/memory.hpp>
