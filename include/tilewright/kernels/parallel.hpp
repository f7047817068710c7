// SPDX-License-Identifier: MIT
// Several GPUs: all-gather and reduce-scatter GEMM, exchange of experts' rows, communicators, or emulated ranks.
#pragma once

#include <tilewright/kernels/parallel/expert_exchange.hpp>
#include <tilewright/kernels/parallel/parallel_gemm.hpp>
