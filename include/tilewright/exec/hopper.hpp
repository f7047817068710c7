// SPDX-License-Identifier: MIT
// What Hopper's kernels ask of the machine beside exec.hpp: barriers in LDS, bulk copies, matrix instructions of
// warpgroups. The same functions on the GPU and on the CPU.
#pragma once

#include <tilewright/exec/exec.hpp>

#if TILEWRIGHT_NVPTX_PASS
#include <tilewright/exec/nvptx/bulk_copy.hpp>
#include <tilewright/exec/nvptx/global_counter.hpp>
#include <tilewright/exec/nvptx/wgmma.hpp>
#elif TILEWRIGHT_CPU_PASS
#include <tilewright/exec/host/bulk_copy.hpp>
#include <tilewright/exec/host/global_counter.hpp>
#include <tilewright/exec/host/wgmma.hpp>
#endif
