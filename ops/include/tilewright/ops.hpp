// SPDX-License-Identifier: MIT
// The front door: one call for each operation, on every device (docs/ops.md).
#pragma once

#include <tilewright/ops/explain.hpp>
#include <tilewright/ops/gemm.hpp>
#include <tilewright/ops/library_options.hpp>
