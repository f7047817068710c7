// SPDX-License-Identifier: MIT
// The front door: one call for each operation, on every device (docs/ops.md).
#pragma once

#include <tilewright/ops/attention.hpp>
#include <tilewright/ops/cross_entropy.hpp>
#include <tilewright/ops/explain.hpp>
#include <tilewright/ops/gemm.hpp>
#include <tilewright/ops/grouped_gemm.hpp>
#include <tilewright/ops/library_options.hpp>
#include <tilewright/ops/map.hpp>
#include <tilewright/ops/moe.hpp>
#include <tilewright/ops/narrow_gemm.hpp>
#include <tilewright/ops/norm.hpp>
#include <tilewright/ops/parallel.hpp>
#include <tilewright/ops/quantise.hpp>
#include <tilewright/ops/rotary.hpp>
#include <tilewright/ops/routing.hpp>
#include <tilewright/ops/softmax.hpp>
