// SPDX-License-Identifier: MIT
// The machine's functions on AMD GPUs, made of compiler builtins only.
#pragma once

#include <tilewright/exec/amdgcn/async_copy.hpp>
#include <tilewright/exec/amdgcn/atomic.hpp>
#include <tilewright/exec/amdgcn/buffer.hpp>
#include <tilewright/exec/amdgcn/cross_lane.hpp>
#include <tilewright/exec/amdgcn/lds.hpp>
#include <tilewright/exec/amdgcn/matrix.hpp>
#include <tilewright/exec/amdgcn/schedule.hpp>
