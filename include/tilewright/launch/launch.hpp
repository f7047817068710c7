// SPDX-License-Identifier: MIT
// launch<kernel>(args, options): one way to start a kernel, on a GPU's stream or on the CPU emulator.
#pragma once

#include <tilewright/core/base/config.hpp>
#include <tilewright/launch/launch_error.hpp>

#if TILEWRIGHT_CPU_PASS
#include <tilewright/launch/launch_on_cpu.hpp>
#else
#include <tilewright/launch/launch_on_gpu.hpp>
#endif
