// SPDX-License-Identifier: MIT
// Kernels on strided tensors: element-wise functions, permutations, reductions. launch_permute.hpp, which chooses among
// permutations and launches one, is included by itself.
#pragma once

#include <tilewright/kernels/tensor/map_tensor.hpp>
#include <tilewright/kernels/tensor/permute.hpp>
#include <tilewright/kernels/tensor/permute_choice.hpp>
#include <tilewright/kernels/tensor/permute_runs.hpp>
#include <tilewright/kernels/tensor/permute_unaligned.hpp>
#include <tilewright/kernels/tensor/reduce_block.hpp>
#include <tilewright/kernels/tensor/reduce_state.hpp>
#include <tilewright/kernels/tensor/reduce_tensor.hpp>
#include <tilewright/kernels/tensor/strided_tensor.hpp>
