// SPDX-License-Identifier: MIT
// GEMM over several GPUs: all-gather and reduce-scatter kernels, their communicators, or emulated ranks on the CPU.
#pragma once

#include <tilewright/kernels/parallel/parallel_gemm.hpp>
