// SPDX-License-Identifier: MIT
// What a kernel may ask of the machine it runs on. Each machine implements the same functions; nothing above this
// folder knows which one was chosen.
#pragma once

#include <tilewright/config/config.hpp>
#include <tilewright/exec/math.hpp>
#include <tilewright/util/call_site.hpp>
#include <tilewright/util/math.hpp>  // in every pass: nvcc registers plus, max and min, which device code may use

#if TILEWRIGHT_AMDGCN_PASS
#include <tilewright/exec/amdgcn/amdgcn.hpp>
#elif TILEWRIGHT_NVPTX_PASS
#include <tilewright/exec/nvptx/nvptx.hpp>
#elif TILEWRIGHT_STUB_PASS
#include <tilewright/exec/stub/stub.hpp>
#else
#include <tilewright/exec/host/async_copy.hpp>
#include <tilewright/exec/host/atomic.hpp>
#include <tilewright/exec/host/cross_lane.hpp>
#include <tilewright/exec/host/machine.hpp>
#endif

#if !TILEWRIGHT_AMDGCN_PASS
namespace tilewright::exec {
/// The type in which loads and stores move a vector.
template <class V>
using moved_t = V;
}  // namespace tilewright::exec
#endif
